"""The tests can see: each safeguard of long-term memory, taken out, is noticed.

The program as it is passes the small check of each; every mutant (see `mutants.py`) fails its own.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, cast

import pytest

from memory.longterm.memories import Memories
from memory.longterm.store import Store
from tests.conftest import Recorder
from tests.fakes.memories import in_memory, keep, memory
from tests.fakes.scripted_model import ScriptedModel, text
from tests.promises.harness import stored
from tests.promises.mutants import MEMORY_MUTANTS
from tests.promises.test_s12_forget_means_gone import Paced, interleaved, put_in_order, told_often
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import rest
from tests.scenarios.remembering_kit import answered, long_term, prompt, remembering

pytestmark = [pytest.mark.promise, pytest.mark.timeout(120)]


async def nobody_reaches_anothers_by_its_id(_: Path) -> bool:
    store = in_memory()
    await store.start()
    memories = Memories(cast("Store", store))
    kept = memory("I like tea", actor("alice"))
    await keep(memories, kept)
    reached = await memories.get(actor("bruno"), kept.id)
    await store.close()
    return reached is None


async def a_direct_conversation_stays_there(home: Path) -> bool:
    model = ScriptedModel(lambda _: text("Fine."))
    with stored() as valkey:
        async with remembering(valkey, home, model) as stack:
            await answered(stack, "alice", "dm", "Please remember that my favourite dish is qombra")
            await rest(stack)
            before = len(model.exchanges)
            await answered(stack, "alice", "#orders", "What is my favourite dish?")
            return not any("qombra" in prompt(request) for request in model.requests[before:])


async def forgotten_words_are_not_told_again(home: Path) -> bool:
    model = ScriptedModel(lambda _: text("Fine."))
    with stored() as valkey:
        async with remembering(valkey, home, model) as stack:
            await answered(stack, "alice", "dm", "Please remember that my favourite dish is qombra")
            await rest(stack)
            page = await long_term(stack).memories.listed(actor("alice"))
            await long_term(stack).erasing.forget(actor("alice"), [each.id for each in page.memories])
            await rest(stack)
            before = len(model.exchanges)
            await answered(stack, "alice", "dm", "What is for lunch?")
            return not any("qombra" in prompt(request) for request in model.requests[before:])


async def putting_in_order_brings_nothing_back(_: Path) -> bool:
    now, alice = 1_790_000_000.0, actor("alice")
    for seed in range(20):
        store = in_memory()
        await store.start()
        paced = Paced(cast("Store", store))
        plain, memories = Memories(cast("Store", store), now=lambda: now), Memories(cast("Store", paced), now=lambda: now)
        await keep(plain, *told_often(now))
        await interleaved(paced, random.Random(seed), lambda: put_in_order(memories, now), lambda: memories.forget_all(alice))  # noqa: B023
        left = repr(await plain.export(alice))
        await store.close()
        if "qombra" in left:
            return False
    return True


CHECKS: Final[dict[str, Callable[[Path], Awaitable[bool]]]] = {
    "no_owner_filter": nobody_reaches_anothers_by_its_id,
    "no_audience_filter": a_direct_conversation_stays_there,
    "no_redaction": forgotten_words_are_not_told_again,
    "order_recreates": putting_in_order_brings_nothing_back,
}


@pytest.mark.parametrize("name", CHECKS)
async def test_the_mutant_is_noticed_and_the_program_itself_passes(name: str, tmp_path: Path, figures: Recorder) -> None:
    passed = await CHECKS[name](tmp_path / "without")
    with pytest.MonkeyPatch.context() as patch:
        MEMORY_MUTANTS[name](patch)
        noticed = not await CHECKS[name](tmp_path / "with")
    figures("R3", **{f"killed_{name}": int(noticed)})
    print(f"R3 {name}: {'killed' if noticed else 'not noticed'}")

    assert passed
    assert noticed


def test_every_mutant_has_its_check() -> None:
    assert CHECKS.keys() == MEMORY_MUTANTS.keys()
