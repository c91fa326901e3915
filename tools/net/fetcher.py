"""`Fetcher`: the one door through which tools go to the network, so that none of them can be led inside.

A fetch reads the URL, looks its name up, judges every address, connects only to those, and treats each redirect as a new
fetch. It carries no cookies and no proxy settings, and its time, redirects, header sizes and unpacked bytes are all bounded.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

import aiohttp
import structlog

from tools.net.address import IPAddress, IPNetwork, parse, plain, why_blocked
from tools.net.errors import (
    BadStatus,
    BadUrl,
    Blocked,
    FetchError,
    NameNotFound,
    NotReadable,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
    Untrusted,
)
from tools.net.names import MAX_ADDRESSES, Resolver, ask_system
from tools.net.outside import Outside
from tools.net.pinned import Pinned
from tools.net.target import Target, follow, read
from tools.net.unpack import ACCEPTED, Unpacker
from tools.net.words import kind, seconds_to_wait, size

USER_AGENT: Final = "Steward (assistant; reads a page when a person asks)"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the gate lets through. The defaults are for a bot that strangers may talk into fetching."""

    ports: frozenset[int] = frozenset({80, 443})
    max_redirects: int = 5
    blocked: tuple[IPNetwork, ...] = ()
    """Networks refused besides the built-in ones, e.g. a NAT64 prefix or public addresses of one's own."""
    allow: Callable[[IPAddress, int], bool] | None = None
    """Given an address and a port, whether they may be reached although the rules above refuse them. Only code can set it."""

    def refusal(self, address: IPAddress, port: int) -> str | None:
        """In a word or two, why `address` at `port` must not be opened; None when it may be."""
        if self.allow is not None and self.allow(address, port):
            return None
        reason = why_blocked(address)
        if reason is None and any(address in network for network in self.blocked):
            reason = "blocked network"
        return reason or (None if port in self.ports else "port")


@dataclass(frozen=True, slots=True)
class Page:
    """What a site answered."""

    url: str
    """The address in the end, after redirects."""
    status: int
    content_type: str
    """In lower case, without parameters; empty when the site does not say."""
    charset: str
    """As the site says; empty when it does not."""
    body: bytes
    """Unpacked."""
    truncated: bool = False
    """`body` is only the beginning."""
    redirects: int = 0


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the caller of a fetch wants, the same for every hop of it."""

    accept: Sequence[str]
    max_bytes: int
    timeout: float
    cut: bool
    headers: Mapping[str, str] = field(default_factory=dict)


class Fetcher:
    """Fetches public pages. One may be shared by everything in a process; it holds no connections."""

    def __init__(self, policy: Policy | None = None, *, resolver: Resolver = ask_system, context: ssl.SSLContext | None = None) -> None:
        """`context` replaces the system's certificate authorities."""
        self._policy = policy or Policy()
        self._resolver = resolver
        self._context = context
        self._outside = Outside()

    async def fetch(
        self,
        url: str,
        *,
        accept: Sequence[str] = ("*/*",),
        max_bytes: int = 2_000_000,
        timeout: float = 12.0,
        headers: Mapping[str, str] | None = None,
        cut: bool = False,
    ) -> Page:
        """GET `url`.

        Args:
            url: as written by anyone.
            accept: content types taken, with `*` as in file names (`text/*`, `application/*+json`); an answer that names none is taken too.
            max_bytes: of the unpacked answer.
            timeout: seconds for everything together: names, redirects, the last byte.
            headers: sent besides our own, as long as redirects stay on the same site.
            cut: give the beginning of a longer answer, instead of raising `TooLarge`.

        Raises:
            FetchError: one of its kinds; see `tools.net.errors`.

        """
        wish = _Wish(tuple(accept), max_bytes, timeout, cut, dict(headers or {}))
        try:
            async with asyncio.timeout(timeout):
                return await self._follow(url, wish)
        except TimeoutError as error:
            raise TooSlow(timeout) from error
        except Blocked as refusal:
            logger.warning("net.blocked", reason=refusal.reason)
            raise

    async def _follow(self, url: str, wish: _Wish) -> Page:
        target = first = read(url)
        for hop in range(self._policy.max_redirects + 1):
            own = wish.headers if target.origin == first.origin else {}
            answer = await self._once(target, wish, own, hop)
            if isinstance(answer, Page):
                return answer
            target = follow(target, answer)
        raise TooManyRedirects(f"The site sends one on more than {self._policy.max_redirects} times.")

    async def _once(self, target: Target, wish: _Wish, own: Mapping[str, str], hop: int) -> Page | str:
        """The page at `target`, or where it redirects to."""
        addresses = await self._judged(target, redirected=hop > 0)
        pinned = Pinned(target.host, addresses, target.port, connect_timeout=max(1.0, wish.timeout / 2), context=self._context)
        headers = {**own, "Accept": _accept_header(wish.accept), "Accept-Encoding": ACCEPTED, "User-Agent": USER_AGENT}
        try:
            async with pinned.session() as session, session.get(target.url, headers=headers, allow_redirects=False) as response:
                self._outside.answered()
                location = response.headers.get("Location")
                if response.status in _REDIRECTS and location is not None:
                    return location
                if not 200 <= response.status < 300:
                    raise BadStatus(response.status, seconds_to_wait(response.headers.get("Retry-After", "")))
                return await _read(response, target, wish, hop)
        except (aiohttp.ClientError, OSError, ValueError, RuntimeError) as error:  # uvloop raises RuntimeError for some failed connections
            logger.info("net.failed", error=type(error).__name__)
            if pinned.violated:
                raise Blocked("peer", "The connection did not end where it should, so nothing was sent.") from error
            raise self._explained(target.host, error, wish.timeout) from error

    async def _judged(self, target: Target, *, redirected: bool) -> list[IPAddress]:
        """The addresses of `target`, every one of which may be opened."""
        if target.address is not None:
            addresses = [target.address]
        else:
            if self._policy.allow is None and target.port not in self._policy.ports:
                raise _blocked("port", redirected=redirected)  # before its name is asked for
            addresses = await self._resolved(target.host)
        for address in addresses:
            reason = self._policy.refusal(address, target.port)
            if reason is not None:
                raise _blocked(reason, redirected=redirected)
        return addresses

    async def _resolved(self, host: str) -> list[IPAddress]:
        try:
            found = list(await self._resolver(host))
        except (NameNotFound, Unreachable) as error:
            explained = await self._outside.unnamed(error, self._resolver)
            if explained is error:
                raise
            raise explained from error
        if not found:
            raise await self._outside.unnamed(NameNotFound("There is no site of that name. The address may be misspelled."), self._resolver)
        addresses = [parse(text) for text in found]
        if len(found) > MAX_ADDRESSES or None in addresses:
            raise Blocked("strange answer", "The name of the site leads to addresses that are not opened.")
        return [plain(address) for address in addresses if address is not None]

    def _explained(self, host: str, error: Exception, timeout: float) -> FetchError:
        match error:
            case aiohttp.ClientConnectorCertificateError():
                return Untrusted("The site cannot prove who it is: its certificate is not valid. It was not opened.")
            case aiohttp.ClientSSLError():
                return Unreachable("No protected (https) connection to the site could be made.")
            case aiohttp.ServerTimeoutError():
                return self._outside.silent(host, TooSlow(timeout), None)
            case aiohttp.ClientConnectorError():
                return self._outside.silent(host, Unreachable("The site refuses the connection or is not there."), error.os_error.errno)
            case aiohttp.ClientResponseError():
                return Unreachable("The site's answer breaks the rules of HTTP or has headers that are too large.")
            case aiohttp.InvalidURL():
                return BadUrl("This is not an address that can be opened.")
            case _:
                return Unreachable("The connection to the site broke off before its answer was complete.")


def default_fetcher() -> Fetcher:
    """The fetcher of a process that was given no other."""
    return _DEFAULT


_DEFAULT: Final = Fetcher()


def _blocked(reason: str, *, redirected: bool) -> Blocked:
    if reason == "port":
        what = "uses a port that is not opened; only the usual ports of the web are"
    else:
        what = "leads into an inside network or to a reserved place, not to a public site; it is not opened"
    return Blocked(reason, f"The site sends one on to an address that {what}." if redirected else f"The address {what}.")


def _accept_header(accept: Sequence[str]) -> str:
    plain_types = [pattern for pattern in accept if "*" not in pattern or pattern.endswith("/*")]
    return ", ".join(plain_types) or "*/*"


async def _read(response: aiohttp.ClientResponse, target: Target, wish: _Wish, hop: int) -> Page:
    named = response.content_type.lower() if "Content-Type" in response.headers else ""
    if named and not any(fnmatchcase(named, pattern) for pattern in wish.accept):
        raise NotReadable(f"This is {kind(named)}{size(response.content_length)}, not text that can be read here.")
    unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
    body = bytearray()
    arrived = 0
    truncated = False
    async for chunk in response.content.iter_any():
        arrived += len(chunk)
        with closing(unpacker.feed(chunk)) as pieces:
            for piece in pieces:
                body += piece
                if len(body) > wish.max_bytes:
                    break
        # A packed answer may also be long and hold nothing.
        if truncated := len(body) > wish.max_bytes or arrived > wish.max_bytes + 65_536:
            break
    if truncated and not wish.cut:
        raise TooLarge(f"The answer is larger than the {wish.max_bytes:,} bytes that are taken{' once it is unpacked' if unpacker.packs else ''}.")
    if not truncated:
        unpacker.finish()
    charset = (response.charset or "").lower()
    return Page(str(target.url), response.status, named, charset, bytes(body[: wish.max_bytes]), truncated, hop)
