"""Files: their metadata in Slack's shape, their bytes, and who may download them."""

from __future__ import annotations

import mimetypes
import secrets
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import quote

from playground.clock import Clock, Ids
from playground.people import Json

MAX_BYTES = 50 * 1024 * 1024
_TEXT_TYPES = {"txt": "text", "py": "python", "md": "markdown", "js": "javascript", "csv": "csv", "json": "json", "log": "text"}


@dataclass(slots=True)
class StoredFile:
    """One file. `shared_in` are the channels it was posted to; `content` is None until it was uploaded."""

    id: str
    name: str
    size: int
    user_id: str
    team_id: str
    created: int
    title: str = ""
    content: bytes | None = None
    mimetype: str = ""
    shared_in: dict[str, None] = field(default_factory=dict)


class FileStore:
    """All files, and the tickets of uploads under way."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self.files: dict[str, StoredFile] = {}
        self.tickets: dict[str, str] = {}

    def new(self, name: str, size: int, user_id: str, team_id: str, content: bytes | None = None) -> StoredFile:
        """Register a file; `size` in bytes. The name is reduced to its last part."""
        name = PurePath(name.replace("\\", "/")).name or "file"
        mimetype = mimetypes.guess_type(name)[0] or ("text/plain" if name.rpartition(".")[2] in _TEXT_TYPES else "application/octet-stream")
        stored = StoredFile(self._ids.make("F0"), name, size, user_id, team_id, int(self._clock.now()), name, content, mimetype)
        self.files[stored.id] = stored
        return stored

    def ticket(self, stored: StoredFile) -> str:
        """A secret path part that accepts this file's bytes once."""
        ticket = secrets.token_urlsafe(18)
        self.tickets[ticket] = stored.id
        return ticket

    def shape(self, stored: StoredFile, base_url: str) -> Json:
        """Slack's file object."""
        ending = stored.name.rpartition(".")[2].lower() if "." in stored.name else ""
        filetype = _TEXT_TYPES.get(ending, ending or "binary")
        url = f"{base_url}/files/{stored.id}/{quote(stored.name)}"
        return {
            "id": stored.id,
            "created": stored.created,
            "timestamp": stored.created,
            "name": stored.name,
            "title": stored.title or stored.name,
            "mimetype": stored.mimetype,
            "filetype": filetype,
            "pretty_type": filetype.upper(),
            "user": stored.user_id,
            "user_team": stored.team_id,
            "editable": False,
            "size": stored.size,
            "mode": "hosted",
            "is_external": False,
            "external_type": "",
            "is_public": bool(stored.shared_in),
            "public_url_shared": False,
            "display_as_bot": False,
            "username": "",
            "file_access": "visible",
            "url_private": url,
            "url_private_download": url,
            "permalink": url,
            "channels": [c for c in stored.shared_in if c.startswith("C")],
            "groups": [],
            "ims": [c for c in stored.shared_in if c.startswith("D")],
            "comments_count": 0,
        }
