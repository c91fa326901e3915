"""Connections to Redis: one to answer Slack with, in a hurry and without second tries, and one to work with.

The library's own defaults (ten retries, five seconds) turn a Redis that hangs into a Slack that has given up, and a
repeated command into a doubled one; every retry here is a decision of the caller. Plain servers, unix sockets, TLS,
Sentinel (`redis+sentinel://host:port,host:port/service/db`) and clusters (`redis+cluster://host:port`) are understood.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
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
        return master
    pool = BlockingConnectionPool.from_url(
        url, max_connections=connections, timeout=timeout, socket_timeout=timeout, socket_connect_timeout=timeout, retry=Retry(NoBackoff(), 0)
    )
    return Redis.from_pool(pool)
