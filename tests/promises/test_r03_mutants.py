"""The tests can see: each safeguard, taken out, is noticed.

Seven mutants of the program, each with one safeguard missing (see `mutants.py`), against the small check meant for it.
The program as it is passes every check; every mutant fails its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import echo_policy, held, obey_policy, text
from tests.fakes.scripted_policies import Policy
from tests.fakes.valkey import Valkey
from tests.promises.harness import ALICE, BRUNO, House, Nursery, stored
from tests.promises.record_tools import noted

pytestmark = pytest.mark.promise

CHANNEL = "#orders"
Mutants = tuple[str, ...]


async def a_frozen_replica_adds_nothing(there: House, mutants: Mutants) -> None:
    """Frozen in a model call beyond its lease, and thawed when another replica has answered."""
    gate = asyncio.Event()
    asked = 0

    def script(request: dict[str, object]) -> object:
        nonlocal asked
        asked += 1
        return held(gate, text("from the frozen one #m1")) if asked == 1 else text("done #m1") if asked == 2 else text("awake")

    there.model._policy = script  # type: ignore[assignment]
    frozen = await there.bot(mutants=mutants)
    ts = await there.slack.say(ALICE, CHANNEL, "@steward #m1")
    await there.model.until(lambda: asked == 1, timeout=20)
    frozen.freeze()
    other = await there.bot(mutants=mutants)
    await there.until(lambda: there.texts(CHANNEL, ts), what="the other replica's answer")
    await there.settled()
    await there.end(other)
    gate.set()
    frozen.thaw()
    # Asked something new, it answers after it has dealt with what it held.
    later = await there.slack.say(ALICE, CHANNEL, "@steward are you there?")
    await there.until(lambda: there.texts(CHANNEL, later), what="an answer of the thawed replica")
    await there.settled()

    assert there.texts(CHANNEL, ts) == ["done #m1"]


async def a_post_whose_answer_was_lost_is_not_repeated(there: House, mutants: Mutants) -> None:
    await there.bot(mutants=mutants)
    there.slack.fault("chat.postMessage", "drop_after")
    ts = await there.slack.say(ALICE, CHANNEL, "@steward #m1")
    await there.until(lambda: there.texts(CHANNEL, ts), what="an answer")
    await there.settled()

    assert there.texts(CHANNEL, ts) == ["#m1"]


async def an_unkeyed_write_is_not_run_again(there: House, mutants: Mutants) -> None:
    first = await there.bot(mutants=mutants)
    ts = await there.slack.say(ALICE, CHANNEL, '@steward CALL note_unkeyed {"text": "once", "slow": true}')
    await there.until(lambda: there.open_cards(CHANNEL, ts), what="a card")
    await there.click(ALICE, CHANNEL, there.open_cards(CHANNEL, ts)[0]["ts"])
    await there.until(lambda: noted(there.folder, "unkeyed"), what="the effect")
    await there.end(first)
    (there.folder / "gate").touch()
    await there.bot(mutants=mutants)
    await there.until(lambda: there.texts(CHANNEL, ts), what="an answer")
    await there.settled()

    assert len(noted(there.folder, "unkeyed")) == 1
    assert "OUTCOME_UNKNOWN" in json.dumps(await there.log(there.thread(CHANNEL, ts)))


async def what_was_not_stored_comes_again(there: House, mutants: Mutants) -> None:
    """The process ends just before it stores its first event; Slack, not told that it was stored, sends it again."""
    first = await there.bot(mutants=mutants, crash_at=1)
    ts = await there.slack.say(ALICE, CHANNEL, "@steward #m1")
    await first.end()
    await there.bot(mutants=mutants)
    await there.until(lambda: there.texts(CHANNEL, ts), 8, "an answer")

    assert there.texts(CHANNEL, ts) == ["#m1"]


async def what_changed_after_the_approval_does_not_run(there: House, mutants: Mutants) -> None:
    await there.bot(mutants=mutants)
    ts = await there.slack.say(ALICE, CHANNEL, '@steward CALL note_keyed {"text": "as approved"}')
    await there.until(lambda: there.open_cards(CHANNEL, ts), what="a card")
    await there.at_ease()
    thread = there.thread(CHANNEL, ts)
    kept = json.dumps(await there.document(thread))
    await there.store.set(there.key("doc", thread), kept.replace("as approved", "something else"))
    await there.click(ALICE, CHANNEL, there.open_cards(CHANNEL, ts)[0]["ts"])
    await there.until(lambda: there.texts(CHANNEL, ts), what="an answer")
    await there.settled()

    assert noted(there.folder, "keyed") == []


async def only_the_requester_decides(there: House, mutants: Mutants) -> None:
    await there.bot(mutants=mutants)
    ts = await there.slack.say(ALICE, CHANNEL, '@steward CALL note_keyed {"text": "for alice"}')
    await there.until(lambda: there.open_cards(CHANNEL, ts), what="a card")
    await there.click(BRUNO, CHANNEL, there.open_cards(CHANNEL, ts)[0]["ts"])
    await there.until(lambda: there.slack.ephemerals(BRUNO, CHANNEL) or noted(there.folder, "keyed"), what="a word to the clicker")

    assert noted(there.folder, "keyed") == []
    assert there.open_cards(CHANNEL, ts)


Check = Callable[[House, Mutants], Awaitable[None]]

CHECKS: Final[dict[str, tuple[Check, Policy]]] = {
    "no_fencing": (a_frozen_replica_adds_nothing, echo_policy),
    "no_lookup": (a_post_whose_answer_was_lost_is_not_repeated, echo_policy),
    "retry_unkeyed": (an_unkeyed_write_is_not_run_again, obey_policy),
    "mark_before_store": (what_was_not_stored_comes_again, echo_policy),
    "acknowledge_before_store": (what_was_not_stored_comes_again, echo_policy),
    "no_digest_check": (what_changed_after_the_approval_does_not_run, obey_policy),
    "no_owner_check": (only_the_requester_decides, obey_policy),
}


async def noticed(nursery: Nursery, valkey: Valkey, folder: Path, *, db: int, name: str, mutants: Mutants) -> str:
    """What the check had against the program with these mutants in it; empty when nothing."""
    check, policy = CHECKS[name]
    async with House(nursery, valkey, policy, folder, db=db) as there:
        try:
            await check(there, mutants)
        except AssertionError as error:
            return str(error) or "it failed"
    return ""


@pytest.mark.timeout(300)
async def test_every_mutant_is_noticed_and_the_program_itself_passes(tmp_path: Path, figures: Recorder) -> None:
    passed: dict[str, str] = {}
    killed: dict[str, str] = {}
    with stored() as valkey:
        async with Nursery(tmp_path) as nursery:

            async def held_against(number: int, name: str) -> None:
                passed[name] = await noticed(nursery, valkey, tmp_path / f"{name}-without", db=number, name=name, mutants=())
                killed[name] = await noticed(nursery, valkey, tmp_path / f"{name}-with", db=number, name=name, mutants=(name,))

            async with asyncio.TaskGroup() as group:
                for number, name in enumerate(CHECKS):
                    group.create_task(held_against(number, name))
    figures("R3", killed=sum(map(bool, killed.values())), mutants=len(killed))
    print(f"R3 killed {sum(map(bool, killed.values()))} of {len(killed)}")

    assert {name: why for name, why in passed.items() if why} == {}
    assert [name for name, why in killed.items() if not why] == []
