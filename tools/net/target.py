"""Reading a URL once, strictly, into what will be connected to: no second reader may understand it otherwise.

Most ways around a gate are a disagreement between two parsers. So whatever browsers and libraries read differently (control
characters, backslashes, a sign-in before the host, zones) is refused; the host is reduced to one spelling, and every
spelling of an IPv4 address that the C library or a browser would take (decimal, hexadecimal, octal, short, full-width) becomes
that address; and the URL made from the parts must be read the same way by the client that uses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Literal
from urllib.parse import SplitResult, quote, unquote_to_bytes, urljoin, urlsplit

import idna
from yarl import URL

from tools.net.address import IPAddress, plain
from tools.net.errors import BadUrl, Blocked

MAX_LENGTH: Final = 4000
"""Characters of a URL."""

_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_KEPT = "%/:@!$&'()*+,;=~[]|"
_PORTS = {"http": 80, "https": 443}
_INSIDE = ("localhost", "local", "localdomain", "internal", "intranet", "home.arpa", "lan", "home", "corp", "private", "onion", "invalid")
"""Names that mean something only within a house or a machine."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where one request goes."""

    scheme: Literal["http", "https"]
    host: str
    """In ASCII, lower case, without a trailing dot; an address in its usual spelling, without brackets."""
    address: IPAddress | None
    """When the host is an address and not a name."""
    port: int
    url: URL
    """As it is requested, without a fragment."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """What two pages of one site share."""
        return self.scheme, self.host, self.port


def read(text: str) -> Target:
    """The target of a URL as a person or a model wrote it. Raises `BadUrl`, or `Blocked` for what must not be opened."""
    text = text.strip(" ")
    if len(text) > MAX_LENGTH:
        raise BadUrl(f"The address is longer than {MAX_LENGTH:,} characters.")
    if _CONTROL.search(text):
        raise BadUrl("The address contains blanks, line breaks or invisible characters; write them as %20 and so on, or leave them out.")
    if "\\" in text:
        raise BadUrl("The address contains a backslash; write / instead.")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadUrl("This is not an address that can be opened.") from error
    scheme = parts.scheme
    if scheme not in _PORTS:
        if scheme and "." not in scheme:  # "example.com:80/page" is not of a protocol called example.com
            raise Blocked("scheme", "Only http and https addresses can be opened.")
        raise BadUrl("This is not a complete web address; it has to begin with https:// or http://.")
    if not parts.netloc:
        raise BadUrl("The address has no site in it; write it like https://example.com/page.")
    if "@" in parts.netloc:
        raise Blocked("sign-in", "The address carries a user name or hides its real site behind an @; that is not opened.")
    written, port = _host_and_port(parts.netloc, _PORTS[scheme])
    host, address = _host(written)
    return Target("https" if scheme == "https" else "http", host, address, port, _url(parts, host, port))


def follow(target: Target, location: str) -> Target:
    """Where a redirect to `location` leads from `target`. Raises as `read` does, and `Blocked` for the way from https to http."""
    # urljoin drops tabs and line breaks silently, so what is read strictly must be the header as it came.
    if _CONTROL.search(location.strip(" ")) or "\\" in location:
        raise BadUrl("The site sends one on to an address that cannot be read.")
    try:
        joined = urljoin(str(target.url), location.strip(" "))
    except ValueError as error:
        raise BadUrl("The site sends one on to an address that cannot be read.") from error
    reached = read(joined)
    if target.scheme == "https" and reached.scheme == "http":
        raise Blocked("downgrade", "The page sends one on from a protected (https) to an unprotected (http) address; that is not followed.")
    return reached


def _host_and_port(netloc: str, default: int) -> tuple[str, int]:
    host, colon, port = netloc.rpartition(":")
    if not colon or port.endswith("]"):
        return netloc, default
    if not port:
        return host, default
    if not (port.isascii() and port.isdigit()) or len(port) > 5 or not 0 < int(port) < 65536:
        raise BadUrl("The port in the address is not a number from 1 to 65535.")
    return host, int(port)


def _host(written: str) -> tuple[str, IPAddress | None]:
    if written.startswith("[") or written.endswith("]") or ":" in written:
        address = _ipv6(written)
        return str(address), address
    name = _ascii(_unescaped(written)).removesuffix(".")
    if not name:
        raise BadUrl("The address has no site in it; write it like https://example.com/page.")
    labels = name.split(".")
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):  # so the URL standard tells numbers from names
        number = _ipv4(labels)
        return str(number), number
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadUrl("The name of the site in the address is not a valid one.")
    if len(labels) == 1 or any(name == inside or name.endswith(f".{inside}") for inside in _INSIDE):
        raise Blocked("inside name", "The name in the address belongs to an inside network or to this machine; only public sites can be opened.")
    return name, None


def _unescaped(host: str) -> str:
    if "%" not in host:
        return host
    try:
        plain_text = unquote_to_bytes(host).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadUrl("The name of the site in the address is not a valid one.") from error
    if re.search(r"[\x00-\x20\x7f-\xa0%/\\@:?#\[\]]", plain_text):
        raise BadUrl("The name of the site in the address is not a valid one.")
    return plain_text


def _ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name, uts46=True, std3_rules=True).decode("ascii").lower()
    except (idna.IDNAError, UnicodeError) as error:
        raise BadUrl("The name of the site in the address is not a valid one.") from error


def _ipv6(written: str) -> IPAddress:
    if "%" in written:
        raise Blocked("zone", "The address names a network interface (a zone); only public sites can be opened.")
    if not (written.startswith("[") and written.endswith("]")):
        raise BadUrl("The name of the site in the address is not a valid one.")
    try:
        return plain(IPv6Address(written[1:-1]))
    except ValueError as error:
        raise BadUrl("The IPv6 address of the site is not a valid one.") from error


def _ipv4(labels: list[str]) -> IPv4Address:
    """One to four numbers in any base, the last filling what is left, as `inet_aton` and browsers read them."""
    numbers = [_number(label) for label in labels]
    *first, last = numbers
    if None in numbers or len(numbers) > 4 or any(part > 255 for part in first if part is not None) or (last or 0) >= 256 ** (4 - len(first)):
        raise BadUrl("The site in the address looks like an IP address, but is not a valid one.")
    return IPv4Address(sum((part or 0) << (8 * (3 - place)) for place, part in enumerate(first)) + (last or 0))


def _number(label: str) -> int | None:
    if re.fullmatch(r"0x[0-9a-f]{0,40}", label):
        return int(label[2:] or "0", 16)
    if re.fullmatch(r"0[0-7]{1,40}", label):
        return int(label, 8)
    return int(label) if re.fullmatch(r"0|[1-9][0-9]{0,40}", label) else None


def _url(parts: SplitResult, host: str, port: int) -> URL:
    netloc = f"[{host}]" if ":" in host else host
    if port != _PORTS[parts.scheme]:
        netloc = f"{netloc}:{port}"
    try:
        # What is escaped already stays as it is, for a signature over the address would no longer fit another spelling.
        path = quote(parts.path or "/", safe=_KEPT)
        query = f"?{quote(parts.query, safe=_KEPT + '/?')}" if parts.query else ""
        made = URL(f"{parts.scheme}://{netloc}{path}{query}", encoded=True)
    except ValueError as error:
        raise BadUrl("This is not an address that can be opened.") from error
    if made.raw_host != host or made.port != port or made.scheme != parts.scheme or made.user is not None:
        raise BadUrl("This is not an address that can be opened.")
    return made
