"""assistant.threads.* and agents.sessions.*: statuses, titles, suggested prompts, sessions."""

from __future__ import annotations

from playground.people import Json
from playground.webapi.chat import check_thread_ts
from playground.webapi.registry import ApiError, Call, method
from playground.webapi.streams import SESSION_STATUSES

PROMPTS, LOADING_MESSAGES, TITLE_CHARS = 4, 10, 200
AGENT_SCOPES = ("chat:write", "assistant:write")


@method("assistant.threads.setStatus", tier=0, scopes=AGENT_SCOPES, tokens=("bot",), required=("channel_id", "thread_ts", "status"))
def set_status(call: Call) -> Json:
    """Show what the app is doing; an empty status clears."""
    channel = call.channel("channel_id")
    thread_ts = check_thread_ts(call)
    if thread_ts not in channel.messages:
        raise ApiError("invalid_thread_ts")
    loading = call.args.get("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > LOADING_MESSAGES:
        raise ApiError("invalid_arguments", [f"no more than {LOADING_MESSAGES} items allowed [json-pointer:/loading_messages]"])
    call.core.sessions.set_status(channel, thread_ts, call.text("status"), [str(m) for m in loading])
    return {}


@method("assistant.threads.setTitle", tier=4, scopes=("assistant:write",), tokens=("bot",), required=("channel_id", "thread_ts", "title"))
def set_title(call: Call) -> Json:
    """Name a thread with the app."""
    channel = call.channel("channel_id")
    thread_ts = check_thread_ts(call)
    if thread_ts not in channel.messages:
        raise ApiError("invalid_thread_ts")
    call.core.sessions.set_session(channel, thread_ts, title=call.text("title"))
    return {}


@method("assistant.threads.setSuggestedPrompts", tier=4, scopes=("assistant:write",), tokens=("bot",), required=("channel_id", "prompts"))
def set_suggested_prompts(call: Call) -> Json:
    """Offer up to four prompts, in a thread or at the top of the Messages tab."""
    channel = call.channel("channel_id")
    prompts = call.args["prompts"]
    if not isinstance(prompts, list) or not prompts or len(prompts) > PROMPTS:
        raise ApiError("invalid_arguments", [f"between 1 and {PROMPTS} items allowed [json-pointer:/prompts]"])
    for n, prompt in enumerate(prompts):
        if not isinstance(prompt, dict) or not prompt.get("title") or not prompt.get("message"):
            raise ApiError("invalid_arguments", [f"missing required field: title, message [json-pointer:/prompts/{n}]"])
    thread_ts = check_thread_ts(call)
    if thread_ts and thread_ts not in channel.messages:
        raise ApiError("invalid_thread_ts")
    call.core.sessions.set_prompts(channel, thread_ts, call.text("title"), prompts)
    return {}


def _agent(call: Call) -> None:
    if not call.world.app.agent:
        raise ApiError("app_not_agent")


@method("agents.sessions.setStatus", tier=3, scopes=("chat:write",), tokens=("bot",), required=("channel_id", "status"))
def session_set_status(call: Call) -> Json:
    """Set a session's status; `processing` shows the stop button to apps that subscribe to its event."""
    _agent(call)
    channel = call.channel("channel_id")
    status, title = call.text("status"), call.args.get("title")
    if status not in SESSION_STATUSES:
        raise ApiError("invalid_arguments", ["status must be one of: active, closed, processing, suspended"])
    if title is not None and len(str(title)) > TITLE_CHARS:
        raise ApiError("invalid_arguments", [f"must be less than {TITLE_CHARS + 1} characters [json-pointer:/title]"])
    session = call.core.sessions.set_session(
        channel, check_thread_ts(call), status=status, title=None if title is None else str(title), initiator=call.text("initiator_user_id")
    )
    body: Json = {"agent_status": session.status, "status": session.status, "title": session.title}
    if status == "processing" and not call.core.events.subscribed("agent_session_stopped"):
        body["warning"] = "missing_agent_session_stopped_event_subscription"
    return body


@method("agents.sessions.rename", tier=3, scopes=("chat:write",), tokens=("bot",), required=("channel_id", "title"))
def session_rename(call: Call) -> Json:
    """Rename a session."""
    _agent(call)
    title = call.text("title")
    if not 1 <= len(title) <= TITLE_CHARS:
        raise ApiError("invalid_arguments", [f"must be between 1 and {TITLE_CHARS} characters [json-pointer:/title]"])
    session = call.core.sessions.set_session(call.channel("channel_id"), check_thread_ts(call), title=title)
    return {"agent_status": session.status, "status": session.status, "title": session.title}
