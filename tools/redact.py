"""What must not be read by a model or a person although a tool's author wrote it into a message: secrets, and where things stand inside.

The patterns of secrets are the ones the log masks; beyond them, a message loses connection strings, addresses of the
inside network and paths of this machine, because upstream libraries put those into their errors and authors pass them on.
"""

from __future__ import annotations

import re
from typing import Final

TOKENS: Final = re.compile(
    r"""
      \b xox[a-z](?:\.xox[a-z])? - [A-Za-z0-9-]+      # Slack: bot, user, refresh and rotated tokens
    | \b xapp - [A-Za-z0-9-]+                         # Slack: app-level tokens
    | \b sk - [A-Za-z0-9_-]{8,}                       # model keys
    | (?<= :// ) [^\s/:@]* : [^\s/@]+ (?= @ )         # user:password in an address
    """,
    re.VERBOSE,
)
BEARER: Final = re.compile(r"\b(bearer)\s+[A-Za-z0-9._~+/=-]+", re.IGNORECASE)
_CONNECTION: Final = re.compile(r"\b(?!https?:|mailto:)[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>]+", re.IGNORECASE)
_INSIDE: Final = re.compile(
    r"\b(?:10(?:\.\d{1,3}){3}|127(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2}|169\.254(?:\.\d{1,3}){2})(?::\d{1,5})?\b"
)
_PATH: Final = re.compile(
    r"(?<![\w./:-])/(?:app|bin|data|etc|home|lib|mnt|opt|private|proc|root|run|srv|tmp|usr|var|Users|Volumes)/[^\s'\":,;()<>]+|\b[A-Za-z]:\\\\?[^\s'\"<>]+"
)
HIDDEN: Final = "[hidden]"


def hide(text: str) -> str:
    """`text` with secrets, connection strings, inside addresses and paths of this machine replaced by `[hidden]`."""
    for pattern in (_CONNECTION, TOKENS, _INSIDE, _PATH):
        text = pattern.sub(HIDDEN, text)
    return BEARER.sub(rf"\1 {HIDDEN}", text)
