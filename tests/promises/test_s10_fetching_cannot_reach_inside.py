"""Fetching cannot reach inside: whatever address is asked for, however it is written or redirected, no inside listener sees a connection.

Real listeners wait on IPv4 and IPv6 loopback and count; every attempt of the process to connect anywhere is counted too. Names
resolve to what a hostile name server would say. Each address must be refused for its own reason: a closed network proves nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, obey_policy
from tests.fakes.stack import running
from tests.fakes.valkey import Valkey
from tests.unit.net_site import Names, Site, answer, redirect
from tools.net import BadUrl, Blocked, Fetcher, FetchError, Policy
from tools.net.address import IPAddress

pytestmark = [pytest.mark.promise, pytest.mark.timeout(600)]

ADDRESSES = {
    "loopback": [
        "127.0.0.1", "2130706433", "0x7f000001", "0X7F000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "00000177.0.0.1", "127.1", "127.0.1",
        "127.0.0.1.", "127.255.255.254", "１２７。０。０。１", "①②⑦.⓪.⓪.①", "127。0。0。1", "127．0．0．1", "%31%32%37.0.0.1",
        "127%2e0%2e0%2e1", "%EF%BC%9127.0.0.1",
        "127.0.0.\u200b1", "127.0.0x",
        "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]",
        "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[2001:470:1:1:0:5efe:7f00:1]", "[2001:470:1:1:200:5efe:127.0.0.1]",
    ],
    "unspecified": ["0", "0.0.0.0", "0x0", "[::]", "[::ffff:0.0.0.0]"],
    "embedded IPv4": ["[::127.0.0.1]", "[::ffff:0:127.0.0.1]"],
    "local NAT64": ["[64:ff9b:1::7f00:1]", "[64:ff9b:1:ffff::10.0.0.1]"],
    "6to4": ["[2002:7f00:1::]", "[2002:a9fe:a9fe::1]"],
    "Teredo": ["[2001:0:7f00:1::1]", "[2001::53aa:64c:0:80ff:fffe]"],
    "link-local": [
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518",
        "[::ffff:169.254.169.254]", "[fe80::1]", "[64:ff9b::a9fe:a9fe]",
    ],
    "private": ["10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.168.257", "3232235777", "[fd00::1]", "[fd00:ec2::254]", "[fc00::1]"],
    "carrier-grade NAT": ["100.64.0.1", "100.100.100.200"],
    "cloud platform": ["168.63.129.16"],
    "site-local": ["[fec0::1]"],
    "multicast": ["224.0.0.1", "239.255.255.250", "[ff02::1]", "[ff0e::1]"],
    "reserved": ["192.0.0.192", "192.88.99.1", "240.0.0.1", "255.255.255.255", "[100::1]", "[5f00::1]"],
    "benchmarking": ["198.18.0.1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "[3fff::1]"],
    "not assigned": ["[4000::1]", "[::2:0:0:1]"],
    "zone": ["[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]"],
    "inside name": [
        "localhost", "LOCALHOST", "localhost.", "ｌｏｃａｌｈｏｓｔ", "loc%61lhost", "loc\u00adalhost", "localhost。", "a.localhost", "redis", "router.local",
        "metadata.google.internal", "printer.lan", "kubernetes.default.svc.cluster.local",
    ],
    "sign-in": ["good.example@127.0.0.1", "good.example:80@127.0.0.1", "127.0.0.1@good.example", "@127.0.0.1", "good.example%00@127.0.0.1", ":@[::1]"],
}  # fmt: skip
"""By the reason for which they must be refused: hosts, to be used at the listeners' port."""

UNREADABLE = [
    "http://127.0.0.1\t:{p}/", "http://12\n7.0.0.1:{p}/", "http://good.example/\r\nHost: 127.0.0.1", "ht\ntp://127.0.0.1:{p}/", "http://127.0.0.1:{p}/\x00",
    "http://good.example\\@127.0.0.1:{p}/", "http://127.0.0.1:{p}\\@good.example/", "http:\\\\127.0.0.1:{p}\\", "http://good.example:{p} @127.0.0.1/",
    "//127.0.0.1:{p}/", "127.0.0.1:{p}/", "http:127.0.0.1:{p}/", "http:///127.0.0.1:{p}/", "http:/127.0.0.1:{p}/", "http://[::1:{p}/", "http://::1:{p}/",
    "http://127.0.0.1:{p}:80/", "http://127.0.0.1:0/", "http://127.0.0.1:-1/", "http://127.0.0.1:99999/", "http://127.0.0.1:８０/", "http://127.0.0.256:{p}/",
    "http://0x7f.0.0.0.1:{p}/", "http://good.example%2f@127.0.0.1%23:{p}/x".replace("@", "%40"), "http://127.0.0.1%00.good.example:{p}/",
    "http://127.0.0.1%0a:{p}/", "http://[::ffff:127.0.0.1", "http://[127.0.0.1]:{p}/", "http://127。0。0。1%2f:{p}/", "http://good.example℀127.0.0.1:{p}/", "",
]  # fmt: skip
PROTOCOLS = [
    "file:///etc/passwd", "FILE:///etc/passwd", "file://localhost/etc/passwd", "gopher://127.0.0.1:{p}/_GET", "ftp://127.0.0.1:{p}/", "data:text/html,<h1>x",
    "dict://127.0.0.1:{p}/", "ldap://127.0.0.1:{p}/", "javascript:alert(1)", "jar:http://127.0.0.1:{p}/!/",
    "unix:/run/docker.sock", "ws://127.0.0.1:{p}/", "about:blank",
]  # fmt: skip
PUBLIC = "93.184.215.14"
ANSWERS = {
    "four.example": ("loopback", ["127.0.0.1"]),
    "six.example": ("loopback", ["::1"]),
    "mapped.example": ("loopback", ["::ffff:127.0.0.1"]),
    "nat64.example": ("loopback", ["64:ff9b::7f00:1"]),
    "mixed.example": ("loopback", [PUBLIC, "127.0.0.1"]),
    "mixed-six.example": ("loopback", [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"]),
    "last-of-many.example": ("private", [*(f"93.184.215.{n}" for n in range(1, 40)), "10.0.0.1"]),
    "too-many.example": ("strange answer", [f"93.184.{n}.1" for n in range(100)]),
    "metadata.example": ("link-local", ["169.254.169.254"]),
    "zoned.example": ("strange answer", ["fe80::1%eth0"]),
    "nonsense.example": ("strange answer", ["not an address"]),
    "127.0.0.1.nip.example": ("loopback", ["127.0.0.1"]),
    "пример.example": ("loopback", ["127.0.0.1"]),
    "中文.example": ("loopback", ["::1"]),
}


@dataclass
class Attempts:
    """Every connection this process tries to make, by the interpreter's own account."""

    watching: bool = False
    made: list[Any] = field(default_factory=list)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.watching and event == "socket.connect":
            self.made.append(args[1])


ATTEMPTS = Attempts()
sys.addaudithook(ATTEMPTS.hook)


@contextlib.contextmanager
def watched() -> Iterator[list[Any]]:
    ATTEMPTS.made.clear()
    ATTEMPTS.watching = True
    try:
        yield ATTEMPTS.made
    finally:
        ATTEMPTS.watching = False


@dataclass
class Ground:
    """The listeners nobody may reach, on one port of both loopbacks, and a public site that may be."""

    four: Site
    six: Site
    site: Site
    twin: Site
    """On IPv6 at the public site's port: where rebinding would lead."""

    @property
    def port(self) -> int:
        return self.four.port

    @property
    def seen(self) -> int:
        return self.four.connections + self.six.connections + self.twin.connections

    def allow(self, address: IPAddress, port: int) -> bool:
        return (str(address), port) == ("127.0.0.1", self.site.port)

    def fetcher(self, names: Names | None = None) -> Fetcher:
        """The listeners' port is a usual one here, so that no refusal is the port's."""
        table = {quote_free(name): [found] for name, (_, found) in ANSWERS.items()} | {"good.example": [[PUBLIC]], "site.example": [["127.0.0.1"]]}
        return Fetcher(Policy(ports=frozenset({80, 443, self.port, self.site.port}), allow=self.allow), resolver=names or Names(table))


def quote_free(name: str) -> str:
    """A name as it is looked up."""
    return name if name.isascii() else name.encode("idna").decode()


@contextlib.asynccontextmanager
async def ground() -> AsyncIterator[Ground]:
    secret = {"/": answer("secret"), "/secret": answer("secret")}
    async with contextlib.AsyncExitStack() as stack:
        four = await stack.enter_async_context(Site(secret))
        six = await stack.enter_async_context(Site(secret, host="::1", port=four.port))
        site = await stack.enter_async_context(Site({"/": answer("public")}))
        twin = await stack.enter_async_context(Site(secret, host="::1", port=site.port))
        yield Ground(four, six, site, twin)


async def outcome(fetcher: Fetcher, url: str) -> str:
    """Why a fetch was refused; `unreadable` for what is no address, what it gave when it was not refused."""
    try:
        page = await fetcher.fetch(url, timeout=5)
    except Blocked as refusal:
        return refusal.reason if refusal.as_tool_failure().code == "PERMISSION_DENIED" else "refused with another code"
    except BadUrl:
        return "unreadable"
    except FetchError as error:
        return f"not refused, but failed: {error}"
    return f"not refused: {page.body!r}"


def asked(port: int) -> Iterator[tuple[str, str]]:
    """(address, the reason for which it must be refused)."""
    for reason, hosts in ADDRESSES.items():
        for host in hosts:
            yield f"http://{host}:{port}/secret", reason
    for host in ("127.0.0.1", "[::1]", "2130706433", "four.example", "six.example"):
        yield f"https://{host}:{port}/", "loopback"
        yield f"HTTP://{host}:{port}?x=1#y", "loopback"
    yield from ((url.format(p=port), "unreadable") for url in UNREADABLE)
    yield from ((url.format(p=port), "scheme") for url in PROTOCOLS)
    for name, (reason, _) in ANSWERS.items():
        yield f"http://{name}:{port}/secret", reason
        yield f"http://{name.upper()}.:{port}/secret", reason
    yield "http://good.example:6379/", "port"
    yield "http://good.example:22/", "port"


def spelt(chance: random.Random, address: IPv4Address) -> str:
    """One of the very many ways to write an IPv4 address."""
    number = int(address)
    parts = chance.choice([1, 2, 3, 4])
    values = [number >> (8 * (3 - place)) & 255 for place in range(parts - 1)] + [number & (256 ** (5 - parts) - 1)]
    forms: list[Callable[[int], str]] = [str, hex, lambda n: f"0X{n:X}", lambda n: f"0{n:o}" if n else "0", lambda n: f"0x{n:012x}"]
    written = [chance.choice(forms)(value) for value in values]
    host = chance.choice([".", ".", "。", "．", "｡", "%2e", "%E3%80%82"]).join(written) + chance.choice(["", "", ".", "。"])
    if chance.random() < 0.4:
        host = "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() and chance.random() < 0.3 and "%" not in host else c for c in host)
    if chance.random() < 0.3 and host.isascii() and "%" not in host:
        host = "".join(f"%{ord(c):02x}" if chance.random() < 0.3 else c for c in host)
    if chance.random() < 0.25:
        prefix = chance.choice(["::ffff:", "0:0:0:0:0:FFFF:", "64:ff9b::", "64:ff9b:0:0:0:0:"])
        host = f"[{prefix}{chance.choice([str(address), f'{number >> 16:x}:{number & 0xFFFF:x}'])}]"
    return host


async def test_the_listeners_and_the_count_of_attempts_can_see() -> None:
    async with ground() as g:
        with watched() as attempts:
            async with aiohttp.ClientSession() as plain:
                for url in (f"http://127.0.0.1:{g.port}/", f"http://[::1]:{g.port}/", f"http://[::ffff:127.0.0.1]:{g.port}/", f"http://[::1]:{g.site.port}/"):
                    async with plain.get(url) as response:
                        assert await response.text() == "secret"
            page = await g.fetcher().fetch(g.site.url())
        assert (page.body, g.seen, g.site.connections) == (b"public", 4, 1)
        assert len(attempts) == 5


async def test_no_address_however_written_reaches_inside(figures: Recorder, full: bool) -> None:
    chance = random.Random(20_261_129)
    inside = ["127.0.0.0/8", "10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16", "172.16.0.0/12", "100.64.0.0/10", "224.0.0.0/4", "0.0.0.0/8"]
    async with ground() as g:
        fetcher = g.fetcher()
        with watched() as attempts:
            cases = list(asked(g.port))
            found = [(url, expected, await outcome(fetcher, url)) for url, expected in cases]
            wrong = [f"{url!r}: {came}, not {expected}" for url, expected, came in found if came != expected]
            assert not wrong, "\n".join(wrong)
            spellings = 20_000 if full else 1_000
            for _ in range(spellings):
                base, _, bits = chance.choice(inside).partition("/")
                address = IPv4Address(int(IPv4Address(base)) + chance.randrange(2 ** (32 - int(bits))))
                url = f"http://{spelt(chance, address if chance.random() < 0.5 else IPv4Address('127.0.0.1'))}:{g.port}/"
                came = await outcome(fetcher, url)
                assert came in ADDRESSES, f"{url!r}: {came}"
            assert attempts == []
        assert g.seen == 0
        print(f"S10: {len(cases)} addresses, {spellings} spellings, {len({reason for _, reason in cases})} reasons")
        figures("S10", addresses=len(cases), spellings=spellings, connections_seen_inside=g.seen)


async def test_no_redirect_leads_inside(figures: Recorder) -> None:
    async with ground() as g:
        targets = [(url, reason) for url, reason in asked(g.port) if not (set(url) & set("\r\n\x00")) and url]
        targets += [(f"//127.0.0.1:{g.port}/secret", "loopback"), (f"//[::1]:{g.port}/secret", "loopback"), (f"\\\\127.0.0.1:{g.port}/", "unreadable")]
        targets += [(f"///127.0.0.1:{g.port}/", "public"), (f"http://[::1]:{g.site.port}/", "loopback"), (f"/\\127.0.0.1:{g.port}/", "unreadable")]
        relative = {f"127.0.0.1:{g.port}/", f"http:127.0.0.1:{g.port}/", f"http:///127.0.0.1:{g.port}/", f"http:/127.0.0.1:{g.port}/", f"//127.0.0.1:{g.port}/"}
        counted = 0
        with watched() as attempts:
            for number, (url, expected) in enumerate(targets):
                g.site.pages["/go"] = redirect(url, (301, 302, 303, 307, 308)[number % 5])
                g.site.pages["/"] = redirect(f"http://site.example:{g.site.port}/go")
                came = await outcome(g.fetcher(), g.site.url("/" if number % 2 else "/go"))
                if url in relative or expected == "public":
                    assert came in {"loopback", "unreadable", "scheme"} or "not refused, but failed: The site has no such page" in came, (url, came)
                else:
                    assert came == expected, f"{url!r}: {came}, not {expected}"
                counted += 1
            assert {attempt[:2] for attempt in attempts} == {("127.0.0.1", g.site.port)}
        assert g.seen == 0
        assert g.site.connections >= counted
        figures("S10", redirects=counted, connections_seen_inside=g.seen)


async def test_a_name_that_changes_its_mind_is_judged_each_time_and_asked_once() -> None:
    async with ground() as g:
        names = Names({"rebind.example": [["127.0.0.1"], ["::1"]]})
        with watched() as attempts:
            page = await g.fetcher(names).fetch(g.site.url("/", "rebind.example"))
            assert (page.body, names.asked) == (b"public", ["rebind.example"])  # looked up once, though a second look would lead inside
            names = Names({"rebind.example": [["127.0.0.1"], ["::1"]]})
            g.site.pages["/again"] = redirect("/")
            assert await outcome(g.fetcher(names), g.site.url("/again", "rebind.example")) == "loopback"
            assert names.asked == ["rebind.example"] * 2
            assert {attempt[:2] for attempt in attempts} == {("127.0.0.1", g.site.port)}
        assert g.seen == 0


async def test_a_proxy_in_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ground() as g:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{g.port}")
        assert (await g.fetcher().fetch(g.site.url())).body == b"public"
        assert await outcome(g.fetcher(), f"http://127.0.0.1:{g.port}/") == "loopback"
        assert g.seen == 0


async def test_a_model_that_obeys_a_stranger_reads_nothing_inside(figures: Recorder) -> None:
    valkey, model = Valkey(), ScriptedModel(obey_policy)
    try:
        async with ground() as g:
            urls = [
                f"http://{quote(host, safe='[]:.%')}:{g.port}/secret" for host in ("127.0.0.1", "2130706433", "[::1]", "four.example", "１２７。０。０。１")
            ]
            g.site.pages["/go"] = redirect(f"http://[::1]:{g.port}/secret")
            urls.append(g.site.url("/go"))
            async with running(valkey, model, tool_modules=("tools.builtin.fetch_url",), resources={"fetcher": g.fetcher()}) as stack:
                for url in urls:
                    await stack.ask("alice", "#orders", f"@steward CALL fetch_url {json.dumps({'url': url})}")
            results = [m["content"] for request in model.requests for m in request["messages"] if m["role"] == "tool"]
            assert len(results) >= len(urls)
            assert all("PERMISSION_DENIED" in result and "secret" not in result.replace("/secret", "") for result in results)
            assert g.seen == 0
            figures("S10", asked_through_the_product=len(urls))
    finally:
        valkey.close()
        await asyncio.sleep(0)
