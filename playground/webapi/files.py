"""files.*: info, list, and the two-step upload."""

from __future__ import annotations

from playground.filestore import StoredFile
from playground.people import Json
from playground.richtext import blocks_of
from playground.webapi.chat import author_fields, check_thread_ts, writable
from playground.webapi.registry import ApiError, Call, method, page_of


def visible(call: Call, stored: StoredFile) -> bool:
    """Whether the caller may see a file: its own, or shared in a channel it is in."""
    return stored.user_id == call.caller or any(call.caller in call.world.channels[c].members for c in stored.shared_in)


def _file(call: Call) -> StoredFile:
    stored = call.core.files.files.get(call.text("file"))
    if stored is None or not visible(call, stored):
        raise ApiError("file_not_found")
    return stored


@method("files.info", tier=4, scopes=("files:read",), required=("file",))
def info(call: Call) -> Json:
    """One file."""
    return {"file": call.core.files.shape(_file(call), call.core.url), "comments": [], "response_metadata": {"next_cursor": ""}}


@method("files.list", tier=3, scopes=("files:read",))
def list_all(call: Call) -> Json:
    """The files the caller may see, newest first; `channel` and `user` narrow it."""
    channel, user = call.text("channel"), call.text("user")
    found = [
        f for f in reversed(call.core.files.files.values()) if visible(call, f) and (not channel or channel in f.shared_in) and (not user or f.user_id == user)
    ]
    part, _ = page_of(found, call)
    return {"files": [call.core.files.shape(f, call.core.url) for f in part], "paging": {"count": len(part), "total": len(found), "page": 1, "pages": 1}}


@method("files.getUploadURLExternal", tier=4, scopes=("files:write",), required=("filename", "length"))
def upload_url(call: Call) -> Json:
    """Where to send a file's bytes."""
    length = call.number("length", 0, least=0, most=2**31)
    if length == 0:
        raise ApiError("invalid_arguments", ["must be greater than 0 [json-pointer:/length]"])
    stored = call.core.files.new(call.text("filename"), length, call.caller, call.token.team_id)
    return {"upload_url": f"{call.core.url}/files/upload/{call.core.files.ticket(stored)}", "file_id": stored.id}


@method("files.completeUploadExternal", tier=4, scopes=("files:write",), required=("files",))
def complete_upload(call: Call) -> Json:
    """Finish uploads and share them in a channel, if one is named."""
    files = call.args["files"]
    if not isinstance(files, list) or not files:
        raise ApiError("invalid_arguments", ["must be an array [json-pointer:/files]"])
    stored: list[StoredFile] = []
    for entry in files:
        found = call.core.files.files.get(str(entry.get("id", ""))) if isinstance(entry, dict) else None
        if found is None or found.user_id != call.caller or found.content is None:
            raise ApiError("file_not_found")
        found.title = str(entry.get("title") or found.name)
        stored.append(found)
    target = call.text("channel_id") or call.text("channels").split(",")[0]
    if target:
        call.args["channel"] = target
        channel = writable(call)
        for file in stored:
            file.shared_in[channel.id] = None
        comment = call.text("initial_comment")
        message = author_fields(call) | {"text": comment, "files": [call.core.files.shape(f, call.core.url) for f in stored], "upload": True}
        if comment:
            message["blocks"] = blocks_of(comment, call.core.ids.short())
        if thread_ts := check_thread_ts(call):
            message["thread_ts"] = thread_ts
        message["subtype"] = "file_share"
        call.world.post(channel, message)
    return {"files": [call.core.files.shape(f, call.core.url) for f in stored]}
