"""Which addresses are outside, and how every spelling of one is read."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.net.address import IPAddress, parse, why_blocked
from tools.net.errors import BadUrl, Blocked, FetchError
from tools.net.target import follow, read

INSIDE_4 = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16"),
    *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
]
INSIDE_6 = [
    "::/96",
    "::1/128",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "4000::/2",
    "fc00::/7",
    "fe80::/9",
    "ff00::/8",
]


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8", "1.1.1.1", "93.184.215.14", "11.0.0.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "198.17.1.1",
        "198.20.0.1", "223.255.255.254", "2606:4700:4700::1111", "2a00:1450:4001::1", "2400:3200::1", "2001:470::1", "64:ff9b::808:808",
        "::ffff:8.8.8.8", "2a00::5efe:808:808",
    ],
)  # fmt: skip
def test_public_addresses_may_be_opened(address: str) -> None:
    assert why_blocked(ipaddress.ip_address(address)) is None


@pytest.mark.parametrize("address", ["224.0.0.1", "ff0e::1", "2002:7f00:1::", "64:ff9b::7f00:1", "::127.0.0.1", "fec0::1", "4000::1", "168.63.129.16"])
def test_what_the_standard_library_calls_global_is_judged_here_all_the_same(address: str) -> None:
    judged = ipaddress.ip_address(address)

    assert judged.is_global  # the reason why it does not decide
    assert why_blocked(judged) is not None


@given(st.sampled_from(INSIDE_4).flatmap(lambda network: st.ip_addresses(v=4, network=network)))
def test_an_inside_ipv4_address_is_blocked_in_every_form_that_carries_it(address: IPv4Address) -> None:
    number = int(address)
    carriers: list[IPAddress] = [
        address,
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address(number),
        IPv6Address((0x0064_FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80) | 1),
        IPv6Address((0x2001_0470 << 96) | (0x0000_5EFE << 32) | number),
        IPv6Address((0x2001_0470 << 96) | (0x0200_5EFE << 32) | number),
        IPv6Address((0x0064_FF9B_0001 << 80) | number),
        IPv6Address((0x2001_0000 << 96) | (number ^ 0xFFFF_FFFF)),
    ]

    assert [str(each) for each in carriers if why_blocked(each) is None] == []


@given(st.sampled_from(INSIDE_6).flatmap(lambda network: st.ip_addresses(v=6, network=network)))
def test_an_inside_ipv6_address_is_blocked(address: IPv6Address) -> None:
    assert why_blocked(address) is not None


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_that_the_standard_library_calls_inside_is_never_let_through(address: IPv4Address) -> None:
    allowed_by_name = {IPv4Address("192.0.0.9"), IPv4Address("192.0.0.10")}
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert why_blocked(address) is not None or address in allowed_by_name


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_outside_what_was_given_out_is_never_let_through(address: IPv6Address) -> None:
    given_out = address in IPv6Network("2000::/3") or address in IPv6Network("64:ff9b::/96") or address.ipv4_mapped is not None
    if not given_out or address.is_private:
        assert why_blocked(address) is not None


@pytest.mark.parametrize("text", ["fe80::1%eth0", "127.0.0.1 ", "", "localhost", "127.1", "1.2.3.4/32", "::1%"])
def test_what_is_no_plain_address_is_none(text: str) -> None:
    assert parse(text) is None


@st.composite
def spellings(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """An inside IPv4 address and one way of writing it that a browser or the C library reads as that address."""
    network = IPv4Network(draw(st.sampled_from(INSIDE_4)))
    address = IPv4Address(draw(st.ip_addresses(v=4, network=network)))
    number, count = int(address), draw(st.integers(1, 4))
    values = [number >> (8 * (3 - place)) & 255 for place in range(count - 1)] + [number & (256 ** (5 - count) - 1)]
    zeros = st.integers(0, 6).map(lambda n: "0" * n)
    parts = []
    for value in values:
        base = draw(st.sampled_from(["decimal", "octal", "hex", "HEX"]))
        parts.append({"decimal": str(value), "octal": f"0{draw(zeros)}{value:o}", "hex": f"0x{draw(zeros)}{value:x}", "HEX": f"0X{draw(zeros)}{value:X}"}[base])
    host = parts[0] + "".join(draw(st.sampled_from([".", "。", "．", "｡"])) + part for part in parts[1:]) + draw(st.sampled_from(["", "."]))
    changes = draw(st.lists(st.sampled_from(["no", "wide", "percent"]), min_size=len(host), max_size=len(host)))
    written = []
    for char, change in zip(host, changes, strict=True):
        wide = chr(ord(char) + 0xFEE0) if char.isascii() and char.isalnum() else char
        written.append({"no": char, "wide": wide, "percent": "".join(f"%{byte:02X}" for byte in char.encode())}[change])
    return address, "".join(written)


@given(spellings())
@settings(max_examples=300)
def test_every_spelling_of_an_inside_address_is_read_as_that_address(case: tuple[IPv4Address, str]) -> None:
    address, host = case
    try:
        target = read(f"http://{host}/x")
    except FetchError:
        pytest.fail(f"{host} was not read")

    assert target.address == address
    assert target.url.raw_host == str(address)
    assert why_blocked(target.address) is not None


@given(st.text(min_size=1, max_size=60))
@settings(max_examples=300)
def test_whatever_is_read_as_a_host_is_read_the_same_by_the_client(host: str) -> None:
    try:
        target = read(f"http://{host}/")
    except FetchError:
        return
    assert target.url.raw_host == target.host
    assert target.host.isascii()
    assert (target.url.user, target.url.port) == (None, target.port)
    assert read(str(target.url)) == target


@pytest.mark.parametrize(
    ("url", "host", "port", "requested"),
    [
        ("https://Example.COM", "example.com", 443, "https://example.com/"),
        (" https://example.com./a ", "example.com", 443, "https://example.com/a"),
        ("http://example.com:80/a?b=c#d", "example.com", 80, "http://example.com/a?b=c"),
        ("http://example.com:8080", "example.com", 8080, "http://example.com:8080/"),
        ("https://中文.com/搜索?q=天气", "xn--fiq228c.com", 443, "https://xn--fiq228c.com/%E6%90%9C%E7%B4%A2?q=%E5%A4%A9%E6%B0%94"),
        ("https://例え。jp/", "xn--r8jz45g.jp", 443, "https://xn--r8jz45g.jp/"),
        ("https://straße.de/", "xn--strae-oqa.de", 443, "https://xn--strae-oqa.de/"),
        ("https://a_b.example.com/%7Ex?u=%2F", "a_b.example.com", 443, "https://a_b.example.com/%7Ex?u=%2F"),
        ("https://[2606:4700:4700:0::1111]/", "2606:4700:4700::1111", 443, "https://[2606:4700:4700::1111]/"),
        ("http://134744072/", "8.8.8.8", 80, "http://8.8.8.8/"),
        ("http://ex%61mple.com/", "example.com", 80, "http://example.com/"),
    ],
)
def test_a_public_address_is_reduced_to_one_spelling(url: str, host: str, port: int, requested: str) -> None:
    target = read(url)

    assert (target.host, target.port, str(target.url)) == (host, port, requested)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("example.com/page", "has to begin with https"),
        ("https:///page", "no site in it"),
        ("https://exa mple.com", "blanks"),
        ("https://example.com/\npage", "line breaks"),
        ("https://example.com\\@x", "backslash"),
        ("https://-x-.com/", "not a valid one"),
        ("https://a..b/", "not a valid one"),
        (f"https://{'a' * 64}.com/", "not a valid one"),
        (f"https://{'a.' * 130}com/", "not a valid one"),
        ("https://☃.net/", "not a valid one"),
        ("https://4.5.6.7.8/", "not a valid one"),
        ("https://[::1::2]/", "IPv6|can be opened"),
        ("https://example.com:http/", "port"),
        (f"https://example.com/{'x' * 4000}", "longer than"),
    ],
)
def test_what_is_no_address_is_answered_with_what_to_change(url: str, words: str) -> None:
    with pytest.raises(BadUrl, match=words):
        read(url)


def test_a_redirect_is_read_relative_to_its_page_and_as_strictly() -> None:
    page = read("https://example.com/a/b?c")

    assert str(follow(page, "../d").url) == "https://example.com/d"
    assert str(follow(page, "//example.org/x").url) == "https://example.org/x"
    assert str(follow(page, "?e").url) == "https://example.com/a/b?e"
    assert str(follow(read("http://example.com/"), "https://example.com/").url) == "https://example.com/"
    with pytest.raises(Blocked, match="unprotected"):
        follow(page, "http://example.com/")
    for location in ("/a\tb", "\\\\example.org", "/x\r\n", "/a b"):
        with pytest.raises(BadUrl):
            follow(page, location)
    with pytest.raises(Blocked, match="Only http"):
        follow(page, "file:///etc/passwd")
