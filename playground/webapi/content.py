"""What a message is made of: the checks and shapes shared by posting, updating, ephemeral messages and response URLs."""

from __future__ import annotations

import json
from typing import Any

from playground.people import Install, Json
from playground.richtext import blocks_of
from playground.validate import MARKDOWN_CHARS, TOTAL_CHARS, check_blocks, with_ids
from playground.webapi.registry import ApiError
from playground.world import World

POST_CHARS, UPDATE_CHARS, ATTACHMENTS, METADATA_CHARS = 40_000, 4_000, 100, 8_000
_CARRIES = ("text", "fallback", "title", "pretext", "author_name", "fields")


def _speaks(attachment: Any) -> bool:
    """Whether an attachment carries a message rather than decoration."""
    return isinstance(attachment, dict) and (any(k in attachment for k in _CARRIES) or bool(attachment.get("blocks")))


def checked_blocks(args: Json) -> list[Json] | None:
    """The `blocks` argument after Slack's checks; None when not given."""
    blocks = args.get("blocks")
    if blocks is None:
        return None
    if not isinstance(blocks, list):
        raise ApiError("invalid_blocks_format")
    problems = check_blocks(blocks)
    if problems.texts:
        raise ApiError("invalid_blocks", problems.texts, errors=problems.texts)
    if problems.chars > TOTAL_CHARS:
        raise ApiError("msg_blocks_too_long")
    return blocks


def checked_metadata(args: Json) -> Json | None:
    """The `metadata` argument: `{event_type, event_payload}`."""
    metadata = args.get("metadata")
    if metadata in (None, ""):
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    if len(json.dumps(metadata)) > METADATA_CHARS:
        raise ApiError("metadata_too_large")
    return {"event_type": metadata["event_type"], "event_payload": metadata["event_payload"]}


def content_of(world: World, args: Json, *, update: bool = False, may_be_empty: bool = False) -> tuple[Json, str]:
    """The content fields of a message (text, blocks, attachments, metadata) from call arguments, and a warning ("" = none).

    Raises `ApiError`: no_text, markdown_text_conflict, msg_too_long, invalid_blocks…
    """
    raw = args.get("text")
    text = "" if raw is None else raw if isinstance(raw, str) else str(raw)
    blocks = checked_blocks(args)
    attachments = args.get("attachments")
    attachments = attachments if isinstance(attachments, list) else []
    if len(attachments) > ATTACHMENTS:
        raise ApiError("too_many_attachments")
    markdown = args.get("markdown_text")
    warning = ""
    if markdown is not None and markdown != "":
        if text or blocks:
            raise ApiError("markdown_text_conflict")
        if len(str(markdown)) > MARKDOWN_CHARS:
            raise ApiError("msg_too_long")
        text = str(markdown)
        content: Json = {"text": text, "blocks": [{"type": "markdown", "block_id": world.ids.short(), "text": text}]}
    else:
        if not text and not blocks and not any(map(_speaks, attachments)) and not may_be_empty:
            raise ApiError("no_text")
        if update and len(text) > UPDATE_CHARS:
            raise ApiError("msg_too_long")
        if len(text) > POST_CHARS:
            text, warning = text[:POST_CHARS], "message_truncated"
        content = {"text": text}
        if blocks:
            content["blocks"] = with_ids(blocks, world.ids.short)
        elif text:
            content["blocks"] = blocks_of(text, world.ids.short())
    if attachments:
        content["attachments"] = [{"id": n, **a} if isinstance(a, dict) else a for n, a in enumerate(attachments, start=1)]
    metadata = checked_metadata(args)
    if metadata is not None:
        content["metadata"] = metadata
    return content, warning


def author_of(world: World, install: Install) -> Json:
    """The fields that say an app wrote a message."""
    return {
        "user": install.bot_user_id,
        "bot_id": install.bot_id,
        "app_id": install.app_id,
        "team": install.team_id,
        "bot_profile": {
            "id": install.bot_id,
            "app_id": install.app_id,
            "user_id": install.bot_user_id,
            "name": world.app.name,
            "icons": {},
            "deleted": False,
            "updated": 1_760_000_000,
            "team_id": install.team_id,
        },
    }


def without_metadata(message: Json) -> Json:
    """A message as shown to who did not ask for metadata."""
    return {k: v for k, v in message.items() if k != "metadata"} if "metadata" in message else message
