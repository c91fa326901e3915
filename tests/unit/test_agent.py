"""The agent as a machine: whatever happens in whatever order, a few sentences stay true of its state.

Hypothesis writes the story (messages, clicks, edits, stops, time, crashes, what the model says), the pure functions are
driven exactly as a worker drives them, and the invariants are looked at after every step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from bot import actions as act
from bot.events import Decision, Deleted, DirectMessage, Edited, Event, Mention, Person, RoomKind, Stop, ThreadReply
from bot.model import to_wire
from bot.recovery import disturbed, take_over
from bot.run import Budget, decide, fold, record
from bot.session_ops import all_runs
from bot.settle import settle
from bot.state import Approval, Call, Policy, Session, Status, dump, load
from memory.keys import Actor, Thread
from memory.transcript import Item, UserMessage, arrange
from playground.demo_validate import check_request
from tools.result import ErrorCode, Suggestion, ToolResult

THREAD = Thread(team_id="T1", channel_id="C1", thread_ts="1.000000")
PEOPLE = [Actor(team_id="T1", user_id=f"U{n}") for n in range(3)]
GUEST = Actor(team_id="T1", user_id="UGUEST")
BUDGET = Budget(model_calls=4, tool_calls=5)


def person(actor: Actor) -> Person:
    return Person(name=actor.user_id, is_guest=actor == GUEST)


@dataclass
class Machine:
    """A worker without the world: performs actions by making up their outcomes, and remembers what was done."""

    now: float = 1_000.0
    epoch: int = 1
    session: Session = field(default_factory=lambda: Session(thread=THREAD))
    log: list[Item] = field(default_factory=list)
    clock: int = 0
    asked: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    executed: dict[str, int] = field(default_factory=dict)
    approved: dict[str, Actor] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    model_calls: int = 0

    def ts(self) -> str:
        self.clock += 1
        return f"{1_000 + self.clock}.000000"

    def commit(self) -> None:
        self.log.extend(self.session.pending)
        self.session = self.session.model_copy(update={"log_length": len(self.log), "pending": ()})
        assert load(dump(self.session)) == self.session
        self.check()

    def check(self) -> None:
        open_calls = [call.id for run in all_runs(self.session) for call in run.calls if call.open]
        messages = to_wire("s", arrange(self.log, open_calls))
        if len(messages) > 1:
            assert check_request({"model": "m", "messages": messages}) is None
        seen = [item.ts for item in self.log if isinstance(item, UserMessage)]
        assert len(seen) == len(set(seen)), "a message stands in the transcript twice"
        requesters = [run.requested_by for run in self.session.waiting if run.answer is None]
        assert len(requesters) == len(set(requesters)), "two runs wait for one person"

    def happen(self, event: Event) -> None:
        self.session = fold(self.session, event, self.now)
        self.commit()

    def crash(self, *, keep: bool) -> None:
        """Another worker takes over; what was not committed is lost. `keep`: only an interruption in the same process."""
        self.session = self.session.model_copy(update={"pending": ()})
        if keep:
            self.session = disturbed(self.session)
        else:
            self.epoch += 1
            self.session = take_over(load(dump(self.session)), self.epoch, self.now)
        self.commit()

    def work(self, choose: Any, *, stop_after: int = 60) -> None:
        for _ in range(stop_after):
            self.session = settle(self.session, self.now)
            action = decide(self.session, self.now, BUDGET)
            if isinstance(action, act.Wait):
                self.commit()
                return
            self.perform(action, choose)
        raise AssertionError("the machine does not come to rest")

    def outcome(self, *outcomes: act.Outcome) -> None:
        for outcome in outcomes:
            self.session = record(self.session, outcome, self.now, self.epoch)
        self.commit()

    def perform(self, action: act.Action, choose: Any) -> None:
        match action:
            case act.CallModel(run=run, final=final):
                self.model_calls += 1
                self.outcome(self.model(run.id, run.usage.model_calls, final=final, choose=choose))
            case act.RunTools(run=run, calls=calls):
                self.outcome(act.ToolsStarted(tuple(call.id for call in calls)))
                crash = choose(st.sampled_from(["no", "no", "no", "before", "after"]))
                if crash == "before":
                    self.crash(keep=False)
                    return
                for call in calls:
                    if call.effect == "write":
                        assert call.id in self.approved, "a write ran without a valid click"
                        assert call.keyed or call.id not in self.executed, "an unkeyed write ran twice"
                        self.executed[call.id] = self.executed.get(call.id, 0) + 1
                if crash == "after":
                    self.crash(keep=False)
                    return
                for call in calls:
                    good = choose(st.booleans())
                    result = ToolResult.ok(call.tool, 1) if good else ToolResult.fail(call.tool, ErrorCode.NOT_FOUND, "no", Suggestion.GIVE_UP)
                    self.outcome(act.ToolDone(call.id, Status.DONE if good else Status.FAILED, result))
            case act.AskApproval(call=call):
                ok = choose(st.sampled_from([True, True, True, False]))
                self.outcome(act.CardPosted(call.id, self.ts()) if ok else act.CardRefused(call.id))
            case act.UpdateCard(run=run, call=call, state=state):
                self.outcome(act.CardShown(run.id, call.id, state))
            case act.Reply(run=run):
                box = f"{run.id}.0"
                assert run.id not in self.answers, "a run was answered twice"
                self.answers.append(run.id)
                self.replies.append(run.answer or "")
                self.outcome(act.Posting(box))
                self.outcome(act.Posted(box, self.ts()), act.PartReplied(last=True))
            case act.Finish():
                self.outcome(act.Finished())
            case act.SendNotice(notice=notice):
                self.outcome(act.NoticeTaken(notice.id))
            case act.ReadHistory():
                self.outcome(act.HistoryRead(()))
            case _:
                raise AssertionError(action)

    def model(self, run_id: str, turn: int, *, final: bool, choose: Any) -> act.ModelAnswered | act.ModelFailed:
        kind = choose(st.sampled_from(["text", "text", "read", "write", "writes", "mixed", "bad", "down", "refused"]))
        if kind == "down":
            return act.ModelFailed("unavailable", transient=True)
        if kind == "refused":
            return act.ModelFailed("refused", transient=False)
        if final or kind == "text":
            return act.ModelAnswered("words", (), 10, final=final)
        wanted = {"read": ["r"], "write": ["w"], "writes": ["w", "k"], "mixed": ["r", "w", "r"], "bad": ["x"]}[kind]
        return act.ModelAnswered("", tuple(self.call(run_id, turn, i, letter) for i, letter in enumerate(wanted)), 10)

    def call(self, run_id: str, turn: int, index: int, letter: str) -> Call:
        call_id = f"call_{run_id}_{turn}_{index}"
        if letter == "x":
            bad = ToolResult.fail("nope", ErrorCode.UNKNOWN_TOOL, "no such tool", Suggestion.USE_OTHER_TOOL)
            return Call(id=call_id, tool="nope", raw="{", status=Status.FAILED, result=bad)
        if letter == "r":
            return Call(id=call_id, tool="read", raw="{}", arguments={})
        approval = Approval(id=f"a{call_id}", digest="d", policy=Policy(), expires_at=self.now + 100)
        arguments = {"n": index}
        return Call(id=call_id, tool="write", raw='{"n":0}', arguments=arguments, effect="write", keyed=letter == "k", status=Status.WAITING, approval=approval)

    def open_cards(self) -> list[tuple[Actor, Call]]:
        return [(run.requested_by, call) for run in all_runs(self.session) for call in run.calls if call.status is Status.WAITING and call.approval]


EVENTS = [
    "mention",
    "mention",
    "reply",
    "reply to others",
    "click",
    "click",
    "edit",
    "delete",
    "stop",
    "later",
    "much later",
    "crash",
    "disturb",
    "work",
    "work",
]


@settings(max_examples=250)
@given(st.data())
def test_whatever_happens_the_state_stays_sound_and_comes_to_rest(data: st.DataObject) -> None:
    machine = Machine()
    sent: list[str] = []
    deleted: set[str] = set()
    for _ in range(data.draw(st.integers(1, 18))):
        match data.draw(st.sampled_from(EVENTS)):
            case "mention" | "reply" | "reply to others" as kind:
                actor, ts = data.draw(st.sampled_from(PEOPLE)), machine.ts()
                text = data.draw(st.sampled_from(["do it", "", "那上海呢", "more"]))
                common: dict[str, Any] = {
                    "thread": THREAD,
                    "key": ts,
                    "actor": actor,
                    "ts": ts,
                    "text": text,
                    "room": RoomKind.CHANNEL,
                    "person": person(actor),
                }
                if kind == "mention":
                    machine.happen(Mention(**common, root=data.draw(st.booleans())))
                else:
                    machine.happen(ThreadReply(**common, to_others=kind == "reply to others"))
                sent.append(ts)
            case "click" if machine.open_cards():
                owner, call = data.draw(st.sampled_from(machine.open_cards()))
                actor = data.draw(st.sampled_from([owner, owner, *PEOPLE, GUEST]))
                verdict: Literal["approve", "deny"] = data.draw(st.sampled_from(["approve", "approve", "deny"]))
                assert call.approval is not None
                machine.happen(
                    Decision(
                        thread=THREAD,
                        key=machine.ts(),
                        actor=actor,
                        approval_id=call.approval.id,
                        message_ts=call.approval.card_ts,
                        verdict=verdict,
                        person=person(actor),
                    )
                )
                after = next((c for run in all_runs(machine.session) for c in run.calls if c.id == call.id), None)
                if after is not None and after.status is Status.APPROVED:
                    assert actor == owner
                    machine.approved[call.id] = actor
            case "edit" if sent:
                machine.happen(Edited(thread=THREAD, key=machine.ts(), actor=PEOPLE[0], ts=data.draw(st.sampled_from(sent)), text="changed"))
            case "delete" if sent:
                gone = data.draw(st.sampled_from(sent))
                deleted.add(gone)
                machine.happen(Deleted(thread=THREAD, key=machine.ts(), ts=gone))
            case "stop":
                machine.happen(Stop(thread=THREAD, key=machine.ts(), actor=PEOPLE[0], person=person(PEOPLE[0])))
            case "later":
                machine.now += 5
            case "much later":
                machine.now += 200
            case "crash":
                machine.crash(keep=False)
            case "disturb":
                machine.crash(keep=True)
            case _:
                machine.work(data.draw)
    for _ in range(200):  # the story is over: only time passes now
        machine.now += 60
        machine.work(data.draw)
        if not all_runs(machine.session) and not machine.session.inbox:
            break

    assert machine.session.run is None
    assert machine.session.waiting == ()
    assert machine.session.inbox == ()
    assert machine.session.notices == ()
    assert len(machine.answers) == len(set(machine.answers))
    recorded = {item.ts for item in machine.log if isinstance(item, UserMessage)}
    assert recorded >= set(sent) - deleted, "a message was lost"


def test_a_burst_that_arrives_swapped_is_one_request_in_the_order_it_was_written() -> None:
    machine = Machine()
    bare, words = machine.ts(), machine.ts()
    for ts, text in ((words, "hello"), (bare, "")):
        machine.session = fold(
            machine.session.model_copy(update={"history_from": "" if machine.session.inbox else "hold"}),
            DirectMessage(thread=THREAD, key=ts, actor=PEOPLE[0], ts=ts, text=text, room=RoomKind.IM, person=person(PEOPLE[0])),
            machine.now,
        )
    machine.now += 2
    machine.session = settle(machine.session, machine.now)
    machine.commit()

    assert [item.ts for item in machine.log if isinstance(item, UserMessage)] == [bare, words]
    assert machine.session.run is not None
    assert machine.session.inbox == ()
