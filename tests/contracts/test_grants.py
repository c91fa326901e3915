"""The store of standing permissions against a real Valkey: kept once, found by person and channel, gone when revoked or over."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from time import time
from typing import Any

import pytest

from bot.permissions import Permissions, Revoke
from memory.connect import connect
from memory.grant import Grant, Used
from memory.grants import MAX_GRANTS, Grants, GrantsDown
from memory.keys import Actor
from tests.fakes.valkey import Valkey

ALICE, BRUNO = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
async def grants(valkey: Valkey) -> AsyncIterator[Grants]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield Grants(client, space="T1")
    await client.aclose()


def grant(name: str = "g1", actor: Actor = ALICE, channel: str = "C1", **changes: Any) -> Grant:
    values: dict[str, Any] = {"tool": "book_room", "tool_digest": "d", "pattern": {"room": "Oak"}, "created_at": time(), "expires_at": time() + 600}
    return Grant(id=name, actor=actor, channel_id=channel, **(values | changes))


async def test_a_grant_is_found_by_its_person_and_channel_and_by_nobody_else(grants: Grants) -> None:
    one = grant()
    assert await grants.put(one)

    assert await grants.find(ALICE, "C1") == [one]
    assert await grants.find(ALICE, "C2") == []
    assert await grants.find(BRUNO, "C1") == []
    assert await grants.find(Actor(team_id="T2", user_id="U1"), "C1") == []
    assert await grants.list(BRUNO) == []


async def test_another_workspace_in_the_same_store_sees_nothing(valkey: Valkey, grants: Grants) -> None:
    await grants.put(grant())
    client = connect(valkey.url, timeout=2.0)

    assert await Grants(client, space="T2").list(ALICE) == []
    await client.aclose()


async def test_putting_it_again_changes_nothing(grants: Grants) -> None:
    first = grant()
    for document in (first, first.model_copy(update={"pattern": {}})):
        assert await grants.put(document)

    assert await grants.find(ALICE, "C1") == [first]


async def test_the_list_is_newest_first_and_counts_the_uses(grants: Grants) -> None:
    old, new = grant("old", created_at=1.0), grant("new", channel="C2", created_at=2.0)
    await grants.put(new)
    await grants.put(old)
    before = time()
    for _ in range(3):
        await grants.count_use(old)

    (first, unused), (second, used) = await grants.list(ALICE)

    assert (first, unused) == (new, Used())
    assert (second, used.times) == (old, 3)
    assert before - 1 <= used.last <= time() + 1


async def test_what_is_revoked_is_gone_and_cannot_come_back(grants: Grants) -> None:
    one, other = grant(), grant("g2")
    await grants.put(one)
    await grants.put(other)
    await grants.count_use(one)

    assert await grants.revoke(ALICE, "g1")

    assert await grants.find(ALICE, "C1") == [other]
    assert await grants.revoke(ALICE, "g1") is False
    assert await grants.put(one)  # the call that brought it is carried out again after a crash
    assert await grants.find(ALICE, "C1") == [other]


@pytest.mark.parametrize("name", ["", "index", "used:g1", "revoked:g1", "x" * 201, "g2", "中文"])
async def test_revoking_what_is_no_grant_of_theirs_changes_nothing(grants: Grants, name: str) -> None:
    one = grant()
    await grants.put(one)
    await grants.count_use(one)

    assert await grants.revoke(ALICE, name) is False
    assert await grants.revoke(BRUNO, "g1") is False

    [(found, used)] = await grants.list(ALICE)
    assert (found, used.times) == (one, 1)


async def test_a_grant_that_is_over_is_not_found_and_leaves_nothing_behind(valkey: Valkey, grants: Grants) -> None:
    short = grant(expires_at=time() + 0.3)
    await grants.put(short)
    await grants.count_use(short)
    async with asyncio.timeout(10):
        while valkey.command("KEYS", "*{grants:*"):
            await asyncio.sleep(0.02)

    assert await grants.find(ALICE, "C1") == []
    assert await grants.put(grant("past", expires_at=time() - 1))
    assert await grants.list(ALICE) == []


async def test_a_clock_ahead_of_the_stores_ends_a_grant_too(valkey: Valkey, grants: Grants) -> None:
    await grants.put(grant())
    client = connect(valkey.url, timeout=2.0)

    assert await Grants(client, space="T1", clock=lambda: time() + 601).find(ALICE, "C1") == []
    await client.aclose()


async def test_one_person_may_have_so_many_and_no_more(grants: Grants) -> None:
    kept = await asyncio.gather(*(grants.put(grant(f"g{n}", channel=f"C{n % 3}")) for n in range(MAX_GRANTS + 5)))

    assert kept.count(True) == MAX_GRANTS
    assert len(await grants.list(ALICE)) == await grants.count(ALICE) == MAX_GRANTS
    assert await grants.put(grant("b1", BRUNO))
    first = (await grants.list(ALICE))[0][0]
    assert await grants.revoke(ALICE, first.id)
    assert await grants.put(grant("again"))


async def test_all_keys_of_a_person_share_a_slot(valkey: Valkey, grants: Grants) -> None:
    one = grant()
    await grants.put(one)
    await grants.put(grant("g2"))
    await grants.count_use(one)
    await grants.revoke(ALICE, "g2")

    keys = valkey.command("KEYS", "*")
    assert isinstance(keys, list)
    assert len(keys) == 5  # the index, the grant, how often and when it was used, the mark of the revoked one
    assert all("{grants:T1:U1}" in (key.decode() if isinstance(key, bytes) else str(key)) for key in keys)


async def test_what_another_version_wrote_allows_nothing(valkey: Valkey, grants: Grants) -> None:
    one = grant()
    await grants.put(one)
    valkey.command("SET", "steward:T1:{grants:T1:U1}:g1", one.model_dump_json()[:-1] + ',"only_if":"x"}')

    assert await grants.find(ALICE, "C1") == []
    assert await grants.revoke(ALICE, "g1")


async def test_a_store_that_does_not_answer_is_an_error_of_its_own() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        client = connect(f"redis://127.0.0.1:{deaf.getsockname()[1]}", timeout=0.3)
        down = Grants(client)
        for request in (down.find(ALICE, "C1"), down.list(ALICE), down.put(grant()), down.revoke(ALICE, "g1"), down.count_use(grant())):
            with pytest.raises(GrantsDown):
                await request
        await client.aclose()


async def test_a_person_is_told_when_their_permissions_cannot_be_looked_up() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        client = connect(f"redis://127.0.0.1:{deaf.getsockname()[1]}", timeout=0.3)
        desk = Permissions(Grants(client))
        answers = [await desk.command(ALICE, words, "en") for words in (["grants"], ["revoke", "g1"], ["revoke", "all"])]
        answers.append(await desk.clicked(Revoke("g1", ALICE, "C1", "", ""), "en"))
        await client.aclose()

    assert [answer.text.split(",")[0] for answer in answers] == ["My store does not answer"] * 4
    assert "I go on asking before every change" in answers[0].text
