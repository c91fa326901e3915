"""Only those allowed approve: of everyone and everything that can click, exactly the policy's rows start an execution, and every refused person is told why.

A matrix of who clicks, or submits the form that also allows such calls from now on (requester, other members, a guest, a partner's person,
a bot, the same id in another company) and how (a forged value, another message, too late, twice, after a denial, after a stop) for every policy.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import pytest

from bot.policy_file import Approvals, PolicySetting, ToolApproval, UserGroup, Users
from playground import seed
from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, obey_policy
from tests.fakes.stack import buttons
from tests.fakes.valkey import Valkey
from tests.promises.kit import FORM, TOOLS, HttpStack, Upstream, card, http_running

pytestmark = [pytest.mark.promise, pytest.mark.timeout(600)]

ROOM, GROUP = "#matrix", "S0APPROVE"
LISTED = (seed.MEI, seed.DANA, seed.ERIK, seed.BUILDS_BOT)
"""Named by the policies, though only one of them may ever decide."""
POLICIES: dict[str, tuple[PolicySetting, frozenset[str]]] = {
    "requester": ("requester", frozenset({"alice"})),
    "users": (Users(users=LISTED), frozenset({"mei"})),
    "usergroup": (UserGroup(usergroup=GROUP), frozenset({"mei"})),
    "two_people": ("two_people", frozenset({"alice", "mei", "bruno"})),
    "not_requester": ("not_requester", frozenset({"mei", "bruno"})),
}
PEOPLE = ("alice", "mei", "bruno", "dana", "erik", "builds", "alice@T02", "mei@T02")


@dataclass
class Cell:
    """One row of the matrix under one policy."""

    name: str
    expected: int
    executed: int = 0
    refused: int = 0
    answered: int = 0


@dataclass
class Matrix:
    """All rows of one policy."""

    bot: HttpStack
    upstream: Upstream
    policy: str
    allowed: frozenset[str]
    first: int
    cells: list[Cell] = field(default_factory=list)
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By person and thread, how often a form came back with what is wrong with it."""

    @property
    def rightful(self) -> list[str]:
        """Whose clicks, in this order, carry a call through."""
        return {"requester": ["alice"], "users": ["mei"], "usergroup": ["mei"], "two_people": ["alice", "mei"], "not_requester": ["bruno"]}[self.policy]

    # -- what a row does -------------------------------------------------------------------------------------------------

    async def ask(self, n: int, tool: str = "ship") -> tuple[str, dict[str, Any]]:
        ts = await self.bot.stack.slack.say("alice", ROOM, f'@steward CALL {tool} {{"n": {n}}}')
        return ts, await card(self.bot.stack, ROOM, ts)

    async def payload(self, who: str, ts: str, verdict: str = "approve", **changes: Any) -> None:
        """A click as Slack signs it, with fields changed that only Slack could set."""
        core = self.bot.stack.slack.core
        name, _, other_team = who.partition("@")
        user = core.world.find_user(name)
        channel = core.world.find_channel(ROOM)
        assert user is not None
        assert channel is not None
        message = channel.messages[changes.get("message_ts", ts)]
        action = {"type": "button", "action_id": f"steward:{verdict}", "block_id": "steward:actions", "value": changes["value"]}
        install = core.world.installs[seed.TEAM_ID]
        body = core.interactivity.message_action(user, install, channel, message, action=action, state={"values": {}})
        if other_team:
            body["user"]["team_id"] = seed.PARTNER_TEAM_ID
        answer = await self.bot.send(urlencode({"payload": json.dumps(body)}).encode(), FORM)
        assert answer.status == 200

    async def click(self, who: str, shown: dict[str, Any], verdict: str) -> None:
        """Decide with a button, or with the form."""
        slack, value = self.bot.stack.slack, buttons(shown)["steward:approve"]
        if verdict == "always":
            await self.always(who, shown, value)
        elif "@" in who:
            await self.payload(who, shown["ts"], "approve" if verdict == "edit" else verdict, value=value)
        elif verdict == "edit" and self.policy != "two_people":
            async with _FORMS:
                await slack.click(who, ROOM, shown["ts"], "steward:edit")
                await self.bot.stack.until(lambda: slack.view(who), 60)
                view = slack.view(who)
                assert view is not None
                n = next(b["element"]["initial_value"] for b in view["blocks"] if b.get("block_id") == "field:n")
                typed = {"field:n": n, "field:note": "edited"}
                await slack.submit(who, view["id"], {b: {"value": {"type": "plain_text_input", "value": v}} for b, v in typed.items()})
        else:
            await slack.click(who, ROOM, shown["ts"], "steward:deny" if verdict == "deny" else "steward:approve")

    async def always(self, who: str, shown: dict[str, Any], value: str) -> None:
        """Submit the form that also allows such calls from now on, whether or not it was ever offered to this person."""
        core = self.bot.stack.slack.core
        name, _, other_team = who.partition("@")
        user, channel = core.world.find_user(name), core.world.find_channel(ROOM)
        assert user is not None
        assert channel is not None
        private = {"a": value, "s": f"{seed.TEAM_ID}:{channel.id}:{shown['thread_ts']}"}
        form = {"id": f"V{shown['ts']}", "type": "modal", "callback_id": "steward:always", "private_metadata": json.dumps(private)}
        chosen = {"always:0": "exact", "always:1": "any", "always:for": "3600"}
        values = {place: {"value": {"type": "static_select", "selected_option": {"value": kind}}} for place, kind in chosen.items()}
        body = core.interactivity.view_event("view_submission", user, core.world.installs[seed.TEAM_ID], form, {"values": values})
        if other_team:
            body["user"]["team_id"] = seed.PARTNER_TEAM_ID
        answer = await self.bot.send(urlencode({"payload": json.dumps(body)}).encode(), FORM)
        assert answer.status == 200
        self.errors[who, shown["thread_ts"]] += b"errors" in answer.body

    def told(self, who: str, ts: str) -> int:
        """How many private lines a person got in a thread, and how many complaints in a form."""
        lines = [m for m in self.bot.stack.slack.ephemerals(who.partition("@")[0], ROOM) if m.get("thread_ts") == ts]
        return self.errors[who, ts] + len(lines)

    async def refused(self, cell: Cell, who: str, ts: str, act: Callable[[], Awaitable[None]]) -> None:
        """Do something that must be refused, and see that the person hears of it."""
        before = self.told(who, ts)
        await act()
        cell.refused += 1
        if who == "builds":  # nobody reads it
            cell.answered += 1
            return
        await self.bot.stack.until(lambda: self.told(who, ts) > before, 60)
        cell.answered += 1

    async def carried_through(self, shown: dict[str, Any], n: int) -> None:
        """The rightful people approve: the card was still open, whatever others tried."""
        for who in self.rightful:
            await self.bot.stack.slack.click(who, ROOM, shown["ts"], "steward:approve")
        await self.bot.stack.until(lambda: self.upstream.effects["ship", n], 60)

    # -- the rows --------------------------------------------------------------------------------------------------------

    async def person(self, cell: Cell, n: int, who: str, verdict: str) -> None:
        ts, shown = await self.ask(n)
        may = who in self.allowed and (verdict != "always" or self.policy == "requester")
        if verdict == "deny":
            may = may or who == "alice"  # one may always take back what one asked for
        if not may:
            await self.refused(cell, who, ts, lambda: self.click(who, shown, verdict))
            cell.executed = self.upstream.effects["ship", n]
            await self.carried_through(shown, n)
            return
        await self.click(who, shown, verdict)
        if verdict == "deny":
            await self.bot.stack.until(lambda: len(self.bot.stack.own(ROOM, ts)) >= 2, 60)
        elif self.policy == "two_people":
            await self.bot.stack.until(lambda: self.told(who, ts), 60)
            assert self.upstream.effects["ship", n] == 0
            await self.bot.stack.slack.click("mei" if who != "mei" else "alice", ROOM, shown["ts"], "steward:approve")
        if verdict != "deny":
            await self.bot.stack.until(lambda: self.upstream.effects["ship", n], 60)
        cell.executed = self.upstream.effects["ship", n]

    async def forged_value(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n)
        other_ts, other = await self.ask(n + 500_000)
        for value in ("x", "A" * 20, buttons(shown)["steward:approve"][:-1] + "!", buttons(other)["steward:approve"]):
            await self.refused(cell, self.rightful[0], ts, lambda v=value: self.payload(self.rightful[0], shown["ts"], value=v))  # type: ignore[misc]
        cell.executed = self.upstream.effects["ship", n] + self.upstream.effects["ship", n + 500_000]
        await self.carried_through(shown, n)
        assert other_ts != ts

    async def other_message(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n)
        posted = await self.bot.stack.slack.say("bruno", ROOM, "<@U01ALICE00> look", thread_ts=ts)
        value = buttons(shown)["steward:approve"]
        await self.refused(cell, self.rightful[0], ts, lambda: self.payload(self.rightful[0], posted, value=value, message_ts=posted))
        cell.executed = self.upstream.effects["ship", n]
        await self.carried_through(shown, n)

    async def expired(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n, "ship_soon")
        await self.bot.stack.until(lambda: "steward:approve" not in buttons(self.bot.stack.slack.message(ROOM, shown["ts"]) or {}), 60)
        for who in self.rightful:
            await self.refused(cell, who, ts, lambda w=who: self.click(w, shown, "approve"))  # type: ignore[misc]
        cell.executed = self.upstream.effects["ship", n]

    async def twice(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n)
        first = self.rightful[0]
        await self.click(first, shown, "approve")
        if self.policy == "two_people":
            await self.bot.stack.until(lambda: self.told(first, ts), 60)
        else:
            await self.bot.stack.until(lambda: self.upstream.effects["ship", n], 60)
        await self.refused(cell, first, ts, lambda: self.click(first, shown, "approve"))
        cell.executed = self.upstream.effects["ship", n]

    async def after_deny(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n)
        await self.click(self.rightful[0], shown, "deny")
        await self.bot.stack.until(lambda: len(self.bot.stack.own(ROOM, ts)) >= 2, 60)
        for who in self.rightful:
            await self.refused(cell, who, ts, lambda w=who: self.click(w, shown, "approve"))  # type: ignore[misc]
        cell.executed = self.upstream.effects["ship", n]

    async def after_stop(self, cell: Cell, n: int) -> None:
        ts, shown = await self.ask(n)
        await self.bot.stack.slack.say("alice", ROOM, "stop", thread_ts=ts)
        await self.bot.stack.until(lambda: len(self.bot.stack.own(ROOM, ts)) >= 2, 60)
        for who in self.rightful:
            await self.refused(cell, who, ts, lambda w=who: self.click(w, shown, "approve"))  # type: ignore[misc]
        cell.executed = self.upstream.effects["ship", n]

    async def run(self, verdicts: tuple[str, ...]) -> None:
        """Every row, several at once, each in a thread of its own."""
        jobs: list[Awaitable[None]] = []
        n = self.first
        for verdict in verdicts:
            for who in PEOPLE:
                expected = int(who in self.allowed and verdict != "deny" and (verdict != "always" or self.policy == "requester"))
                cell = Cell(f"{self.policy}/{who}/{verdict}", expected)
                self.cells.append(cell)
                jobs.append(self.person(cell, n, who, verdict))
                n += 1
        for row in (self.forged_value, self.other_message, self.expired, self.twice, self.after_deny, self.after_stop):
            cell = Cell(f"{self.policy}/{row.__name__}", int(row.__name__ == "twice" and self.policy != "two_people"))
            self.cells.append(cell)
            jobs.append(row(cell, n))
            n += 1
        room = asyncio.Semaphore(6)

        async def in_turn(job: Awaitable[None]) -> None:
            async with room:
                await job

        await asyncio.gather(*map(in_turn, jobs))
        await self.bot.stack.quiet()


_FORMS = asyncio.Semaphore(1)
"""One person sees one modal at a time."""


async def _under(policy: str, number: int, verdicts: tuple[str, ...]) -> list[Cell]:
    """The rows of one policy, in a workspace of their own."""
    setting, allowed = POLICIES[policy]
    approvals = Approvals(policy=setting, tools={"ship_soon": ToolApproval(expiry=4)})
    valkey, model = Valkey(), ScriptedModel(obey_policy)
    try:
        async with Upstream() as upstream, http_running(valkey, model, tool_modules=TOOLS, resources={"upstream": upstream.url}, approvals=approvals) as bot:
            everyone = [seed.ALICE, seed.BRUNO, seed.MEI, seed.DANA, seed.ERIK, seed.BUILDS_BOT, bot.stack.slack.bot_user_id]
            bot.stack.slack.add(
                channels=[{"id": f"C0MATRIX{number}", "name": "matrix", "members": everyone, "shared_with": [seed.PARTNER_TEAM_ID]}],
                usergroups=[{"id": GROUP, "name": "Approvers", "handle": "approvers", "users": list(LISTED)}],
            )
            matrix = Matrix(bot, upstream, policy, allowed, number * 1_000)
            await matrix.run(verdicts)
            assert all(count == 1 for count in upstream.effects.values())
            return matrix.cells
    finally:
        valkey.close()


async def test_exactly_the_rows_of_the_policy_are_carried_out(figures: Recorder, full: bool) -> None:
    verdicts = ("approve", "always", "deny", "edit") if full else ("approve", "always")
    found = await asyncio.gather(*(_under(policy, number, verdicts) for number, policy in enumerate(POLICIES)))
    cells = [cell for some in found for cell in some]
    wrong = [f"{c.name}: executed {c.executed}, expected {c.expected}" for c in cells if c.executed != c.expected]
    refused, answered = sum(c.refused for c in cells), sum(c.answered for c in cells)
    print(f"{len(cells)} cells, {refused} refused clicks, {answered} answered privately; wrong: {wrong}")
    figures(
        "S4",
        cells=len(cells),
        executed_where_allowed=sum(c.executed for c in cells if c.expected),
        executed_elsewhere=sum(c.executed for c in cells if not c.expected),
        refused_clicks=refused,
        refused_without_an_answer=refused - answered,
    )
    assert not wrong
    assert refused == answered
    assert sum(c.expected for c in cells) >= 8
