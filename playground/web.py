"""The page's files, private downloads, uploads, the installation shortcut, and who may ask for what.

The page and its API answer only requests that name the playground by a loopback host and come from its own origin, so that no web page
elsewhere can drive it, not even by DNS tricks. The Web API has tokens for that.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from playground.core import Core
from playground.filestore import MAX_BYTES, StoredFile
from playground.people import Json

STATIC = Path(__file__).parent / "static"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
CSP = "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'"
PAGE_HEADERS = {"Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
LOGIN_PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to see this file.</body></html>"
_INLINE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_local(request: web.Request) -> bool:
    """Whether the request names a loopback host and, if it says where it comes from, comes from this very origin."""
    try:
        host = urlsplit(f"http://{request.headers.get('Host', '')}").hostname
    except ValueError:
        return False
    if host not in LOOPBACK:
        return False
    origin = request.headers.get("Origin")
    return origin is None or origin == f"http://{request.headers['Host']}"


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse foreign hosts and origins for everything but the Web API's own addresses."""
    path = request.path
    if (path == "/" or path.startswith(("/_/", "/static/"))) and not is_local(request):
        return web.json_response({"ok": False, "error": "forbidden_origin"}, status=403)
    return await handler(request)


class Site:
    """The page, files and installation."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def routes(self) -> list[web.RouteDef]:
        """Every route."""
        return [
            web.get("/", self._index),
            web.get("/static/{path:.+}", self._static),
            web.get("/files/{id}/{name}", self._download),
            web.post("/files/upload/{ticket}", self._receive),
            web.get("/oauth/v2/authorize", self._authorize),
        ]

    async def _index(self, _request: web.Request) -> web.StreamResponse:
        return self._page(STATIC / "index.html")

    async def _static(self, request: web.Request) -> web.StreamResponse:
        path = (STATIC / request.match_info["path"]).resolve()
        return self._page(path) if path.is_relative_to(STATIC.resolve()) else web.Response(status=404)

    @staticmethod
    def _page(path: Path) -> web.StreamResponse:
        return web.FileResponse(path, headers=PAGE_HEADERS) if path.is_file() else web.Response(status=404, text="not found")

    # -- files ------------------------------------------------------------------------------------------------------------------------

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        """The bytes of an upload announced by files.getUploadURLExternal."""
        file_id = self._core.files.tickets.pop(request.match_info["ticket"], None)
        if file_id is None:
            return web.Response(status=404, text="unknown upload")
        stored = self._core.files.files[file_id]
        if request.content_type == "multipart/form-data":
            parts = [v for v in (await request.post()).values() if isinstance(v, web.FileField)]
            content = parts[0].file.read() if parts else b""
        else:
            content = await request.read()
        if len(content) > MAX_BYTES:
            return web.Response(status=413)
        stored.content, stored.size = content, len(content)
        return web.Response(text=f"OK - {len(content)}")

    def _may_read(self, request: web.Request, stored: StoredFile) -> bool:
        """A bearer token with files:read whose user may see the file, or the page on behalf of such a user."""
        header = request.headers.get("Authorization", "")
        if header:
            token = self._core.world.tokens.get(header[7:])
            if token is None or token.revoked or "files:read" not in token.scopes:
                return False
            reader = token.user_id
        else:
            own = f"http://{request.headers.get('Host', '')}"
            from_page = request.headers.get("Sec-Fetch-Site") == "same-origin" or request.headers.get("Referer", "").startswith(f"{own}/")
            if not from_page or not is_local(request):
                return False
            reader = request.query.get("as", "")
        return stored.user_id == reader or any(reader in self._core.world.channels[c].members for c in stored.shared_in)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """A file's bytes; without permission an HTML sign-in page with status 200, as Slack answers."""
        stored = self._core.files.files.get(request.match_info["id"])
        if stored is None or stored.content is None:
            return web.Response(status=404, text="not found")
        if not self._may_read(request, stored):
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        shown = "inline" if stored.mimetype in _INLINE_TYPES else "attachment"
        name = stored.name.replace('"', "")
        headers = {
            "Content-Type": stored.mimetype,
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Content-Disposition": f'{shown}; filename="{name.encode("ascii", "replace").decode()}"',
        }
        return web.Response(body=stored.content, headers=headers)

    # -- installation -----------------------------------------------------------------------------------------------------------------

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        """Slack's consent page, agreed at once: redirects back with a code for oauth.v2.access. `team` chooses the workspace."""
        query = request.query
        if query.get("client_id") != self._core.world.app.client_id:
            return web.Response(status=400, text="invalid_client_id")
        target = query.get("redirect_uri", "")
        if urlsplit(target).scheme not in ("http", "https"):
            return web.Response(status=400, text="bad_redirect_uri")
        team = query.get("team") or next(iter(self._core.world.installs))
        code = secrets.token_hex(16)
        self._core.oauth_codes[code] = team
        params: Json = {"code": code, "state": query.get("state", "")}
        raise web.HTTPFound(f"{target}{'&' if '?' in target else '?'}{urlencode(params)}")
