"""What you approve is what runs: a card shows exactly the arguments or says that they are cut, and what changed after the click is not carried out.

Arguments made to deceive (markdown, direction marks, invisible characters, imitations of our own "Approved") are put through
every write tool and read back from what the card shows. Then the saved state, the tool's schema and the session are changed
between a click and its execution.
"""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from bot.cards import Cut, approval_card, decode_card, full_view, resolved_card
from bot.effects_slack import card_input
from bot.messages import say
from bot.session_ops import card_state
from bot.state import Approval, Call, Policy, Run, Status, Vote
from memory.keys import Actor, Keys, Thread
from playground.validate import TOTAL_CHARS, check_blocks
from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, obey_policy
from tests.fakes.stack import buttons, running, shown
from tests.fakes.valkey import Valkey
from tests.promises import kit_tools
from tests.promises.kit import Upstream, card
from tools.builtin.orders.calls import cancel_order, change_shipping_address
from tools.builtin.slack import post_message
from tools.decorator import tool
from tools.engine import Prepared, digest, prepare
from tools.registry import Registry
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Tool, ToolContext

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]


class Line(BaseModel):
    """One line of an order."""

    sku: str
    count: int = 1
    tags: list[str] = []
    more: dict[str, str | int | None] = {}


@tool(effect="write", title="Place order *now*")
async def place_order(
    lines: Annotated[list[Line], Field(description="Which articles, and how many of each")],
    extras: Annotated[dict[str, Any], Field(description="Whatever else is to be kept beside it")],
    note: Annotated[str | None, Field(description="A remark for the packer")] = None,
    confirmed: Annotated[bool, Field(description="Whether the price was agreed")] = False,
) -> str:
    """Place an order of several lines with anything else that is to be kept beside it."""
    return f"{len(lines)} {extras} {note} {confirmed}"


@tool(effect="write")
async def odd_types(
    json: Annotated[str, Field(description="A word that pydantic keeps for itself")],
    ratio: Annotated[float, Field(description="A fraction, any size")],
    level: Annotated[Literal["low", "high", "高"], Field(description="One of three words")],
    *,
    big: Annotated[int, Field(description="Of any size")],
    deep: Annotated[list[list[Any]], Field(description="Rows of a table, each with its cells")],
    UPPER: Annotated[str, Field(description="A name in capitals")] = "",  # noqa: N803
    x: Annotated[str, Field(description="A name of one letter")] = "",
) -> str:
    """Take arguments of many types and unusual names; it exists to be shown on a card."""
    return f"{json}{ratio}{level}{big}{deep}{UPPER}{x}"


WRITES: list[Tool] = [post_message, cancel_order, change_shipping_address, place_order, odd_types, kit_tools.book]
BACK: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "post_message": lambda seen: {
        "channel": seen["Channel"],
        "text": seen["Text"],
        "thread_ts": seen.get("In thread", ""),
        "channel_id": seen.get("Channel id", ""),
    },
    "cancel_order": lambda seen: {"order_id": seen["Order"], "reason": seen["Reason"]},
    "change_shipping_address": lambda seen: {"order_id": seen["Order"], "address": seen["New address"], "recipient": seen.get("Recipient", "")},
}
"""For tools with rows of their own: from what the card shows to the arguments."""
PIECES = [
    "hello", "你好，世界", "**bold** _it_ ~s~ `code` ```\nfence\n```", "\n", "\n\n", "\r\n", "\t", " ", "  ", "\u202e", "\u2066", "\u2069",
    "\u200b", "\u200d", "\ufeff", "\u00ad", "\u2028", "\u3000", "\u00a0", "👩‍👩‍👧", "e\u0301", "<@U01ALICE00>", "<!channel>",
    "<https://evil.example|https://bank.example>", "&amp;", "&lt;b&gt;", "⟨U+202E⟩", "⟨", "↵", "↵\n", "Approved by <@U01ALICE00>, today",
    "已批准", "Fingerprint 00000000 · book", "cut: 5 more characters — View all", "(empty text)", '{"a": 1}', "null", "true", "5", "…", "\x00",
    "\x1b[31m", "\ud800", "\U000e0041", "\u2800", "a" * 200, "长" * 300, "x" * 3_000, ">quote", "- [ ] item", "| a | b |", ":tada:",
    "\u061c", "\u115f", "＠here", "\u200b",
]  # fmt: skip


def nasty(chance: random.Random, longest: int) -> str:
    """A text made to deceive, of at most `longest` characters."""
    if chance.random() < 0.06:
        return ""
    made = "".join(chance.choice(PIECES) if chance.random() < 0.7 else chance.choice(string.printable) for _ in range(chance.choice([1, 2, 3, 5, 9, 20, 60])))
    if chance.random() < 0.04:
        made *= chance.randrange(2, 40)
    return made[:longest]


def anything(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON value."""
    kind = chance.randrange(8 if depth < 3 else 6)
    if kind == 6:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 7:
        return {nasty(chance, 60): anything(chance, depth + 1) for _ in range(chance.randrange(4))}
    return [
        nasty(chance, 800),
        chance.randrange(-(10**12), 10**12),
        chance.uniform(-1e6, 1e6),
        None,
        chance.random() < 0.5,
        chance.choice([0, 1, 1e300, -0.5]),
    ][kind]


def arguments(chance: random.Random, wanted: Tool) -> dict[str, Any]:
    """Arguments for one tool, most of them valid."""
    match wanted.name:
        case "post_message":
            made: dict[str, Any] = {"channel": nasty(chance, 80) or "#general", "text": nasty(chance, 4_000) or "x"}
            made |= {"channel_id": f"C{chance.randrange(10**9)}"} if chance.random() < 0.5 else {}
            return made | ({"thread_ts": f"{chance.randrange(10**9)}.{chance.randrange(10**6):06d}"} if chance.random() < 0.3 else {})
        case "cancel_order":
            return {"order_id": f"ABC-2024{chance.randrange(10**4):04d}-{chance.randrange(999):03d}", "reason": nasty(chance, 500)}
        case "change_shipping_address":
            return {"order_id": "ABC-20240520-001", "address": "No. 5 " + nasty(chance, 290), "recipient": nasty(chance, 100)}
        case "place_order":
            lines = [
                {
                    "sku": nasty(chance, 200),
                    "count": chance.randrange(99),
                    "tags": [nasty(chance, 40)],
                    "more": {nasty(chance, 30): chance.choice([1, None, "y"])},
                }
                for _ in range(chance.randrange(4))
            ]
            extras = {nasty(chance, 80): anything(chance) for _ in range(chance.randrange(5))}
            return {"lines": lines, "extras": extras, "note": chance.choice([None, nasty(chance, 2_000)]), "confirmed": chance.random() < 0.5}
        case "odd_types":
            return {
                "json": nasty(chance, 1_500), "ratio": chance.uniform(-1, 1), "level": chance.choice(["low", "high", "高"]), "big": chance.randrange(10**30),
                "deep": [[anything(chance)]], "UPPER": nasty(chance, 50), "x": nasty(chance, 9_000),
            }  # fmt: skip
        case _:
            return {"n": chance.randrange(10**6), "note": nasty(chance, 4_000)}


def judged(wanted: Tool, prepared: Prepared, registry: Registry, chance: random.Random) -> str:
    """Hold one card against the arguments: `whole`, `cut`, or what is wrong with it."""
    language = chance.choice(["en", "zh"])
    run = Run(id="r", requested_by=Actor(team_id="T1", user_id="U1"), locale=language, started_at=0, active_since=0)
    approval = Approval(
        id="a" * 20, digest=digest(wanted, prepared.arguments, "s", "r", "c"), policy=Policy(rule=chance.choice(["requester", "two_people"])), expires_at=9e8
    )
    call = Call(id="c", tool=wanted.name, arguments=prepared.arguments, effect="write", status=Status.WAITING, approval=approval)
    made = card_input(call, run, card_state(call), registry)
    rendered = approval_card(made)
    problems = check_blocks(rendered.blocks or [])
    if problems.texts or problems.chars > TOTAL_CHARS:
        return f"Slack would refuse it: {problems.texts[:3]}, {problems.chars} characters"
    vote = Vote(actor=run.requested_by, verdict="deny", at=1.0, reason=nasty(chance, 900))
    failed = ToolResult.fail(wanted.name, ErrorCode.REFUSED, nasty(chance, 900) or "no", Suggestion.GIVE_UP)
    closed = call.model_copy(update={"status": Status.FAILED, "result": failed, "approval": approval.model_copy(update={"votes": (vote,)})})
    outcome = "whole"
    untranslated = {said: label for label, said in wanted.words.get(language, {}).items()}
    for blocks in (rendered.blocks or [], resolved_card(card_input(closed, run, card_state(closed), registry)).blocks or []):
        seen = decode_card(blocks)
        if isinstance(seen, Cut):
            words = [say(key, language, count="\0").split("\0")[0] for key in ("card_cut", "card_rows_cut")]
            if not any(word in shown({"blocks": blocks}) for word in words):
                return "cut, and the card does not say so"
            outcome = "cut"
        elif BACK.get(wanted.name, dict)({untranslated.get(label, label): value for label, value in seen.items()}) != prepared.arguments:
            return f"shows {seen!r:.300}"
    if outcome == "cut":
        if "steward:view" not in buttons({"blocks": rendered.blocks}):
            return "cut, and no way to see it all"
        everything = full_view(made)["blocks"]
        seen = decode_card(everything)
        if (
            not isinstance(seen, Cut)
            and BACK.get(wanted.name, dict)({untranslated.get(label, label): value for label, value in seen.items()}) != prepared.arguments
        ):
            return f"all of it shows {seen!r:.300}"
        if isinstance(seen, Cut) and say("view_left_out", language, count="\0").split("\0")[0] not in shown({"blocks": everything}):
            return "the view is cut, and does not say so"
    return outcome


def test_a_card_reads_back_as_its_arguments_or_says_that_it_is_cut(figures: Recorder, full: bool) -> None:
    count = 10_000 if full else 700
    chance = random.Random(3)
    registry = Registry(WRITES)
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    while sum(outcomes.values()) + len(wrong) < count:
        wanted = chance.choice(WRITES)
        raw = json.dumps(arguments(chance, wanted))
        prepared = prepare(registry, wanted.name, raw)
        if not isinstance(prepared, Prepared):
            continue  # never gets as far as a card
        outcome = judged(wanted, prepared, registry, chance)
        if outcome in {"whole", "cut"}:
            outcomes[outcome] += 1
        else:
            wrong.append(f"{wanted.name} {raw:.300}: {outcome}")
    print(dict(outcomes))
    figures("S3", cards=count, true=sum(outcomes.values()), of_these_cut=outcomes["cut"])
    assert not wrong, "\n".join(wrong[:5])
    assert min(outcomes["whole"], outcomes["cut"]) > count // 100


# --- what changes after the click -------------------------------------------------------------------------------------

Json = dict[str, Any]


def _the_call(document: Json) -> Json:
    run = document.get("run") or document["waiting"][0]
    call: Json = run["calls"][0]
    return call


def _arguments(document: Json) -> None:
    _the_call(document)["arguments"]["n"] += 1_000_000


def _a_hidden_argument(document: Json) -> None:
    _the_call(document)["arguments"]["note"] = "and everything else\u200b"


def _the_type(document: Json) -> None:
    _the_call(document)["arguments"]["n"] = str(_the_call(document)["arguments"]["n"])


def _one_more(document: Json) -> None:
    _the_call(document)["arguments"]["extra"] = True


def _the_tool(document: Json) -> None:
    _the_call(document)["tool"] = "ship_soon"


def _the_call_id(document: Json) -> None:
    _the_call(document)["id"] += "x"


def _the_run(document: Json) -> None:
    (document.get("run") or document["waiting"][0])["id"] += "x"


def _the_session(document: Json) -> None:
    document["thread"]["thread_ts"] = "1700000000.000001"


def _approved_by_hand(document: Json) -> None:
    call = _the_call(document)
    call["status"] = "approved"
    call["arguments"]["n"] += 2_000_000


def _nothing(document: Json) -> None:
    pass


def _the_place_of_the_card(document: Json) -> None:
    """As if the worker had died between posting the card and recording where: the click still counts."""
    run = document.get("run") or document["waiting"][0]
    for box in run["outbox"]:
        box.pop("ts")
    for name in ("card_ts", "shown"):
        _the_call(document)["approval"].pop(name)


HONEST = (_nothing, _the_place_of_the_card)


CHANGES: list[Callable[[Json], None]] = [
    *HONEST, _arguments, _a_hidden_argument, _the_type, _one_more, _the_tool, _the_call_id, _the_run, _the_session, _approved_by_hand,
]  # fmt: skip


@tool(effect="write", keyed=True, timeout=6, title="Book")
async def book(ctx: ToolContext, n: Annotated[int, Field(description="Ten times the number of the thing")], note: kit_tools.Note = "") -> dict[str, Any]:
    """Book one thing by its number; the upstream honours the idempotency key. Returns its number."""
    return await kit_tools._send(ctx, "book", {"n": n, "note": note, "key": ctx.idempotency_key})


async def test_what_changed_after_the_click_is_not_carried_out(figures: Recorder, full: bool, tmp_path: Path) -> None:
    rounds = 10 if full else 1
    valkey, model = Valkey(), ScriptedModel(obey_policy)
    offered = Registry([kit_tools.book, kit_tools.ship, kit_tools.ship_soon])
    renamed = Registry([book, kit_tools.ship, kit_tools.ship_soon])
    try:
        async with Upstream() as upstream, running(valkey, model, registry=offered, resources={"upstream": upstream.url}) as stack:
            first = stack.bots[0]
            keys = Keys(stack.slack.team_id)
            asked: list[tuple[int, str, str, Callable[[Json], None] | None]] = []
            for n in range(rounds * (len(CHANGES) + 1)):
                change = [*CHANGES, None][n % (len(CHANGES) + 1)]
                name = "book" if change is None else "ship"  # None: the schema of `book` changes
                ts = await stack.slack.say("alice", "#orders", f'@steward CALL {name} {{"n": {n}}}')
                asked.append((n, ts, (await card(stack, "#orders", ts))["ts"], change))
            await stack.quiet()
            await first.worker.stop(2.0)  # the edge still takes clicks; nobody acts on them yet
            for _, _, card_ts, _ in asked:
                assert (await stack.slack.click("alice", "#orders", card_ts, "steward:approve"))["ok"]
            for _, ts, _, change in asked:
                if change is None:
                    continue
                thread = Thread(team_id=stack.slack.team_id, channel_id="C01ORDERS0", thread_ts=ts)
                key = f"{keys.base(thread.shard)}doc:{thread.id}"
                raw = valkey.command("GET", key)
                assert isinstance(raw, bytes)
                document = json.loads(raw)
                change(document)
                valkey.command("SET", key, json.dumps(document))
            await stack.bot(registry=renamed)

            def settled() -> bool:
                cards = [stack.slack.message("#orders", card_ts) or {} for _, _, card_ts, change in asked if change is not _the_session]
                return all("steward:approve" not in buttons(message) for message in cards)

            await stack.until(settled, 60)
            await stack.quiet(1.0)
            honest = {n for n, _, _, change in asked if change in HONEST}
            done = {n for kind, n in upstream.effects if kind == "ship"}
            other = sum(upstream.effects[kind, n] for kind, n in upstream.effects if n not in honest or kind != "ship")
            print(f"{len(asked)} clicks, {len(honest)} unchanged and executed {len(done & honest)}, executed with another digest {other}")
            figures("S3", changed_after_the_click=len(asked) - len(honest), executed_with_another_digest=other)
            assert other == 0
            assert done == honest
            assert upstream.effects.total() == len(honest)
    finally:
        valkey.close()
