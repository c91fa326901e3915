"""The promise holds at every await point.

One conversation: a read, a keyed write approved, an unkeyed write approved, a denial, an expiry, a stop. It is played
again and again; each time the bot's process ends just before or just after another of its effects (a stored event, a
commit, a Slack call, a model call, a tool's execution), a new one takes its place, and the conversation goes on to
its end. Whoever plays the person reacts to what is there, never to the time.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import Reply, calls, text
from tests.fakes.scripted_policies import commands, content_text
from tests.fakes.stack import shown
from tests.fakes.valkey import Valkey
from tests.promises.harness import ALICE, Bot, House, Nursery, stored
from tests.promises.record_tools import noted

pytestmark = pytest.mark.promise

CHANNEL = "#orders"
READ = '@steward #m1 CALL list_orders {"status": ""}'
KEYED = '@steward #m2 CALL note_keyed {"text": "keyed"}'
UNKEYED = '@steward #m3 CALL note_unkeyed {"text": "unkeyed"}'
DENIED = '@steward #m4 CALL note_unkeyed {"text": "denied"}'
EXPIRED = '@steward #m5 CALL note_brief {"text": "expired"}'
STOPPED = '@steward #m6 CALL note_keyed {"text": "stopped"}'
PARALLEL = 4
"""Conversations played at the same time, each in a house of its own."""


def obedient(request: dict[str, Any]) -> Reply:
    """Calls what the latest message tells it to call, then answers with that message's number and how the call ended."""
    said = [m for m in request["messages"] if m["role"] == "user"][-1]
    number = re.findall(r"#m\d+", content_text(said))[-1]
    after = request["messages"][request["messages"].index(said) + 1 :]
    wanted = list(commands(content_text(said)))
    if wanted and not any(m["role"] == "assistant" for m in after):
        return calls(*wanted, ids=[f"call_{number[1:]}"])
    outcome = json.loads(content_text([m for m in after if m["role"] == "tool"][-1]))
    return text(f"{number} {'done' if outcome['success'] else outcome['error_code'].lower()}")


class Play:
    """One conversation, with the process ending at one point of it."""

    def __init__(self, there: House, at: int, *, after: bool) -> None:
        self.there = there
        self.at = at
        self.after = after
        self.ts = ""
        self.crashed = False

    async def run(self) -> list[str]:
        """Play to the end; what was wrong, in words. An empty list is what is wanted."""
        bot = await self.there.bot(crash_at=self.at, crash_after=self.after)
        nurse = asyncio.create_task(self._nurse(bot))
        try:
            await self._talk()
            await self.there.settled(60)
            return await self._judge()
        except AssertionError as error:
            return [f"{self}: {error}; on view: {[shown(m) for m in self.there.own(CHANNEL, self.ts)] if self.ts else ''}"]
        finally:
            nurse.cancel()

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} effect {self.at}"

    async def _nurse(self, bot: Bot) -> None:
        """Put a healthy process in the place of the one that ended."""
        await bot.end()
        self.crashed = True
        await self.there.bot()

    async def _talk(self) -> None:
        await self._say(READ, "#m1")
        await self._say(KEYED, "#m2", "keyed", "steward:approve")
        await self._say(UNKEYED, "#m3", "unkeyed", "steward:approve")
        await self._say(DENIED, "#m4", "denied", "steward:deny")
        # Its card may come and go unseen: it expires while its process is gone, and what was posted is withdrawn.
        await self._say(EXPIRED, "#m5")
        await self.there.slack.say(ALICE, CHANNEL, STOPPED, self.ts)
        await self._card("stopped")
        await self._say("stop", "Stopped")

    async def _card(self, value: str) -> str:
        """Wait for an open card that shows `value`; its ts."""
        found: list[str] = []

        def seen() -> bool:
            found[:] = [str(m["ts"]) for m in self.there.open_cards(CHANNEL, self.ts) if value in shown(m).splitlines()]
            return bool(found)

        await self.there.until(seen, what=f"a card that shows {value}")
        return found[-1]

    async def _say(self, words: str, answer: str, value: str = "", action: str = "") -> None:
        """Say it, press `action` on the card that shows `value` when one is named, and wait for a message with `answer` in it."""
        said = await self.there.slack.say(ALICE, CHANNEL, words, self.ts or None)
        self.ts = self.ts or said
        if value:
            await self.there.click(ALICE, CHANNEL, await self._card(value), action)
        await self.there.until(lambda: any(answer in each for each in self.there.texts(CHANNEL, self.ts)), what=f"an answer to {words}")

    async def _judge(self) -> list[str]:
        there = self.there
        texts = there.texts(CHANNEL, self.ts)
        wrong: list[str] = []

        def hold(condition: object, what: str) -> None:
            if not condition:
                wrong.append(f"{self}: {what}; on view: {texts}")

        for number in ("#m1", "#m2", "#m3", "#m4", "#m5"):
            hold(sum(number in each for each in texts) == 1, f"{number} was not answered exactly once")
        hold(sum("Stopped" in each for each in texts) == 1, "the stop was not answered exactly once")
        hold(len(texts) == 6, "there is a stray message")
        effects = {kind: [each["text"] for each in noted(there.folder, kind)] for kind in ("keyed", "unkeyed")}
        hold(effects["keyed"] == ["keyed"], f"keyed effects: {effects['keyed']}")
        hold(effects["unkeyed"] in ([], ["unkeyed"]), f"unkeyed effects: {effects['unkeyed']}")
        told = next((each for each in texts if "#m3" in each), "")
        hold("outcome_unknown" in told or (told.endswith("done") and effects["unkeyed"]), f"the unkeyed write: {effects['unkeyed']}, told as {told!r}")
        for number, ending in (("#m1", "done"), ("#m2", "done"), ("#m4", "denied_by_person"), ("#m5", "expired")):
            hold(any(each == f"{number} {ending}" for each in texts), f"{number} did not end as {ending}")
        posts = [c["args"]["metadata"] for c in there.slack.calls("chat.postMessage") if c["ok"]]
        ids = [json.loads(m)["event_payload"]["id"] if isinstance(m, str) else m["event_payload"]["id"] for m in posts]
        hold(len(ids) == len(set(ids)), "a message was posted twice")
        cards = [shown(m).splitlines() for m in there.cards(CHANNEL, self.ts)]
        for value in ("keyed", "unkeyed", "denied"):
            hold(sum(value in lines for lines in cards) == 1, f"not one card for the call “{value}”: {cards}")
        # A call may expire or be stopped before anybody noted that its card stands: then the card is withdrawn.
        for value in ("expired", "stopped"):
            hold(sum(value in lines for lines in cards) <= 1, f"two cards for the call “{value}”: {cards}")
        hold(len(cards) <= 5, f"{len(cards)} cards for 5 calls")
        hold(not there.open_cards(CHANNEL, self.ts), "a card can still be clicked")
        hold(not there.slack.status(CHANNEL, self.ts), "“thinking” was left behind")
        hold(not there.model.violations, f"invalid requests to the model: {there.model.violations}")
        return wrong


async def played(nursery: Nursery, valkey: Valkey, folder: Path, lane: int, at: int, *, after: bool) -> tuple[bool, list[str]]:
    """Whether the process ended on the way, and what was wrong."""
    approvals = {"tools": {"note_brief": {"expiry": 1}}}
    async with House(nursery, valkey, obedient, folder / f"{'after' if after else 'before'}-{at}", db=lane, lease=1.5, approvals=approvals) as there:
        play = Play(there, at, after=after)
        return (await play.run(), play.crashed)[::-1]


async def measured(folder: Path, step: int, start: int) -> tuple[int, list[str]]:
    """Play with every `step`-th effect as the last one, from `start` on, until a play ends without a crash: points and violations."""
    points, wrong, beyond = 0, [], False
    todo = ((at, after) for at in range(start, 10_000, step) for after in (False, True))

    with stored() as valkey:
        async with Nursery(folder) as nursery:

            async def lane(number: int) -> None:
                nonlocal points, beyond
                while not beyond:
                    at, after = next(todo)
                    crashed, found = await played(nursery, valkey, folder, number, at, after=after)
                    wrong.extend(found)
                    points += crashed
                    beyond = beyond or not crashed

            async with asyncio.TaskGroup() as group:
                for number in range(PARALLEL):
                    group.create_task(lane(number))
    return points, wrong


@pytest.mark.timeout(1_200)
async def test_a_conversation_survives_the_end_of_its_process_at_every_effect(tmp_path: Path, full: bool, figures: Recorder) -> None:
    points, wrong = await measured(tmp_path, step=1 if full else 31, start=1 if full else 8)
    figures("R2", points=points, violations=len(wrong))
    print(f"R2 {points} points, {len(wrong)} violations")

    assert points > (60 if full else 3)
    assert wrong == []
