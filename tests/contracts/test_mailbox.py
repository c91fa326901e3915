"""The mailbox against a real Valkey: what its scripts promise, one sentence at a time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from memory.connect import connect
from memory.keys import Thread
from memory.mailbox import MAIL_LIMIT, Claim, Delivery, Fenced, Mailbox, MailboxDown
from tests.fakes.valkey import Valkey

THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000001")


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture
async def mailbox(valkey: Valkey) -> AsyncIterator[Mailbox]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield Mailbox(client, lease=5.0)
    await client.aclose()


@pytest.fixture
async def short(valkey: Valkey, mailbox: Mailbox) -> AsyncIterator[Mailbox]:
    """The same mailbox with leases that are over at once."""
    client = connect(valkey.url, timeout=2.0)
    yield Mailbox(client, lease=0.05)
    await client.aclose()


async def claimed(mailbox: Mailbox, thread: Thread = THREAD) -> Claim:
    claim = await mailbox.claim(thread.shard)
    assert claim is not None
    return claim


async def test_what_is_delivered_is_claimed_in_order(mailbox: Mailbox) -> None:
    for i in range(3):
        assert await mailbox.deliver(THREAD, f"k{i}", b"%d" % i) is Delivery.STORED

    claim = await claimed(mailbox)

    assert claim.thread == THREAD
    assert claim.mail == [b"0", b"1", b"2"]


async def test_the_same_event_is_stored_once(mailbox: Mailbox) -> None:
    results = [r for _ in range(4) for r in await asyncio.gather(*(mailbox.deliver(THREAD, "same", b"x") for _ in range(50)))]

    assert results.count(Delivery.STORED) == 1
    assert results.count(Delivery.DUPLICATE) == 199
    assert (await claimed(mailbox)).mail == [b"x"]


async def test_a_refused_event_leaves_no_mark_that_could_hide_its_twin(mailbox: Mailbox) -> None:
    assert await mailbox.deliver(THREAD, "k", b"unaddressed", only_if_followed=True) is Delivery.NOT_FOLLOWED
    assert await mailbox.deliver(THREAD, "k", b"mention") is Delivery.STORED


async def test_one_session_has_one_worker(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    await claimed(mailbox)
    await mailbox.deliver(THREAD, "b", b"b")

    assert await mailbox.claim(THREAD.shard) is None


async def test_mail_that_came_during_the_work_is_handed_out_by_the_commit(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    claim = await claimed(mailbox)
    await mailbox.deliver(THREAD, "b", b"b")
    claim.taken = 1

    await mailbox.commit(claim, b"{}")

    assert claim.mail == [b"b"]


async def test_mail_left_at_release_makes_the_session_due_again(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    claim = await claimed(mailbox)
    await mailbox.deliver(THREAD, "b", b"b")
    claim.taken = 1
    await mailbox.commit(claim, b"{}", release=True)

    assert (await claimed(mailbox)).mail == [b"b"]


async def test_an_old_epoch_can_neither_commit_nor_renew(short: Mailbox, mailbox: Mailbox) -> None:
    await short.deliver(THREAD, "a", b"a")
    old = await claimed(short)
    await asyncio.sleep(0.08)
    new = await claimed(mailbox)

    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await short.commit(old, b"old")
    with pytest.raises(Fenced):
        await short.renew(old)
    assert await mailbox.read_document(THREAD) == b""


async def test_a_lease_that_ran_out_gives_the_session_and_its_mail_to_the_next(short: Mailbox, mailbox: Mailbox) -> None:
    await short.deliver(THREAD, "a", b"a")
    await claimed(short)
    await asyncio.sleep(0.08)

    claim = await claimed(mailbox)

    assert claim.mail == [b"a"]
    assert claim.attempts == 2


async def test_a_repeated_commit_changes_nothing_more(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    await mailbox.deliver(THREAD, "b", b"b")
    claim = await claimed(mailbox)
    claim.taken = 1
    again = Claim(claim.thread, claim.epoch, claim.attempts, claim.consumed, b"", [], claim.deadline, taken=1)

    await mailbox.commit(claim, b"doc", log_base=0, items=[b"one", b"two"])
    await mailbox.commit(again, b"doc", log_base=0, items=[b"one", b"two"])

    assert await mailbox.read_log(THREAD, (0, 10)) == [(0, b"one"), (1, b"two")]
    assert claim.mail == again.mail == [b"b"]


async def test_the_transcript_is_appended_and_read_in_part(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"d", log_base=0, items=[b"1", b"2"])
    await mailbox.commit(claim, b"d", log_base=2, items=[b"3"])

    assert await mailbox.read_log(THREAD, (1, 3)) == [(1, b"2"), (2, b"3")]


async def test_a_session_wakes_when_it_asked_to(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    claim = await claimed(mailbox)
    claim.taken = 1
    await mailbox.commit(claim, b"d", release=True, wake=2_000_000_000.0)
    assert await mailbox.claim(THREAD.shard) is None

    await mailbox.deliver(THREAD, "b", b"b")

    assert (await claimed(mailbox)).document == b"d"


async def test_attempts_count_until_there_is_progress(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    for expected in (1, 2, 3):
        claim = await claimed(mailbox)
        assert claim.attempts == expected
        await mailbox.begin(claim)
        await mailbox.commit(claim, None, progress=False, release=True, wake=0.0)
    claim = await claimed(mailbox)
    await mailbox.commit(claim, b"d", progress=True, release=True, wake=0.0)

    assert (await claimed(mailbox)).attempts == 1


async def test_an_attempt_whose_work_never_began_is_not_counted_twice(short: Mailbox, mailbox: Mailbox) -> None:
    await short.deliver(THREAD, "a", b"a")
    for expected in (1, 2, 2, 2):
        assert (await claimed(short)).attempts == expected
        await asyncio.sleep(0.08)  # its holder ends without a word


async def test_who_goes_on_after_progress_is_the_first_to_try_the_next_step(short: Mailbox, mailbox: Mailbox) -> None:
    await short.deliver(THREAD, "a", b"a")
    claim = await claimed(short)
    claim.taken = 1
    await short.commit(claim, b"d")
    await asyncio.sleep(0.08)

    assert (await claimed(mailbox)).attempts == 2


async def test_what_is_given_back_unchanged_rests_although_its_mail_is_unread(mailbox: Mailbox) -> None:
    await mailbox.deliver(THREAD, "a", b"a")
    claim = await claimed(mailbox)

    await mailbox.commit(claim, None, progress=False, release=True, wake=2_000_000_000.0)

    assert await mailbox.claim(THREAD.shard) is None
    await mailbox.deliver(THREAD, "b", b"b")
    assert (await claimed(mailbox)).mail == [b"a", b"b"]


async def test_a_parked_mail_is_out_of_the_way_and_the_others_stay(mailbox: Mailbox) -> None:
    for payload in (b"a", b"bad", b"c"):
        await mailbox.deliver(THREAD, payload.decode(), payload)
    claim = await claimed(mailbox)

    await mailbox.park(claim, b"bad")

    assert claim.mail == await mailbox.unread(claim) == [b"a", b"c"]


async def test_a_full_mailbox_refuses_without_marking(mailbox: Mailbox) -> None:
    for i in range(0, MAIL_LIMIT, 50):
        await asyncio.gather(*(mailbox.deliver(THREAD, f"k{i + j}", b"x") for j in range(50)))

    assert await mailbox.deliver(THREAD, "late", b"x") is Delivery.FULL

    claim = await claimed(mailbox)
    claim.taken = len(claim.mail)
    await mailbox.commit(claim, b"d")
    assert await mailbox.deliver(THREAD, "late", b"x") is Delivery.STORED


async def test_installations_on_one_redis_do_not_meet(valkey: Valkey, mailbox: Mailbox) -> None:
    client = connect(valkey.url, timeout=2.0)
    other = Mailbox(client, space="T2")
    await mailbox.deliver(THREAD, "a", b"a")

    assert await other.claim(THREAD.shard) is None
    await client.aclose()


async def test_a_delivery_is_announced_to_whoever_listens(mailbox: Mailbox) -> None:
    wakes = mailbox.wakes()
    first = asyncio.create_task(wakes.__anext__())
    while not first.done():
        await mailbox.deliver(THREAD, f"k{id(first)}{asyncio.get_running_loop().time()}", b"a")
        claim = await mailbox.claim(THREAD.shard)
        if claim is not None:
            claim.taken = len(claim.mail)
            await mailbox.commit(claim, b"d", release=True)
        await asyncio.sleep(0.01)

    assert await first == THREAD.shard
    await wakes.aclose()


async def test_a_redis_that_is_gone_is_said_to_be_down_quickly() -> None:
    client = connect("redis://127.0.0.1:1/0", timeout=0.5)
    with pytest.raises(MailboxDown):
        await Mailbox(client).deliver(THREAD, "a", b"a")
    await client.aclose()


async def test_a_store_out_of_memory_refuses_the_event_instead_of_losing_it(valkey: Valkey, mailbox: Mailbox) -> None:
    valkey.command("CONFIG", "SET", "maxmemory", "1")
    try:
        with pytest.raises(MailboxDown):
            await mailbox.deliver(THREAD, "a", b"a")
    finally:
        valkey.command("CONFIG", "SET", "maxmemory", "0")
    assert await mailbox.deliver(THREAD, "a", b"a") is Delivery.STORED


async def test_the_scripts_work_on_a_cluster() -> None:
    """Keys of one script share a hash tag; a cluster refuses a script that does not."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        port, bus = one.getsockname()[1], two.getsockname()[1]
    server = Valkey("--cluster-enabled", "yes", "--port", str(port), "--cluster-port", str(bus), "--bind", "127.0.0.1")
    client = None
    try:
        server.command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while b"cluster_state:ok" not in bytes(server.command("CLUSTER", "INFO")):  # type: ignore[call-overload]
            await asyncio.sleep(0.01)
        client = connect(f"redis+cluster://127.0.0.1:{port}", timeout=2.0)
        mailbox = Mailbox(client)
        for n in range(40):
            thread = Thread(team_id="T1", channel_id=f"C{n}", thread_ts="1.1")
            assert await mailbox.deliver(thread, "k", b"mail") is Delivery.STORED
            claim = await claimed(mailbox, thread)
            claim.taken = 1
            await mailbox.renew(claim)
            await mailbox.commit(claim, b"doc", items=[b"item"], release=True)
            assert await mailbox.read_log(thread, (0, 9)) == [(0, b"item")]
    finally:
        if client is not None:
            await client.aclose()
        server.close()
