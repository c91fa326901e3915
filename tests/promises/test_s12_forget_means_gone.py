"""Forget means gone.

What a person told stands in transcripts, answers that repeated it, tool arguments and results, other threads that used it, caches and histories.
Once it is forgotten and the files are rewritten, no byte of it is left in the session store's files, in those of the memories, or in the log.
A job that puts memories in order meanwhile, at any point of the forgetting, brings nothing back.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, cast

import pytest
from pydantic import Field
from structlog.testing import capture_logs

from bot.memory_jobs import PLANS
from memory.longterm.access import WORKSPACE, person
from memory.longterm.consolidate import applied
from memory.longterm.memories import Memories
from memory.longterm.memory import Kind, Memory
from memory.longterm.records import memory_of
from memory.longterm.store import Store, Where
from memory.longterm.writing import Step
from tests.conftest import Recorder
from tests.fakes.memories import in_memory, keep, memory
from tests.fakes.scripted_model import Reply, ScriptedModel, calls, text
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack
from tests.fakes.valkey import Valkey
from tests.promises.harness import eventually, stored
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import answered, by_the_clock, long_term, remembering
from tools.decorator import tool
from tools.registry import Registry

pytestmark = [pytest.mark.promise, pytest.mark.timeout(600)]

PLACES: Final = ("dm", "#orders", "#leads")


@tool(effect="read")
async def find_dishes(words: Annotated[str, Field(description="What the dish is about")]) -> dict[str, str]:
    """Find dishes of the canteen by words."""
    return {"nothing with": words}


def canary(number: int) -> str:
    return f"qk{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10 % 10]}ombra{number}"


def repeating(request: dict[str, Any]) -> Reply:
    """Repeats every canary it was told, in a tool's arguments first."""
    words = " ".join(
        dict.fromkeys(word for m in request["messages"] for word in content_text(m).replace('"', " ").replace(".", " ").split() if "ombra" in word)
    )
    if request.get("tools") and request["messages"][-1]["role"] != "tool":
        return calls(("find_dishes", {"words": words or "soup"}))
    return text(f"I see: {words or 'nothing'}.")


def holding(folders: tuple[Path, ...], words: list[str]) -> list[str]:
    """Which files hold which of these words."""
    files = [(folder, file) for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    return [f"{file.relative_to(folder)}: {word}" for folder, file in files for word in words if word.encode() in file.read_bytes()]


async def forgotten(stack: Stack, way: str, told: Sequence[Memory]) -> None:
    """Have all that alice told forgotten in one of the ways there are."""
    core, erasing = stack.slack.core, long_term(stack).erasing
    match way:
        case "each":
            for each in told:
                await erasing.forget(actor("alice"), [each.id])
        case "all":
            await erasing.forget_all(actor("alice"))
        case "uninstalled":
            core.events.send(core.world.installs[stack.slack.team_id], {"type": "app_uninstalled"}, None)

            async def nobody() -> bool:
                return [owner async for owner in long_term(stack).memories.store.owners()] == []

            await eventually(nobody)
            await stack.until(lambda: not core.delivery.in_flight, 150.0)  # where it took longer than Slack waits, it tells us again
        case _:  # she left the workspace, and the time for which she might have come back is over
            core.world.users[actor("alice").user_id].deleted = True
            stack.bots[0].slack._people.clear()
            assert (await by_the_clock(stack, "left-people"))["forgotten"] == 0  # noted first
            assert (await by_the_clock(stack, "left-people"))["forgotten"] == 1


async def rewritten(stack: Stack, valkey: Valkey) -> None:
    """What the clock does some time after something was forgotten, and both of the session store's files written anew."""
    assert (await by_the_clock(stack, "memory-scrub"))["rewritten"] == 1
    valkey.command("CONFIG", "SET", "rdbcompression", "no")
    valkey.command("SAVE")
    valkey.command("BGREWRITEAOF")
    while any(b"aof_rewrite_in_progress:1" in line or b"aof_rewrite_scheduled:1" in line for line in persistence(valkey)):
        await asyncio.sleep(0.02)


def persistence(valkey: Valkey) -> list[bytes]:
    told = valkey.command("INFO", "persistence")
    return [f"{name}:{value}".encode() for name, value in told.items()] if isinstance(told, dict) else bytes(cast("bytes", told)).splitlines()


async def told_everywhere(stack: Stack, count: int) -> list[str]:
    """Have a person tell `count` things, each used in another thread afterwards; the words."""
    words = []
    for number in range(count):
        words.append(canary(number))
        said = f"Please remember that I am allergic to {words[-1]}" if number % 2 == 0 else f"请记住：我对 {words[-1]} 过敏"
        await answered(stack, "alice", PLACES[number % len(PLACES)], said)
        await answered(stack, "alice", PLACES[number % len(PLACES)], f"What may I not eat at lunch {number}?")
    await rest(stack)
    return words


@pytest.mark.parametrize("way", ["each", "all", "uninstalled", "left"])
async def test_no_byte_of_what_was_forgotten_is_left(way: str, tmp_path: Path, full: bool, figures: Recorder) -> None:
    count = 18 if full else 3
    home = tmp_path / "home"
    model = ScriptedModel(repeating)
    with stored() as valkey, capture_logs() as logs:
        caches = {"model_temperature": 0.0, "model_cache_ttl": 900.0, "answer_cache_ttl": 900.0}
        async with remembering(valkey, home, model, registry=Registry([find_dishes]), left_people_ttl=0.0, **caches) as stack:
            words = await told_everywhere(stack, count)
            told = (await long_term(stack).memories.listed(actor("alice"), limit=200, kinds=(Kind.FACT,))).memories
            assert len(told) == count
            folders = (valkey.home, home)
            before = holding(folders, words)
            assert {line.split(": ")[1] for line in before} == set(words)  # it can see
            assert any(line.startswith("memories") for line in before), before
            await forgotten(stack, way, told)
            await rest(stack)
            await stack.quiet()
            await rest(stack)
            await rewritten(stack, valkey)
            left = holding(folders, words)
            named = [*words, *([actor("alice").user_id] if way == "uninstalled" else [])]
            keys = [key for word in named for key in cast("list[bytes]", valkey.command("KEYS", f"*{word}*"))]
    spoken = [line for line in logs if line["log_level"] != "debug" and any(word in repr(line) for word in words)]
    figures("S12", **{f"bytes_found_{way}": len(left) + len(keys), f"log_lines_{way}": len(spoken)}, memories=count, files_before=len(before))
    print(f"S12 {way}: {count} memories in {len(before)} places before, {left=}, {len(spoken)} log lines")

    assert left == []
    assert keys == []
    assert spoken == []


# --- putting in order meanwhile ----------------------------------------------------------------------------------------------


class Paced:
    """A store in which every call waits until it is let through."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting: list[asyncio.Future[None]] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name not in {"put", "get", "list", "search", "delete", "delete_owner"}:
            return real

        async def paced(*args: Any, **kwargs: Any) -> Any:
            turn = asyncio.get_running_loop().create_future()
            self.waiting.append(turn)
            await turn
            return await real(*args, **kwargs)

        return paced


async def interleaved(paced: Paced, chance: random.Random, *works: Callable[[], Awaitable[object]]) -> None:
    """Run them together, one call to the store at a time, in an order that chance decides."""
    tasks = [asyncio.ensure_future(work()) for work in works]
    while not all(task.done() for task in tasks):
        for _ in range(30):
            await asyncio.sleep(0)  # everything that can go on has come to its next call
        if paced.waiting:
            paced.waiting.pop(chance.randrange(len(paced.waiting))).set_result(None)
    await asyncio.gather(*tasks)


async def put_in_order(memories: Memories, now: float) -> None:
    """What the job does to one owner's memories."""
    owner = person(actor("alice"))
    async with memories.locks.held(owner):
        held = [found for record in await memories.store.list(Where((owner,)), limit=1_000) if (found := memory_of(record)) is not None]
        for name, plan in PLANS:
            steps = plan(held, now)
            if steps:
                await memories.writer.write([Step(step.done, step.before, step.after) for step in steps], name)
            held = applied(held, steps)


async def counted(memories: Memories, kept: Sequence[Memory]) -> None:
    """What the job does to note that these were at hand for answers."""
    owner = person(actor("alice"))
    async with memories.locks.held(owner):
        there = await memories.many(owner, [each.id for each in kept])
        await memories.writer.touch([each.model_copy(update={"last_recalled": 1.0, "times_recalled": each.times_recalled + 1}) for each in there])


def told_often(now: float) -> list[Memory]:
    """Things said twice, in dispute, over, and unused: every plan has something to do."""
    day, alice = 86_400.0, actor("alice")
    said = [
        memory("I like qombra tea", alice, kind=Kind.PREFERENCE, key="like:tea", ts=f"{days}.0", created=now - day * days, audience=WORKSPACE)
        for days in (1, 2, 3)
    ]
    over = memory("I fly to qombra on Friday", alice, kind=Kind.PLAN, key="trip", ts="4.0", created=now - 90 * day, expires=now - 1)
    unused = memory("I once saw qombra", alice, key="note:saw", ts="5.0", created=now - 400 * day, importance=0.9)
    return [*said, over, unused]


async def test_putting_in_order_meanwhile_brings_nothing_back(full: bool, figures: Recorder) -> None:
    orders, now, back = 100 if full else 30, 1_790_000_000.0, 0
    for seed in range(orders):
        store = in_memory()
        await store.start()
        paced = Paced(store)
        plain, memories = Memories(store, now=lambda: now), Memories(cast("Store", paced), now=lambda: now)
        kept = told_often(now)
        await keep(plain, *kept)
        await counted(plain, kept)
        alice, ids = actor("alice"), [each.id for each in kept]
        chance = random.Random(seed)
        works = [
            lambda: put_in_order(memories, now),  # noqa: B023
            lambda: memories.forget(alice, ids) if seed % 2 else memories.forget_all(alice),  # noqa: B023
            lambda: counted(memories, kept),  # noqa: B023
            lambda: put_in_order(memories, now),  # noqa: B023
        ]
        await interleaved(paced, chance, *works)
        everything = await plain.export(alice)
        back += "qombra" in repr(everything)
        await store.close()
    figures("S12", orders=orders, resurrected=back)
    print(f"S12 {orders} orders, {back} brought something back")
    assert back == 0
