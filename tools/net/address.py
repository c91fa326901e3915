"""Which IP addresses are outside: the judgement every connection depends on, from tables and not from guesses.

`ipaddress.is_global` is not enough. It calls global: multicast (224.0.0.1, ff0e::1), the transition forms that carry an
inner IPv4 address (6to4 `2002:7f00:1::`, NAT64 `64:ff9b::7f00:1`, IPv4-compatible `::127.0.0.1`, ISATAP), site-local
`fec0::/10`, everything IANA never gave out (`4000::1`), and the public-looking addresses on which clouds answer their own
machines (168.63.129.16). And what it answers changes between releases of Python. So: IPv4 is outside unless a table lists
it; IPv6 is outside only within 2000::/3 and unless a table lists it; a form that carries IPv4 is judged by what it carries.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

_V4: Final[dict[IPv4Network, str]] = {
    IPv4Network(network): kind
    for network, kind in {
        "0.0.0.0/8": "unspecified",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "carrier-grade NAT",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud platform",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "reserved",
        "192.52.193.0/24": "reserved",
        "192.88.99.0/24": "reserved",
        "192.168.0.0/16": "private",
        "192.175.48.0/24": "reserved",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}
_V6: Final[dict[IPv6Network, str]] = {
    IPv6Network(network): kind
    for network, kind in {
        "::/128": "unspecified",
        "::1/128": "loopback",
        "64:ff9b:1::/48": "local NAT64",
        "100::/64": "reserved",
        "2001::/32": "Teredo",
        "2001::/23": "reserved",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "reserved",
        "3fff::/20": "documentation",
        "5f00::/16": "reserved",
        "fc00::/7": "private",
        "fe80::/10": "link-local",
        "fec0::/10": "site-local",
        "ff00::/8": "multicast",
    }.items()
}
_GIVEN_OUT: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_CARRIERS: Final = (IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"))
"""IPv4-compatible and IPv4-translated: long dead forms, refused whatever they carry."""
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})


def plain(address: IPAddress) -> IPAddress:
    """The address that a connection to `address` really reaches: an IPv4-mapped one is its IPv4."""
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def parse(text: str) -> IPAddress | None:
    """The address written as `text` by a name server or a socket; None when it is none. A zone (`%eth0`) makes it none."""
    try:
        return None if "%" in text else plain(ip_address(text))
    except ValueError:
        return None


def why_blocked(address: IPAddress) -> str | None:
    """In a word or two, why `address` must not be opened; None when it is on the public internet."""
    address = plain(address)
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _V4.items() if address in network), None)
    listed = next((kind for network, kind in _V6.items() if address in network), None)
    if listed is not None:
        return listed
    if address in _NAT64:  # where DNS64 runs, every IPv4 site looks like this
        return why_blocked(IPv4Address(int(address) & 0xFFFF_FFFF))
    if any(address in network for network in _CARRIERS):
        return "embedded IPv4"
    if address not in _GIVEN_OUT:
        return "not assigned"
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return why_blocked(IPv4Address(int(address) & 0xFFFF_FFFF))
    return None
