"""What the embedded engine promises about its files: durable at once, nobody else's, and without a trace of what was deleted once it is scrubbed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from memory.longterm.collection import Quantization, Tuning
from memory.longterm.edge import COPIED, EdgeStore
from memory.longterm.edge_process import Shards
from memory.longterm.edge_shard import Shard, config, create
from memory.longterm.store import StoreDown, StoreError, Where
from tests.fakes.stores import edge, one_id, person, record, texts, vector

ANN, BEN = person("U1"), person("U2")
CANARY = "canary-7f3a 金丝雀不应留下"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    it = edge(tmp_path / "store", shards=1)
    await it.start()
    yield it
    await it.close()


async def again(store: EdgeStore) -> EdgeStore:
    """The same store in a new object, as after a new start of the program."""
    await store.close()
    fresh = edge(store.home, shards=1)
    await fresh.start()
    return fresh


async def crash(store: EdgeStore) -> None:
    """End the engine's process as a crash would."""
    pid = store.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with suppress(StoreDown):
        for _ in range(100):  # the first request that meets the dead process says so, or it has been started again
            await store.get(ANN, ["x"])
    assert store.pid != pid


async def test_an_engine_that_says_nothing_is_ended_and_started_again_and_what_it_had_acknowledged_is_there(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path / "store", model="small/4", size=4, tuning=Tuning(shards=1), within=4.0)
    await store.start()
    await store.put([record("acknowledged", ANN, text="acknowledged")])
    stopped = store.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    longer = record("longer", ANN, text="longer than a pipe holds " * 200_000)
    with capture_logs() as logs:
        asked = (store.put([record("small", ANN, text="small")]), store.put([longer]), store.get(ANN, [one_id("acknowledged")]))
        said = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 120.0)
    assert [type(each) for each in said] == [StoreDown] * 3
    assert [each["event"] for each in logs if each["log_level"] == "error"] == ["memory_store_process_hangs", "memory_store_process_ended"]
    assert texts(await store.get(ANN, [one_id("acknowledged")])) == ["acknowledged"]
    assert store.pid not in (None, stopped)
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)
    await store.put([record("later", ANN, text="later")])
    assert set(texts(await store.list(Where((ANN,)), limit=10))) == {"acknowledged", "later"}
    await store.close()


def content(path: Path) -> bytes:
    """The bytes of a file, without the parts that were never written: the log is prepared for 32 MB at a time."""
    found, at = b"", 0
    with path.open("rb") as file:
        while True:
            try:
                start = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # there is no more
                return found
            at = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            found += file.read(at - start)


def holding(home: Path, *needles: bytes) -> list[str]:
    """The files with any of these bytes."""
    return [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and any(needle in content(path) for needle in needles)]


CHILD = """
import asyncio, sys
from pathlib import Path
from memory.longterm.access import Owner
from memory.longterm.collection import Tuning
from memory.longterm.edge import EdgeStore
from memory.longterm.store import Record
async def main():
    store = EdgeStore(Path(sys.argv[1]), model="small/4", size=4, tuning=Tuning(shards=1))
    await store.start()
    for number in range(40):
        await store.put([Record(str(number), Owner(team_id="T1", kind="person", id="U1"), "memory", {"text": f"n{number}"}, words={number: 1.0})])
        print(number, store.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_what_was_reported_saved_survives_the_end_of_both_processes(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CHILD, str(tmp_path / "store"))
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert child.stdout is not None
    reported: list[str] = []
    engine = 0
    while len(reported) < 25:
        number, pid = (await child.stdout.readline()).split()
        engine, reported = int(pid), [*reported, f"n{int(number)}"]
    child.kill()
    os.kill(engine, signal.SIGKILL)
    await child.wait()
    store = edge(tmp_path / "store", shards=1)
    await store.start()
    assert set(texts(await store.list(Where((ANN,)), limit=100))) >= set(reported)
    await store.close()


async def test_the_bot_may_start_again_at_once_after_it_was_killed(tmp_path: Path) -> None:
    command = (sys.executable, "-c", CHILD, str(tmp_path / "store"))
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert child.stdout is not None
    await child.stdout.readline()
    child.kill()  # its engine sees the pipe close and ends by itself
    await child.wait()
    store = edge(tmp_path / "store", shards=1)
    await store.start()
    assert await store.count(Where((ANN,))) >= 1
    await store.close()


async def test_a_second_opener_is_refused_in_one_line_that_names_the_remedy(store: EdgeStore) -> None:
    with pytest.raises(StoreError, match="QDRANT_URL") as refused:
        await edge(store.home).start()
    assert "\n" not in str(refused.value)
    await store.put([record("still works")])
    await store.close()
    fresh = edge(store.home)
    await fresh.start()
    await fresh.close()


async def test_the_engine_comes_back_by_itself_after_its_process_died(store: EdgeStore) -> None:
    await store.put([record("before")])
    await crash(store)
    await store.put([record("after")])
    assert sorted(texts(await store.list(Where((ANN,)), limit=5))) == ["after", "before"]


async def test_a_ctrl_c_at_the_terminal_is_left_to_the_bot(store: EdgeStore) -> None:
    pid = store.pid
    assert pid is not None
    assert os.getsid(pid) != os.getsid(0)  # the terminal's signals go to the bot's session alone
    os.kill(pid, signal.SIGINT)  # and one that comes all the same is ignored
    with capture_logs() as logs:
        await store.put([record("after")])
        assert store.pid == pid
        await store.close()
    assert logs == []
    fresh = await again(store)
    assert texts(await fresh.list(Where((ANN,)), limit=5)) == ["after"]
    await fresh.close()


async def test_every_part_is_opened_before_anybody_needs_it(tmp_path: Path) -> None:
    store = edge(tmp_path / "store", shards=3)
    await store.start()
    await store.put([record("one", person(f"U{n}")) for n in range(12)])
    home = store.home / store.generation
    await store.close()
    parts = [int(path.parent.name) for path in home.glob("*/current")]
    assert len(parts) == 3
    shards = Shards(str(home), 3, 4, Tuning().engine)
    assert [shards.ahead() for _ in range(4)] == [True, True, True, False]
    assert sorted(shards._open) == sorted(parts)
    assert shards._lock is not None
    os.close(shards._lock)


async def test_a_closed_store_is_down(store: EdgeStore) -> None:
    await store.close()
    with pytest.raises(StoreDown):
        await store.put([record("late")])


async def test_the_engine_gets_none_of_our_secrets(store: EdgeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-canary")
    fresh = await again(store)
    environment = Path(f"/proc/{fresh.pid}/environ")
    if environment.exists():
        assert b"xoxb-canary" not in environment.read_bytes()
    assert b"xoxb-canary" not in b"".join(path.read_bytes() for path in store.home.rglob("*.json"))
    await fresh.close()


async def test_scrubbing_leaves_no_byte_of_what_was_deleted_in_any_file(store: EdgeStore) -> None:
    secret = [record(f"s{n}", text=f"{CANARY} {n}", dense=vector(1, 2, n, 4), words={n: 1.0}, key="canary-key", audience="channel:CANARY") for n in range(20)]
    keep = [record(f"k{n}", BEN, dense=vector(1, 2, 3, n), words={n: 1.0}, at=float(n)) for n in range(20)]
    await store.put([*secret, *keep])
    needles = (CANARY.encode(), b"canary-key", b"channel:CANARY")
    assert holding(store.home, *needles)  # the log at least is plain: the search below would find them
    assert await store.delete(ANN, [each.id for each in secret]) == 20
    assert holding(store.home, *needles)  # deleting alone does not remove them
    await store.scrub()
    assert holding(store.home, *needles, *(each.id.encode() for each in secret)) == []
    assert [each.id for each in await store.list(Where((BEN,)), limit=50)] == [each.id for each in reversed(keep)]
    folders = [path.name for path in (store.home / store.generation / "00").iterdir() if path.is_dir()]
    assert folders == ["r000002"]


async def test_what_is_to_be_scrubbed_is_remembered_over_a_crash(store: EdgeStore) -> None:
    await store.put([record("s", text=CANARY), record("k")])
    await store.delete(ANN, [one_id("s")])
    await crash(store)
    fresh = await again(store)
    await fresh.scrub()
    assert holding(fresh.home, CANARY.encode()) == []
    assert texts(await fresh.list(Where((ANN,)), limit=5)) == ["k"]
    await fresh.scrub()  # nothing to do
    assert (fresh.home / fresh.generation / "00" / "current").read_text() == "r000002"
    await fresh.close()


class Interrupted(EdgeStore):
    """A store in whose rewriting something else is done after it was begun and after each batch that was read."""

    meanwhile: Callable[[int], Awaitable[None]]
    done = 0

    async def _call(self, name: str, *arguments: Any) -> Any:
        result = await super()._call(name, *arguments)
        if name in {"copy_begin", "copy_read"}:
            await self.meanwhile(self.done)
            self.done += 1
        return result


async def test_others_read_and_write_while_a_part_is_rewritten(tmp_path: Path) -> None:
    store = Interrupted(tmp_path / "store", model="small/4", size=4, tuning=Tuning(shards=1))
    await store.start()
    count, gone = 2 * COPIED + 20, [one_id(f"n{n}") for n in range(10)]
    await store.put([record(f"n{n}", at=float(n)) for n in range(count)] + [record("s", text=CANARY), record("old", text="old")])
    await store.delete(ANN, [one_id("s")])

    async def meanwhile(done: int) -> None:
        await store.put([record(f"during {done}", BEN), record("old", text=f"new {done}")])
        assert await store.count(Where((BEN,))) == done + 1
        if done == 2:  # two batches are copied, the last one is not: some of these are in the new revision already, some are still to come
            assert await store.delete(ANN, gone) == len(gone)

    store.meanwhile = meanwhile
    await store.scrub()
    assert store.done == 4  # begun, and three batches
    assert await store.count(Where((BEN,))) == store.done
    assert await store.count(Where((ANN,))) == count + 1 - len(gone)
    assert texts(await store.get(ANN, [one_id("old"), *gone, one_id("n10")])) == [f"new {store.done - 1}", "n10"]
    assert holding(store.home, CANARY.encode()) == []
    fresh = await again(store)
    assert await fresh.count(Where((ANN,))) == count + 1 - len(gone)
    assert await fresh.count(Where((BEN,))) == store.done
    await fresh.scrub()
    assert holding(fresh.home, gone[0].encode()) == []  # deleted while it was rewritten: for the next time
    await fresh.close()


@pytest.mark.parametrize("point", ["built", "named"])
async def test_a_crash_while_a_part_is_rewritten_leaves_the_old_or_the_new_whole(store: EdgeStore, point: str) -> None:
    await store.put([record(f"n{n}") for n in range(30)] + [record("s", text=CANARY)])
    await store.delete(ANN, [one_id("s")])
    part = store.home / store.generation / "00"
    if point == "named":  # the new one is in force, the old one not yet removed
        await store.rewrite(0)
        await store.close()
        (part / "r000001").mkdir()
        (part / "r000001" / "left").write_text(CANARY)
    else:
        await store._call("copy_begin", 0)
        await crash(store)
        (part / "r000002").mkdir()
        (part / "r000002" / "half").write_text("half")
    fresh = await again(store)
    assert await fresh.count(Where((ANN,))) == 30
    await fresh.scrub()
    assert await fresh.count(Where((ANN,))) == 30
    assert holding(fresh.home, CANARY.encode()) == []
    assert len([path for path in part.iterdir() if path.is_dir()]) == 1
    await fresh.close()


async def test_a_rewriting_that_is_given_up_leaves_nothing_behind_and_can_be_begun_again(tmp_path: Path) -> None:
    store = Interrupted(tmp_path / "store", model="small/4", size=4, tuning=Tuning(shards=1))
    await store.start()
    part = store.home / store.generation / "00"
    await store.put([record(f"n{n}") for n in range(COPIED + 20)] + [record("s", text=CANARY)])
    await store.delete(ANN, [one_id("s")])
    seen: list[int] = []

    async def given_up(done: int) -> None:
        seen.append(len([path for path in part.iterdir() if path.is_dir()]))
        if done == 2:  # the first batch is in the new revision, the second is on its way
            scrubbing.cancel()

    store.meanwhile = given_up
    scrubbing = asyncio.create_task(store.scrub())
    with pytest.raises(asyncio.CancelledError):
        await scrubbing
    assert seen == [1, 1, 2]
    assert [path.name for path in part.iterdir() if path.is_dir()] == ["r000001"]

    async def nothing(_done: int) -> None:
        """Let it go on."""

    store.meanwhile = nothing
    await store.scrub()
    assert await store.count(Where((ANN,))) == COPIED + 20
    assert holding(store.home, CANARY.encode()) == []
    await store.close()


async def test_a_description_that_is_missing_beside_memories_is_refused_and_nothing_is_made_anew(store: EdgeStore) -> None:
    await store.put([record("one")])
    await store.close()
    (store.home / "store.json").unlink()
    with pytest.raises(StoreError, match="missing although there are memories"):
        await store.start()
    assert not (store.home / "store.json").exists()


async def test_an_unreadable_note_of_a_change_of_model_is_refused_with_the_remedy(store: EdgeStore) -> None:
    await store.close()
    for text in ("{", "7"):
        (store.home / "next.json").write_text(text)
        with pytest.raises(StoreError, match="remove it"):
            await store.start()
    (store.home / "next.json").unlink()
    await store.start()


async def test_an_unreadable_description_is_refused_and_left_alone(store: EdgeStore) -> None:
    await store.close()
    path = store.home / "store.json"
    for text in ("{", "[]", "{}", '{"form": 1, "model": "small/4", "size": 4}'):
        path.write_text(text)
        with pytest.raises(StoreError, match="cannot be read"):
            await edge(store.home).start()
        assert path.read_text() == text


async def test_an_almost_empty_store_takes_little_room(store: EdgeStore) -> None:
    await store.put([record("one")])
    used = sum(path.stat().st_blocks * 512 for path in store.home.rglob("*") if path.is_file())
    assert used < 2_000_000


def test_a_part_whose_making_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    create(tmp_path / "blank", config(4, quantization="none", on_disk=True, m=0)).close()
    (tmp_path / "00" / "r000001").mkdir(parents=True)
    (tmp_path / "00" / "r000001" / "half").write_text("half")
    shard = Shard(tmp_path / "00", tmp_path / "blank", rescore=False)
    assert shard.owners(None) == []
    assert not (tmp_path / "00" / "r000001" / "half").exists()


@pytest.mark.parametrize("quantization", ["int8", "binary"])
async def test_smaller_vectors_find_the_same_best(tmp_path: Path, quantization: Quantization) -> None:
    store = EdgeStore(tmp_path / "store", model="m", size=64, tuning=Tuning(shards=1, quantization=quantization))
    await store.start()
    vectors = np.random.default_rng(1).normal(size=(50, 64))
    await store.put([record(f"n{n}", dense=vector(*vectors[n])) for n in range(50)])
    await store.rewrite(0)
    for n in range(0, 50, 7):
        hits = await store.search(Where((ANN,)), dense=vector(*(vectors[n] + 0.1)), words={}, limit=1)
        assert texts([hit.record for hit in hits]) == [f"n{n}"]
    await store.close()
