"""Serves `/api/<method>`: merges arguments, checks the token, scope and rate, runs the handler, logs the call.

The SDK sends arguments as a JSON body, a form, or a query with either verb; all three are merged. Nested values that arrive as JSON text are
decoded. Every answer is HTTP 200 with `ok`, except 429 and ordered faults.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from playground.core import Core
from playground.faults import Fault
from playground.jsontext import parse
from playground.people import Json, Token
from playground.webapi.registry import METHODS, ApiError, Call, Method, missing_scope

NESTED = frozenset({"blocks", "attachments", "files", "metadata", "view", "chunks", "prompts", "loading_messages", "unfurls", "channel_ids"})
PUBLIC = frozenset({"api.test", "oauth.v2.access"})
NOBODY = Token("", "none", "", "", "", frozenset())


def dumps(body: Json) -> str:
    """Compact JSON."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


class WebApi:
    """The dispatcher."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call."""
        name = request.match_info["method"]
        try:
            args = await self._arguments(request)
        except ApiError as error:
            return self._answer(name, {}, NOBODY, error.body)
        token = self._token(request, args)
        fault = self._core.faults.take(name)
        if fault is not None:
            early = await self._fault(fault, request, name, args, token)
            if early is not None:
                return early
        waited = self._limited(name, args, token)
        if waited:
            return self._answer(name, args, token, {"ok": False, "error": "ratelimited"}, status=429, retry_after=waited)
        response = self._answer(name, args, token, self._run(name, args, token))
        if fault is not None and fault.kind == "drop_after":
            self._cut(request)
        return response

    # -- arguments and tokens ---------------------------------------------------------------------------------------------------------

    async def _arguments(self, request: web.Request) -> Json:
        args: Json = dict(request.query) if request.query_string else {}
        kind = request.content_type
        if request.can_read_body:
            if kind == "application/json":
                raw = await request.read()
                try:
                    body = parse(raw) if raw else {}
                except ValueError:
                    raise ApiError("invalid_json") from None
                if not isinstance(body, dict):
                    raise ApiError("json_not_object")
                args.update(body)
            elif kind == "application/x-www-form-urlencoded":
                args.update(parse_qsl((await request.read()).decode("utf-8", "replace"), keep_blank_values=True))
            elif kind == "multipart/form-data":
                for key, value in (await request.post()).items():
                    args[key] = value.file.read() if isinstance(value, web.FileField) else value
        for key in NESTED & args.keys():
            value = args[key]
            if isinstance(value, str) and value[:1] in ("[", "{"):
                try:
                    args[key] = json.loads(value)
                except ValueError:
                    continue
        return args

    def _token(self, request: web.Request, args: Json) -> Token | None:
        """The token of a request; `NOBODY` when none was sent, None when unknown."""
        header = request.headers.get("Authorization", "")
        value = header[7:] if header[:7].lower() == "bearer " else str(args.get("token", ""))
        args.pop("token", None)
        if header[:6].lower() == "basic ":
            try:
                client_id, _, secret = b64decode(header[6:]).decode().partition(":")
            except (Base64Error, UnicodeDecodeError):
                return None
            args.setdefault("client_id", client_id)
            args.setdefault("client_secret", secret)
        return self._core.world.tokens.get(value) if value else NOBODY

    # -- faults and limits ------------------------------------------------------------------------------------------------------------

    async def _fault(self, fault: Fault, request: web.Request, name: str, args: Json, token: Token | None) -> web.StreamResponse | None:
        """Carry out a fault; None when the call goes on."""
        if fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
            return None
        if fault.kind == "drop_after":
            return None
        if fault.kind == "error":
            return self._answer(name, args, token, {"ok": False, "error": fault.error})
        if fault.kind == "ratelimit":
            return self._answer(name, args, token, {"ok": False, "error": "ratelimited"}, status=429, retry_after=fault.retry_after)
        if fault.kind == "status":
            self._log(name, args, token, {"ok": False, "error": f"http_{fault.status}"}, fault.status)
            return web.Response(status=fault.status, text="fault")
        self._log(name, args, token, {"ok": False, "error": "dropped"}, 0)
        self._cut(request)
        return web.Response(status=500)

    @staticmethod
    def _cut(request: web.Request) -> None:
        """Close the line without an answer."""
        if request.transport is not None:
            request.transport.abort()

    def _limited(self, name: str, args: Json, token: Token | None) -> int:
        limits = self._core.limits
        found = METHODS.get(name)
        if not limits.enforce or token is None or found is None:
            return 0
        return limits.check(name, found.tier, token.team_id, str(args.get("channel", "")))

    # -- running ----------------------------------------------------------------------------------------------------------------------

    def _run(self, name: str, args: Json, token: Token | None) -> Json:
        """The answer's body."""
        found = METHODS.get(name)
        if found is None:
            return {"ok": False, "error": "unknown_method", "req_method": name}
        try:
            call = Call(self._core, args, self._allowed(found, token))
            call.require(found.required)
            return {"ok": True, **found.handler(call)}
        except ApiError as error:
            return error.body

    def _allowed(self, found: Method, token: Token | None) -> Token:
        """The token, when it may call this method."""
        if found.name in PUBLIC:
            return token or NOBODY
        if token is None:
            raise ApiError("invalid_auth")
        if token is NOBODY:
            raise ApiError("not_authed")
        if token.revoked:
            raise ApiError("token_revoked")
        if token.kind not in found.tokens:
            raise ApiError("not_allowed_token_type")
        if found.scopes and not any(s in token.scopes for s in found.scopes):
            raise missing_scope(found.scopes, token)
        return token

    # -- answering --------------------------------------------------------------------------------------------------------------------

    def _answer(self, name: str, args: Json, token: Token | None, body: Json, *, status: int = 200, retry_after: int = 0) -> web.Response:
        headers = {"x-slack-req-id": str(self._core.call_count)}
        if token is not None and token is not NOBODY:
            headers["x-oauth-scopes"] = token.scope_header
        if found := METHODS.get(name):
            headers["x-accepted-oauth-scopes"] = ",".join(found.scopes)
        if retry_after:
            headers["Retry-After"] = str(retry_after)
        self._log(name, args, token, body, status)
        return web.Response(text=dumps(body), status=status, headers=headers, content_type="application/json", charset="utf-8")

    def _log(self, name: str, args: Json, token: Token | None, body: Json, status: int) -> None:
        core = self._core
        core.call_count += 1
        entry: dict[str, Any] = {
            "n": core.call_count,
            "at": core.clock.now(),
            "method": name,
            "args": args,
            "ok": body["ok"],
            "error": body.get("error"),
            "status": status,
            "token_kind": token.kind if token else "unknown",
        }
        if "ts" in body or "message_ts" in body:
            entry["ts"] = body.get("ts") or body["message_ts"]
        core.calls.append(entry)
        core.feed.touch()
