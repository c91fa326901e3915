"""Deleting everything a workspace has left in Redis, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from memory.connect import connect
from memory.erasure import erase_space
from memory.keys import Actor, Keys
from memory.mailbox import MailboxDown
from tests.fakes.valkey import Valkey


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[Redis]:
    valkey.command("FLUSHALL")
    found = connect(valkey.url, timeout=2.0)
    assert isinstance(found, Redis)
    yield found
    await found.aclose()


def keys_of(space: str) -> list[str]:
    keys, actor = Keys(space), Actor(team_id=space, user_id="U1")
    return [keys.recalled(actor), keys.decisions(actor), keys.forgotten, keys.owner_lock(f"{space}:person:U1"), f"{keys.base(3)}doc:x", f"{keys.tools}value:x"]


async def left(client: Redis) -> set[str]:
    return {key.decode() if isinstance(key, bytes) else key for key in await client.keys("*")}


@pytest.mark.parametrize("space", ["T1", "T*", "T?", "T[12]", "T\\1", "*"], ids=["plain", "star", "question", "set", "backslash", "only a star"])
async def test_a_workspace_loses_every_key_and_no_other_one_any(client: Redis, space: str) -> None:
    others = [*keys_of("T12"), *keys_of("T"), *keys_of("T2"), *keys_of("T11"), *keys_of(""), "another-program:T1:x"]
    if space != "T1":
        others += keys_of("T1")
    for key in (*others, *keys_of(space)):
        await client.set(key, b"x")
    assert await erase_space(client, space) == len(keys_of(space))
    assert await left(client) == set(others)
    assert await erase_space(client, space) == 0


async def test_more_than_one_batch_goes(client: Redis) -> None:
    await client.mset({f"steward:T1:{{s1}}:doc:{n}": b"x" for n in range(3_000)})
    assert await erase_space(client, "T1") == 3_000
    assert await left(client) == set()


async def test_without_a_workspace_nothing_is_deleted(client: Redis) -> None:
    await client.set("steward:T1:x", b"x")
    with pytest.raises(ValueError, match="whose"):
        await erase_space(client, "")
    assert await left(client) == {"steward:T1:x"}


async def test_a_store_that_is_away_is_said_to_be() -> None:
    away = connect("redis://127.0.0.1:1", timeout=0.1)
    with pytest.raises(MailboxDown):
        await erase_space(away, "T1")
    await away.aclose()
