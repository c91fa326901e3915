"""Typed text to Slack text: what a person writes in the composer, encoded the way Slack stores it.

`encode("@mei see `x` at https://example.com & #orders", directory)` gives
`<@U01MEI0000> see `x` at <https://example.com> &amp; <#C01ORDERS0|orders>`. Code spans and fences keep their content literally, apart from the
three escapes, so a name inside code is not a mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_TOKENS = re.compile(
    r"(?P<url>https?://[^\s<>\"'，。、；：！？（）「」]+)"
    r"|(?P<entity><(?:@[UW][A-Z0-9]+(?:\|[^<>]*)?|\#C[A-Z0-9]+(?:\|[^<>]*)?|!(?:here|channel|everyone)|!subteam\^S[A-Z0-9]+(?:\|[^<>]*)?)>)"
    r"|(?<![A-Za-z0-9_@.])@(?P<user>[A-Za-z0-9][A-Za-z0-9._-]*)"
    r"|(?<![A-Za-z0-9_#&/])\#(?P<channel>[^\W_A-Z][^\WA-Z]*(?:-[^\WA-Z]+)*)"
)
_TRAILING = ".,;:!?)]}"
_BROADCASTS = {"here", "channel", "everyone"}

Resolve = Callable[[str], str | None]


def escape(text: str) -> str:
    """The three escapes Slack uses in text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """The reverse of `escape`."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _plain(text: str, user: Resolve, channel: Resolve, *, entities: bool) -> str:
    """Encode text outside code: escapes, mentions, channels and links."""
    out: list[str] = []
    at = 0
    for match in _TOKENS.finditer(text):
        encoded, end = _token(match, user, channel, entities=entities)
        if encoded is not None:
            out += (escape(text[at : match.start()]), encoded)
            at = end
    out.append(escape(text[at:]))
    return "".join(out)


def _token(match: re.Match[str], user: Resolve, channel: Resolve, *, entities: bool) -> tuple[str | None, int]:
    """One token's encoding and where it ends, or None to keep it as plain text."""
    if url := match["url"]:
        bare = url.rstrip(_TRAILING)
        return f"<{escape(bare)}>", match.start() + len(bare)
    if entity := match["entity"]:
        return (entity, match.end()) if entities else (None, 0)
    if name := match["user"]:
        for tail in ("", *_TRAILING[:1]):
            bare = name.removesuffix(tail) if tail else name
            if bare in _BROADCASTS:
                return f"<!{bare}>", match.start() + 1 + len(bare)
            if user_id := user(bare):
                return f"<@{user_id}>", match.start() + 1 + len(bare)
        return None, 0
    whole = match["channel"] or ""
    # A name may be followed at once by Chinese, which has no spaces: then its ASCII part counts.
    for name in dict.fromkeys((whole, whole.encode("ascii", "ignore").decode())):
        channel_id = channel(name) if name and whole.startswith(name) else None
        if channel_id:
            return f"<#{channel_id}|{name}>", match.start() + 1 + len(name)
    return None, 0


def encode(typed: str, user: Resolve, channel: Resolve, *, entities: bool = False) -> str:
    """Slack's text for what a person typed. `user`, `channel` turn a name into an id or None.

    With `entities`, ready-made `<@U1>`, `<#C1>`, `<!here>` are kept as mentions, which a composer would not do but scripts find handy.
    """
    if not any(c in typed for c in "`@#:&<>"):
        return typed
    parts = _CODE.split(typed)
    return "".join(escape(part) if i % 2 else _plain(part, user, channel, entities=entities) for i, part in enumerate(parts))
