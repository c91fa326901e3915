"""Slack's encoded text as the person meant it. Pure.

In everything Slack sends, `&`, `<` and `>` are escaped, and what a person picked from a menu (a name, a channel, a link) stands in angle
brackets. One function undoes both, exactly once, so that nobody downstream has to know that encoding.
"""

from __future__ import annotations

import html
import re
from typing import Final

_ENTITY: Final = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def plain(text: str, user_id: str = "") -> str:
    """Slack's encoded text made readable: the mention of `user_id` (ourselves) removed, links and channels readable, entities unescaped.

    Mentions of other people stay as `<@U…>`: they are identities, and a display name may be anyone's.
    """

    def readable(match: re.Match[str]) -> str:
        sigil, body, label = match.group(1), match.group(2), match.group(3)
        if sigil == "@":
            return "" if body == user_id else f"<@{body}>"
        if sigil == "#":
            return f"#{label}" if label else f"<#{body}>"
        if sigil == "!":
            return label or f"@{body.split('^')[0]}"
        if not body or (sigil == "" and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", body)):
            return match.group(0)
        return body if not label or body in {label, f"http://{label}"} else f"{label} ({body})"

    return html.unescape(_ENTITY.sub(readable, text)).strip()
