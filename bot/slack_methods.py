"""The methods of Slack's Web API that this program calls, with the scope each needs: the manifest is held against this list."""

from __future__ import annotations

from typing import Final

METHODS_USED: Final[dict[str, str]] = {
    "auth.test": "",
    "chat.postMessage": "chat:write",
    "chat.update": "chat:write",
    "chat.delete": "chat:write",
    "chat.postEphemeral": "chat:write",
    "chat.getPermalink": "",
    "assistant.threads.setStatus": "chat:write",
    "agents.sessions.setStatus": "chat:write",
    "conversations.replies": "channels:history",
    "conversations.history": "channels:history",
    "conversations.info": "channels:read",
    "conversations.list": "channels:read",
    "conversations.members": "channels:read",
    "conversations.open": "im:write",
    "files.completeUploadExternal": "files:write",
    "files.getUploadURLExternal": "files:write",
    "users.conversations": "channels:read",
    "users.info": "users:read",
    "usergroups.users.list": "usergroups:read",
    "views.open": "",
    "views.publish": "",
    "views.update": "",
}
"""Every method this program calls and the bot scope it needs; the manifest is held against it.

History and read scopes for the other kinds of rooms follow the same pattern.
"""
