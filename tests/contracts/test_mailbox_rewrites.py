"""Items of a transcript are replaced where they stand, in the same commit as everything else, however often it is repeated."""

from __future__ import annotations

import pytest

from memory.keys import Thread
from memory.mailbox import Claim, Fenced, Mailbox
from tests.fakes.valkey import Valkey

THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


async def claimed(mailbox: Mailbox, key: str = "k") -> Claim:
    await mailbox.deliver(THREAD, key, b"mail")
    claim = await mailbox.claim(THREAD.shard)
    assert claim is not None
    claim.taken = len(claim.mail)
    return claim


def only(valkey: Valkey, pattern: str) -> str:
    """The one key of this form."""
    found = valkey.command("KEYS", pattern)
    assert isinstance(found, list)
    [key] = found
    return key.decode() if isinstance(key, bytes) else str(key)


def items(*numbers: int) -> list[bytes]:
    return [b"item %d" % number for number in numbers]


async def read(mailbox: Mailbox) -> list[tuple[int, bytes]]:
    return await mailbox.read_log(THREAD, (0, 99))


async def test_items_are_replaced_in_place_and_the_others_stay(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(5)))
    for _ in range(2):  # as after an answer that was lost
        await mailbox.commit(claim, b"{}", log_base=5, rewrites={1: b"one", 4: b"four"})
    assert await read(mailbox) == [(0, b"item 0"), (1, b"one"), (2, b"item 2"), (3, b"item 3"), (4, b"four")]


async def test_replacing_appending_and_letting_go_go_together_and_only_once(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(5)))
    for _ in range(3):
        await mailbox.commit(
            claim, b"{}", log_base=5, items=items(5, 6), log_start=2, rewrites={0: b"zero", 3: b"three"}, memory=b"remembered", index={7: b"found"}
        )
    assert await read(mailbox) == [(2, b"item 2"), (3, b"three"), (4, b"item 4"), (5, b"item 5"), (6, b"item 6")]
    assert await mailbox.read_memory(THREAD) == b"remembered"
    assert await mailbox.read_index(THREAD, [7]) == {7: b"found"}


async def test_positions_that_are_not_there_are_passed_over(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(4)))
    await mailbox.commit(claim, b"{}", log_base=4, log_start=2)
    await mailbox.commit(claim, b"{}", log_base=4, rewrites={0: b"gone", 1: b"gone", 2: b"two", 9: b"never"})
    assert await read(mailbox) == [(2, b"two"), (3, b"item 3")]


async def test_a_transcript_the_store_has_lost_is_not_written_into(mailbox: Mailbox, valkey: Valkey) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(4)))
    log = only(valkey, "*log:*")
    valkey.command("DEL", log)
    await mailbox.commit(claim, b"{}", log_base=4, items=items(4), rewrites={1: b"one"})
    assert await read(mailbox) == [(4, b"item 4")]


async def test_bytes_of_any_kind_and_many_at_once_are_written(mailbox: Mailbox) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(*range(1_500)))
    await mailbox.commit(claim, b"{}", log_base=1_500, rewrites={n: bytes([0, 255, n % 256]) for n in range(1_500)})
    assert await mailbox.read_log(THREAD, (1_498, 1_500)) == [(n, bytes([0, 255, n % 256])) for n in (1_498, 1_499)]


async def test_who_has_lost_the_session_replaces_nothing(mailbox: Mailbox, valkey: Valkey) -> None:
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"{}", log_base=0, items=items(0))
    meta = only(valkey, "*meta:*")
    valkey.command("HINCRBY", meta, "epoch", "1")
    with pytest.raises(Fenced):
        await mailbox.commit(claim, b"{}", log_base=1, rewrites={0: b"stolen"})
    assert await read(mailbox) == [(0, b"item 0")]
