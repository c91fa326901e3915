"""What the store says about itself, asked once at start and by `steward doctor`.

The one setting that loses data without a word is an evicting `maxmemory-policy`: Redis then drops sessions to make room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redis.exceptions import RedisError, ResponseError

from memory.connect import connect

OLDEST: Final = (6, 2)
"""Of Redis; Valkey began at 7.2. Older ones lack what the scripts use."""


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """A reachable store: its kind and version, how it evicts (empty when it does not say), whether it writes an append-only file."""

    product: str
    version: str
    eviction: str
    appendonly: bool | None

    def complaints(self) -> list[str]:
        """What should be changed, each with its remedy; empty when all is well."""
        found = []
        if tuple(int(part) for part in self.version.split(".")[:2]) < OLDEST:
            found.append(f"{self.product} {self.version} is too old: use Redis {OLDEST[0]}.{OLDEST[1]} or later, or Valkey.")
        if self.eviction and self.eviction != "noeviction":
            found.append(f"maxmemory-policy is {self.eviction}, which drops sessions silently: set it to noeviction.")
        if self.appendonly is False:
            found.append("there is no append-only file, so a restart of the store loses sessions: set appendonly yes.")
        return found


async def inspect_store(url: str, *, within: float = 3.0) -> StoreHealth:
    """Ask the store at `url`, at most `within` seconds for each answer. Raises `OSError` or `redis.exceptions.RedisError` when it cannot be reached."""
    async with connect(url, timeout=within) as client:  # of a cluster, one node answers for all
        server = await client.info("server")
        try:
            said = await client.config_get("maxmemory-policy", "appendonly")
        except ResponseError:
            said = {}  # many hosted stores refuse CONFIG; INFO names the policy too, below
        policy = said.get("maxmemory-policy") or (await client.info("memory")).get("maxmemory_policy", "")
    product, version = ("Valkey", server["valkey_version"]) if "valkey_version" in server else ("Redis", server["redis_version"])
    appendonly = said.get("appendonly")
    return StoreHealth(product=product, version=str(version), eviction=str(policy), appendonly=None if appendonly is None else appendonly == "yes")


async def explain_store(url: str) -> tuple[StoreHealth | None, str]:
    """`inspect_store`, with the reason as text in place of an exception."""
    try:
        return await inspect_store(url), ""
    except (OSError, RedisError) as error:
        return None, str(error) or type(error).__name__
