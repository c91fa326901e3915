"""`Fetcher` against a site on loopback that misbehaves in every way: what comes back, what is bounded, what people are told."""

from __future__ import annotations

import asyncio
import gzip
import io
import socket
import ssl
import tracemalloc
import zlib
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.net_site import Names, Site, answer, fetcher, redirect
from tools.net import (
    BadStatus,
    Blocked,
    Fetcher,
    FetchError,
    NameNotFound,
    NotReadable,
    Offline,
    Policy,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
    Untrusted,
)
from tools.net.address import parse
from tools.net.names import ask_system
from tools.net.outside import Outside
from tools.net.pinned import Pinned
from tools.net.unpack import Unpacker
from tools.net.words import seconds_to_wait, size
from tools.result import ErrorCode, Suggestion


async def test_a_page_comes_with_its_final_address_type_and_charset() -> None:
    async with Site({"/start": redirect("/end?x=1"), "/end": answer("好", content_type="Text/HTML; charset=GBK")}) as site:
        page = await fetcher(site).fetch(site.url("/start"))

    assert (page.url, page.status, page.content_type, page.charset, page.redirects) == (site.url("/end?x=1"), 200, "text/html", "gbk", 1)
    assert (page.body.decode(), page.truncated) == ("好", False)


async def test_the_site_sees_its_own_name_and_nothing_about_the_person() -> None:
    async with Site({"/": answer("x", Set_Cookie="id=1"), "/go": answer("", 302, Location="/", Set_Cookie="id=2")}) as site:
        door = fetcher(site)
        await door.fetch(site.url("/go"), headers={"X-Key": "k"}, accept=("text/*",))
        await door.fetch(site.url("/"))

    assert all(f"Host: site.example:{site.port}" in head and "Cookie" not in head and "Referer" not in head for head in site.requests)
    assert "X-Key: k" in site.requests[1]
    assert "X-Key" not in site.requests[2]
    assert "Accept-Encoding: gzip, deflate" in site.requests[0]


async def test_headers_of_the_caller_stay_on_the_callers_site() -> None:
    async with Site({"/": answer("x")}) as other, Site({"/": redirect(other.url("/", "other.example"))}) as site:
        await fetcher(site, other, names={"other.example": [["127.0.0.1"]]}).fetch(site.url(), headers={"Authorization": "secret"})

    assert "secret" in site.requests[0]
    assert "secret" not in other.requests[0]


@pytest.mark.parametrize(("hops", "arrives"), [(5, True), (6, False)])
async def test_five_redirects_are_followed_and_no_more(hops: int, arrives: bool) -> None:
    pages: dict[str, Any] = {f"/{n}": redirect(f"/{n + 1}", (301, 302, 303, 307, 308)[n % 5]) for n in range(hops)} | {f"/{hops}": answer("there")}
    async with Site(pages) as site:
        if arrives:
            assert (await fetcher(site).fetch(site.url("/0"))).redirects == 5
        else:
            with pytest.raises(TooManyRedirects, match="more than 5 times"):
                await fetcher(site).fetch(site.url("/0"))
    assert site.connections == 6


async def test_a_site_over_https_proves_its_name_and_does_not_lead_to_http(tmp_path: Path) -> None:
    server, client = certificate(tmp_path, "site.example")
    async with Site({"/": answer("plain")}) as plain, Site({"/": answer("secure"), "/down": redirect(plain.url())}, context=server) as site:
        door = fetcher(site, plain, context=client, names={"evil.example": [["127.0.0.1"]]})
        assert (await door.fetch(site.url())).body == b"secure"
        with pytest.raises(Untrusted, match="certificate"):
            await door.fetch(site.url(host="evil.example"))
        with pytest.raises(Blocked, match="unprotected"):
            await door.fetch(site.url("/down"))
        with pytest.raises(Untrusted):
            await fetcher(site).fetch(site.url())  # the system does not know who signed it
    assert plain.requests == []


async def test_a_site_that_does_not_speak_tls_is_no_https_site() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP ready\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        door = Fetcher(Policy(allow=lambda *_: True), resolver=Names({"site.example": [["127.0.0.1"]]}))
        with pytest.raises(Unreachable, match="https"):
            await door.fetch(f"https://site.example:{port}/")


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server called `name` and of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(who).issuer_name(who).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False).sign(key, hashes.SHA256())
    pem = signed.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(pem + secret)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "server.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


# --- size, time, form ---------------------------------------------------------------------------------------------------------


def bomb(size_: int) -> bytes:
    """`size_` zeros, packed as gzip."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        for _ in range(size_ // 1_000_000):
            file.write(bytes(1_000_000))
    return packed.getvalue()


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_packed_bomb_is_stopped_at_the_limit_of_what_it_unpacks_to(coding: str, cut: bool) -> None:
    packed = bomb(50_000_000)
    body = packed if coding == "gzip" else zlib.compress(bytes(50_000_000), 9)
    async with Site({"/": answer(body, Content_Encoding=coding)}) as site:
        if cut:
            page = await fetcher(site).fetch(site.url(), max_bytes=200_000, cut=True)
            assert (len(page.body), page.truncated) == (200_000, True)
            return
        with pytest.raises(TooLarge, match="once it is unpacked") as caught:
            await fetcher(site).fetch(site.url(), max_bytes=200_000)
    assert caught.value.as_tool_failure().code is ErrorCode.TOO_LARGE


async def test_of_a_bomb_no_more_is_ever_in_memory_than_was_asked_for() -> None:
    async with Site({"/": answer(bomb(50_000_000), Content_Encoding="gzip")}) as site:
        door = fetcher(site)
        tracemalloc.start()
        try:
            await door.fetch(site.url(), max_bytes=200_000, cut=True)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 5_000_000


def test_an_unpacker_never_gives_more_than_a_step_at_once_and_stops_when_nobody_asks() -> None:
    pieces = Unpacker("gzip").feed(bomb(50_000_000))
    assert [len(next(pieces)) for _ in range(3)] == [65_536] * 3
    pieces.close()


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "gzip, br", "identity, gzip", "x", "aes128gcm"])
async def test_a_coding_that_was_not_asked_for_stays_packed(coding: str) -> None:
    async with Site({"/": answer(b"\x00\x01", Content_Encoding=coding)}) as site:
        with pytest.raises(NotReadable, match="not asked for"):
            await fetcher(site).fetch(site.url())


@given(st.binary(max_size=300_000), st.sampled_from(["gzip", "x-gzip", "deflate", "raw", "identity", "GZIP"]), st.integers(1, 70_000))
def test_what_was_packed_is_unpacked_exactly_however_it_arrives(content: bytes, coding: str, step: int) -> None:
    packed = {
        "deflate": lambda: zlib.compress(content),
        "raw": lambda: raw_deflate(content),
        "identity": lambda: content,
    }.get(coding, lambda: gzip.compress(content[: len(content) // 2]) + gzip.compress(content[len(content) // 2 :]) + b"\x00" * 8)()
    unpacker = Unpacker("deflate" if coding == "raw" else coding)
    out = b"".join(piece for at in range(0, len(packed), step) for piece in unpacker.feed(packed[at : at + step]))

    assert out == content


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(content) + packer.flush()
    # A raw stream whose first byte looks like zlib's cannot be told from it; browsers guess alike.
    return packed if packed[0] & 0x0F != 8 else zlib.compress(content)


@pytest.mark.parametrize(
    "body",
    [b"not packed at all", gzip.compress(b"x" * 5000, mtime=0)[:30] + b"\xff" * 50, gzip.compress(b"", mtime=0) * 40],
    ids=["plain", "torn", "many empty"],
)
async def test_a_damaged_answer_is_said_to_be_damaged(body: bytes) -> None:
    async with Site({"/": answer(body, Content_Encoding="gzip")}) as site:
        with pytest.raises(Unreachable, match="damaged"):
            await fetcher(site).fetch(site.url())


async def test_a_long_answer_is_cut_or_refused() -> None:
    async def endless(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")
            await writer.drain()

    pages: dict[str, Any] = {"/endless": endless, "/long": answer("y" * 50_000)}
    async with Site(pages) as site:
        page = await fetcher(site).fetch(site.url("/endless"), max_bytes=30_000, cut=True)
        assert (page.body, page.truncated) == (b"x" * 30_000, True)
        with pytest.raises(TooLarge, match="30,000 bytes"):
            await fetcher(site).fetch(site.url("/long"), max_bytes=30_000)
        assert (await fetcher(site).fetch(site.url("/long"), max_bytes=50_000)).truncated is False


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(1000)) + b"\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 \xff\r\nbad\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_http_ends_in_a_sentence(head: bytes) -> None:
    async with Site({"/": head}) as site:
        with pytest.raises(Unreachable) as caught:
            await fetcher(site).fetch(site.url())
    failure = caught.value.as_tool_failure()
    assert (failure.code, failure.suggestion) == (ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY)
    assert "127.0.0.1" not in str(failure)


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\na"])
async def test_a_site_that_dawdles_is_left_when_the_time_is_over(begin: bytes) -> None:
    async def dawdle(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(begin)
        await asyncio.Event().wait()

    async with Site({"/": dawdle}) as site:
        with pytest.raises(TooSlow, match=r"within 0\.3 s") as caught:
            await fetcher(site).fetch(site.url(), timeout=0.3)
    assert caught.value.as_tool_failure().code is ErrorCode.TIMEOUT


async def test_names_and_redirects_share_the_one_time() -> None:
    async def slow(_: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(TooSlow):
        await Fetcher(resolver=slow).fetch("https://example.com", timeout=0.1)


# --- what people are told -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "suggestion"),
    [
        (400, ErrorCode.UPSTREAM_ERROR, Suggestion.GIVE_UP),
        (401, ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
        (403, ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP),
        (404, ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON),
        (410, ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON),
        (429, ErrorCode.RATE_LIMITED, Suggestion.RETRY),
        (500, ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY),
        (503, ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY),
        (304, ErrorCode.UPSTREAM_ERROR, Suggestion.GIVE_UP),
        (302, ErrorCode.UPSTREAM_ERROR, Suggestion.GIVE_UP),
    ],
)
async def test_each_status_has_its_sentence_and_its_code(status: int, code: ErrorCode, suggestion: Suggestion) -> None:
    async with Site({"/": answer("", status, Retry_After="7" if status in {429, 503} else "")}) as site:
        with pytest.raises(BadStatus, match=f"status {status}") as caught:
            await fetcher(site).fetch(site.url())
    failure = caught.value.as_tool_failure()
    assert (failure.code, failure.suggestion) == (code, suggestion)
    assert failure.retry_after == (7 if status in {429, 503} else None)
    assert ("wait 7 s" in str(failure)) == (status in {429, 503})


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0", 0), ("-3", 0), ("soon", 0), ("", 0), ("9" * 9, 86_400), ("Sun, 29 Nov 2026 12:01:30 GMT", 90)])
def test_how_long_to_wait_is_read_as_seconds_or_a_date(header: str, seconds: float) -> None:
    assert seconds_to_wait(header, datetime(2026, 11, 29, 12, tzinfo=UTC)) == seconds


def test_sizes_are_told_in_units_people_know() -> None:
    assert [size(count) for count in (None, 5, 1500, 2_000_000)] == ["", " of 5 bytes", " of 1.5 kB", " of 2.0 MB"]


@pytest.mark.parametrize(
    ("content_type", "words"), [("application/pdf", "a PDF file of 4 bytes"), ("image/png", r"an image \(image/png\)"), ("x/<b>", "unknown kind")]
)
async def test_a_kind_that_is_not_taken_is_named_before_its_body_is_read(content_type: str, words: str) -> None:
    async with Site({"/": answer("%PDF", content_type=content_type)}) as site:
        with pytest.raises(NotReadable, match=words):
            await fetcher(site).fetch(site.url(), accept=("text/*",))


async def test_a_name_that_does_not_exist_is_told_from_a_house_without_internet() -> None:
    with pytest.raises(NameNotFound, match="no site of that name"):
        await fetcher().fetch("https://misspelt.example")
    with pytest.raises(Offline, match="cannot reach the internet") as caught:
        await Fetcher(resolver=Names({})).fetch("https://misspelt.example")
    assert caught.value.as_tool_failure().code is ErrorCode.UPSTREAM_ERROR
    with pytest.raises(Offline):
        await Fetcher(resolver=Names({"empty.example": [[]]})).fetch("https://empty.example")
    with pytest.raises(NameNotFound):
        await fetcher(names={"empty.example": [[]]}).fetch("https://empty.example")


async def test_the_systems_own_resolver_says_in_our_words_that_it_found_nothing() -> None:
    for host in ("nothing.invalid", "a" * 70 + ".example"):
        with pytest.raises((NameNotFound, Unreachable)):  # without any name server it is the second
            await ask_system(host)


async def test_a_refused_connection_is_the_sites_until_no_site_answers() -> None:
    async with Site({"/": answer("x")}) as site:
        closed = socket.create_server(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        closed.close()
        door = Fetcher(Policy(allow=lambda *_: True), resolver=Names({f"{name}.example": [["127.0.0.1"]] for name in ("site", "a", "b", "c", "d")}))
        for name in ("a", "b"):
            with pytest.raises(Unreachable, match="refuses the connection"):
                await door.fetch(f"http://{name}.example:{port}/")
        with pytest.raises(Offline):
            await door.fetch(f"http://c.example:{port}/")
        await door.fetch(site.url())  # one answer, and it is the site's trouble again
        with pytest.raises(Unreachable, match="refuses the connection"):
            await door.fetch(f"http://d.example:{port}/")


def test_a_machine_that_says_there_is_no_way_out_is_believed() -> None:
    now = 0.0
    outside, error = Outside(lambda: now), Unreachable("The site refuses the connection.")

    assert isinstance(outside.silent("a", error, 101), Offline)
    outside.answered()
    assert outside.silent("a", error, 101) is error
    now = 400.0
    assert isinstance(outside.silent("a", error, 101), Offline)


@pytest.mark.parametrize("url", ["http://10.1.2.3/", "http://db.example/", "http://site.example/", "https://misspelt.example/"])
async def test_no_message_shows_an_address_or_a_host(url: str) -> None:
    door = fetcher(names={"db.example": [["10.1.2.3"]], "site.example": [["10.9.9.9"]]})
    with pytest.raises(FetchError) as caught:
        await door.fetch(url)
    assert not any(word in str(caught.value) for word in ("10.", "db.example", "site.example", "misspelt"))


async def test_networks_of_ones_own_can_be_closed_too() -> None:
    policy = Policy(blocked=(ip_network("93.184.0.0/16"), ip_network("2a00::/16")))
    door = Fetcher(policy, resolver=Names({"own.example": [["93.184.215.14"]]}))
    with pytest.raises(Blocked) as caught:
        await door.fetch("https://own.example")
    assert caught.value.reason == "blocked network"


# --- the pin ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["http://127.0.0.1:{p}/", "http://[::ffff:127.0.0.1]:{p}/", "http://other.example:{p}/"])
async def test_a_client_that_is_led_elsewhere_gets_no_socket(url: str) -> None:
    address = parse("93.184.215.14")
    assert address is not None
    async with Site({"/": answer("inside")}) as site:
        pinned = Pinned("site.example", [address], site.port, connect_timeout=1)
        async with pinned.session() as session:
            with pytest.raises((aiohttp.ClientError, OSError)):
                await session.get(url.format(p=site.port))
    assert site.connections == 0


async def test_a_connection_that_ends_elsewhere_is_closed_before_the_request_is_sent() -> None:
    address = parse("127.0.0.1")
    assert address is not None
    async with Site({"/": answer("inside")}) as site:
        pinned = Pinned("site.example", [address], site.port, connect_timeout=1)

        def led_astray(info: Any) -> socket.socket:
            made = Pinned.make_socket(pinned, info)
            pinned._allowed = ()  # as if the peer were another
            return made

        pinned.make_socket = led_astray  # type: ignore[method-assign]
        async with pinned.session() as session:
            with pytest.raises(Blocked, match="nothing was sent"):
                await session.get(site.url())
        assert pinned.violated
        assert site.requests == []


def test_the_gate_holds_on_the_loop_the_bot_runs_on() -> None:
    async def story() -> tuple[bytes, str]:
        async with Site({"/": answer("x"), "/go": redirect("http://127.0.0.1/")}) as site:
            door = fetcher(site)
            page = await door.fetch(site.url())
            with pytest.raises(Blocked) as caught:
                await door.fetch(site.url("/go"))
            return page.body, caught.value.reason

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(story()) == (b"x", "loopback")


async def test_of_several_judged_addresses_one_that_answers_is_enough() -> None:
    async with Site({"/": answer("x")}) as site:
        door = Fetcher(Policy(allow=lambda address, _: str(address) in {"127.0.0.1", "::1"}), resolver=Names({"site.example": [["::1", "127.0.0.1"]]}))
        assert (await door.fetch(site.url())).body == b"x"
