"""One connection to addresses that were judged, and to no other: what makes the judgement hold on the wire.

aiohttp asks its resolver only for names; a host that is an address goes straight to the socket. So a resolver alone guards
nothing. Here the socket itself is made by us: at the last moment before it connects, its destination is compared with the
judged addresses, whichever way it came there; and once connected, before a byte of the request is sent, so is its peer.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from tools.net.address import IPAddress, parse
from tools.net.errors import Blocked

_HEADER_LINE: Final = 8190
"""Bytes of one header; aiohttp refuses an answer with a longer one, or with more than 128 of them."""


class Pinned:
    """The means for one connection. `session()` may reach `addresses` at `port`; `violated` says whether it tried anything else."""

    def __init__(self, host: str, addresses: Iterable[IPAddress], port: int, *, connect_timeout: float, context: ssl.SSLContext | None = None) -> None:
        self.violated = False
        self._host = host
        self._port = port
        self._allowed = tuple(dict.fromkeys(addresses))
        self._connect_timeout = connect_timeout
        self._context = context
        self._sockets: list[socket.socket] = []

    def session(self) -> aiohttp.ClientSession:
        """A client without cookies, proxies, redirects of its own or a pool; close it after the one request."""
        connector = aiohttp.TCPConnector(
            resolver=_Known(self._host, self._allowed),
            use_dns_cache=False,
            force_close=True,
            limit=1,
            socket_factory=self.make_socket,
            ssl=self._context if self._context is not None else True,
        )
        trace = aiohttp.TraceConfig()
        trace.on_connection_create_end.append(self._connected)
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            max_line_size=_HEADER_LINE,
            max_field_size=_HEADER_LINE,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout),
            trace_configs=[trace],
        )

    def make_socket(self, info: Any) -> socket.socket:
        """The socket for one of getaddrinfo's tuples. Raises `OSError`, which aiohttp passes on, when it leads elsewhere."""
        family, kind, protocol, _, destination = info
        if not self._is_allowed(destination):
            self.violated = True
            raise OSError("the destination of the connection was not judged")
        made = socket.socket(family=family, type=kind, proto=protocol)
        self._sockets.append(made)
        return made

    async def _connected(self, _session: aiohttp.ClientSession, _context: SimpleNamespace, _params: Any) -> None:
        peers = [peer for each in self._sockets if (peer := _peer(each)) is not None]
        if not peers or not all(map(self._is_allowed, peers)):
            self.violated = True
            for each in self._sockets:
                with contextlib.suppress(OSError):  # it may be closed already
                    each.shutdown(socket.SHUT_RDWR)  # whoever holds it sees its end and closes it
            raise Blocked("peer", "The connection did not end where it should, so nothing was sent.")

    def _is_allowed(self, destination: Any) -> bool:
        address = parse(str(destination[0]))
        return address is not None and address in self._allowed and destination[1] == self._port


class _Known(AbstractResolver):
    """Answers with what is known already, for the one host."""

    def __init__(self, host: str, addresses: Iterable[IPAddress]) -> None:
        self._host = host
        self._addresses = tuple(addresses)

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> list[ResolveResult]:  # noqa: ARG002 - aiohttp's interface
        if host != self._host:
            raise OSError("a host was asked for that was not judged")
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if address.version == 6 else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _peer(each: socket.socket) -> Any:
    """Whom a socket is connected to; None while it is not (the losers of a race between addresses are closed)."""
    try:
        return each.getpeername()
    except OSError:
        return None
