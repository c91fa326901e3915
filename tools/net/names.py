"""Asking the system's name servers, once per request and with every answer judged, before anything is connected to.

The addresses found here are the only ones a connection may then use, so a name server that answers differently the next
time (rebinding) changes nothing. Look-ups run in a lane of their own: a name server that hangs holds up look-ups, and nothing else.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from tools.net.errors import NameNotFound, Unreachable
from tools.threads import beside

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""From a host name to its addresses as text, IPv4 and IPv6 mixed. Raises `NameNotFound` or `Unreachable`."""

MAX_ADDRESSES: Final = 64
"""Answers of one name that are looked at; a name with more is refused."""

AT_ONCE: Final = 8
"""Look-ups that run at the same time; more wait for their turn within the time-out of whoever asked."""

_NO_SUCH_NAME: Final = {getattr(socket, name) for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)}


async def ask_system(host: str) -> Sequence[str]:
    """The addresses of `host` as the machine's resolver knows them, never completed with a search domain."""
    try:
        # The dot makes the name absolute: "redis.svc" must not become "redis.svc.cluster.local".
        found = await beside("names", lambda: socket.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM), width=AT_ONCE)
    except socket.gaierror as error:
        if error.errno in _NO_SUCH_NAME:
            raise NameNotFound("There is no site of that name. The address may be misspelled.") from error
        raise Unreachable("The name of the site could not be looked up at the moment.") from error
    except UnicodeError as error:
        raise NameNotFound("There is no site of that name. The address may be misspelled.") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
