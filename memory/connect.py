"""Connections to Redis: one to answer Slack with, in a hurry and without second tries, and one to work with.

The library's own defaults (ten retries, five seconds) turn a Redis that hangs into a Slack that has given up, and a
repeated command into a doubled one; every retry here is a decision of the caller. Plain servers, unix sockets, TLS,
Sentinel (`redis+sentinel://host:port,host:port/service/db`) and clusters (`redis+cluster://host:port`) are understood.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

HURRY = 1.0
"""Seconds the edge gives Redis for one answer."""
PATIENCE = 5.0
"""Seconds a worker gives it."""


def connect(url: str, *, timeout: float, connections: int = 64) -> Redis | RedisCluster:
    """A client for `url` that answers or fails within `timeout` seconds and never retries. Raises `ValueError` for an address it does not understand."""
    parts = urlsplit(url)
    if parts.scheme in {"redis+cluster", "rediss+cluster"}:
        plain = url.replace("+cluster", "", 1)
        return RedisCluster.from_url(plain, socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0))
    if parts.scheme == "redis+sentinel":
        addresses = [address.rpartition("@")[2].rpartition(":") for address in parts.netloc.split(",")]
        service, _, database = parts.path.strip("/").partition("/")
        sentinel = Sentinel([(host, int(port)) for host, _, port in addresses], socket_timeout=timeout)  # type: ignore[no-untyped-call]
        master: Redis = sentinel.master_for(
            service, db=int(database or 0), username=parts.username, password=parts.password, socket_timeout=timeout, retry=Retry(NoBackoff(), 0)
        )
        _make_cancellable(master.connection_pool)
        return master
    pool = BlockingConnectionPool.from_url(
        url, max_connections=connections, timeout=timeout, socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0)
    )
    _make_cancellable(pool)
    return Redis.from_pool(pool)


class _Cancellable:
    """A connection that is no longer used once whoever uses it was cancelled, and tells them so.

    The library writes under `asyncio.wait_for`, which up to Python 3.11 keeps a cancellation for itself that comes when the write is just done:
    the task would then run on as if nobody had ended it.
    """

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:  # noqa: FBT001, FBT002 - the library's own signature
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        await super().send_packed_command(command, check_health)  # type: ignore[misc] # the connection it is mixed into
        if task is not None and task.cancelling() > before:
            await self.disconnect(nowait=True)  # type: ignore[attr-defined] # nobody would read the answer
            raise asyncio.CancelledError


def _make_cancellable(pool: ConnectionPool) -> None:
    base = pool.connection_class
    pool.connection_class = type(f"Cancellable{base.__name__}", (_Cancellable, base), {})
