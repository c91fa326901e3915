"""The forms in which Slack speaks, as far as we read them: a signed request of another form is refused before anything looks into it.

A shape is a type, a list of one shape, or a mapping from names to shapes. A name may be absent or null, unknown names are
ignored (Slack adds some every year), and a field of a wrong type is a wrong request: guessing what it means would be worse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

Shape = type | list[Any] | dict[str, Any]

_BOT: Final[Shape] = {"name": str}
_FILE: Final[Shape] = {"id": str, "name": str, "title": str, "mimetype": str, "size": int}
_MESSAGE: Final[dict[str, Any]] = {
    **dict.fromkeys(("type", "subtype", "channel", "channel_type", "ts", "thread_ts", "event_ts", "user", "text", "bot_id"), str),
    **dict.fromkeys(("team", "user_team", "source_team", "username", "deleted_ts"), str),
    "blocks": [dict],
    "attachments": [dict],
    "files": [_FILE],
    "bot_profile": _BOT,
    "edited": {"ts": str},
}
_EVENT: Final[Shape] = {**_MESSAGE, "message": _MESSAGE, "previous_message": _MESSAGE}
_OTHER_EVENT: Final[Shape] = {"type": str}
_INTERACTIVE: Final[Shape] = {
    "type": str,
    "user": {"id": str, "team_id": str},
    "team": {"id": str},
    "channel": {"id": str},
    "container": {"message_ts": str, "channel_id": str, "thread_ts": str},
    "message": {"ts": str, "thread_ts": str},
    "actions": [{"action_id": str, "value": str, "action_ts": str, "block_id": str, "selected_option": {"value": str}}],
    "trigger_id": str,
    "response_url": str,
    "callback_id": str,
    "message_ts": str,
    "view": {"id": str, "callback_id": str, "private_metadata": str, "state": {"values": dict}},
}
_OURS: Final = frozenset({"app_mention", "message", "agent_session_stopped", "app_home_opened"})


def fits(value: Any, shape: Shape) -> bool:
    """Whether a JSON value has a shape."""
    if isinstance(shape, dict):
        return isinstance(value, Mapping) and all(value.get(name) is None or fits(value[name], inner) for name, inner in shape.items())
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    return isinstance(value, shape) and not (shape is int and isinstance(value, bool))


def readable(content_type: str, body: bytes) -> str | None:
    """The body as text if it is one of the forms Slack sends, else None."""
    try:
        text = body.decode()
        if content_type == "application/x-www-form-urlencoded":
            fields = parse_qs(text, keep_blank_values=True, max_num_fields=100)
            if "payload" in fields:
                return text if _interactive(json.loads(fields["payload"][0])) else None
            return text if "command" in fields or "ssl_check" in fields else None
        return text if _envelope(json.loads(text)) else None
    except (ValueError, RecursionError):
        return None


def _envelope(value: Any) -> bool:
    if not fits(value, {"type": str}) or value.get("type") is None:
        return False
    if value["type"] == "url_verification":
        return isinstance(value.get("challenge"), str)
    if value["type"] != "event_callback":
        return True
    event = value.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        return False
    return fits(event, _EVENT if event["type"] in _OURS else _OTHER_EVENT)


def _interactive(value: Any) -> bool:
    if not fits(value, _INTERACTIVE) or value.get("type") is None or value.get("user") is None:
        return False
    kind = value["type"]
    if kind == "block_actions":
        return bool(value.get("actions"))
    if kind == "message_action":
        return all(value.get(name) is not None for name in ("callback_id", "channel", "message", "trigger_id"))
    return value.get("view") is not None if kind in {"view_submission", "view_closed"} else True
