"""The model's faults end visibly: whatever goes wrong, the thread gets an answer or a sentence that helps, within the run's budget, with no secret in it.

Every fault is asked for by its name in a message, so all of them happen at once in one bot, each in a thread of its own;
some heal after a while, some never do.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from bot.messages import MESSAGES
from bot.run import Budget
from tests.conftest import Recorder
from tests.fakes.scripted_model import (
    Reply,
    ScriptedModel,
    bad_json_stream,
    calls,
    context_overflow,
    delay,
    disconnect,
    drop_after,
    empty,
    fault,
    hang,
    loops,
    no_choices,
    raw_calls,
    reasoning,
    refusal,
    stall_after,
    stream_error,
    text,
)
from tests.fakes.scripted_policies import content_text
from tests.fakes.stack import Stack, running, shown
from tests.fakes.valkey import Valkey
from tests.promises.kit import TOOLS, Upstream

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

CANARY = "CANARY7f3a"
SECRET = f"sk-proj-{CANARY}abcdefghijklmnop xoxb-1234567890-{CANARY} Traceback (most recent call last): openai.APIError"
ASKED = re.compile(r"F:(\w+):(\d+) (#m\d+)")
ATTEMPTS = 3


def _body(status: int) -> Reply:
    return fault(status, body=json.dumps({"error": {"message": SECRET, "type": "x", "code": None}}))


FAULTS: dict[str, tuple[Reply, set[str]]] = {
    "hang": (hang(), {"unavailable"}),
    "disconnect": (disconnect(), {"unavailable"}),
    "stall": (stall_after(3), {"unavailable"}),
    "stall_at_once": (stall_after(0), {"unavailable"}),
    "slow_beyond_the_limit": (delay(30, text("too late")), {"unavailable"}),
    "drop_after_the_headers": (drop_after(0), {"unavailable"}),
    "drop_in_mid_stream": (drop_after(4), {"unavailable"}),
    "drop_in_a_call": (drop_after(2, calls(("look_up", {"n": 1}))), {"unavailable"}),
    "error_in_mid_stream": (stream_error(3, message=SECRET), {"unavailable"}),
    "bad_json_in_the_stream": (bad_json_stream(2), {"invalid"}),
    "not_json": (fault(200, body=SECRET), {"invalid", "empty"}),
    "html": (fault(200, body=f"<html>{SECRET}</html>"), {"invalid", "empty"}),
    "bad_arguments": (raw_calls(("look_up", '{"n": ')), {"capped"}),
    "wrong_arguments": (raw_calls(("look_up", '{"m": [1]}')), {"capped"}),
    "arguments_that_are_no_object": (raw_calls(("look_up", "[1, 2]")), {"capped"}),
    "unknown_tool": (calls(("no_such_tool", {"a": 1})), {"capped"}),
    "a_call_without_a_name": (raw_calls((None, "{}")), {"capped", "empty"}),
    "endless_calls": (calls(("look_up", {"n": 1})), {"capped"}),
    "too_many_calls_at_once": (calls(*(("look_up", {"n": i}) for i in range(60))), {"capped"}),
    "empty": (empty(), {"empty"}),
    "only_thoughts": (reasoning("hm, " * 40, empty()), {"empty"}),
    "blank": (text(" \n "), {"empty"}),
    "no_choices": (no_choices(), {"empty"}),
    "refusal": (refusal(f"I cannot help with that. {CANARY}"), {"refused"}),
    "filtered": (text("", finish="content_filter"), {"refused", "empty"}),
    "overflow": (context_overflow(), {"overflow"}),
    "payload_too_large": (_body(413), {"overflow"}),
    "bad_request": (_body(400), {"invalid"}),
    "unprocessable": (_body(422), {"invalid"}),
    "unauthorised": (_body(401), {"not_configured"}),
    "forbidden": (_body(403), {"not_configured"}),
    "not_found": (_body(404), {"not_configured"}),
    "overloaded": (fault(429, retry_after=1, body=json.dumps({"error": {"message": SECRET}})), {"rate_limited"}),
    "overloaded_for_long": (fault(429, retry_after=90), {"rate_limited"}),
    "server_error": (_body(500), {"unavailable"}),
    "bad_gateway": (fault(502, body=f"<html>{SECRET}</html>"), {"unavailable"}),
    "unavailable": (fault(503, retry_after=1), {"unavailable"}),
    "request_timeout": (_body(408), {"unavailable"}),
    "conflict": (_body(409), {"unavailable"}),
}  # fmt: skip
"""Name → what the model does, and the keys of the sentences that may end the run when it never stops doing it."""
HEALS = [
    ("hang", 1), ("disconnect", 2), ("stall", 1), ("drop_in_mid_stream", 2), ("drop_in_a_call", 1), ("error_in_mid_stream", 2), ("bad_json_in_the_stream", 2),
    ("bad_arguments", 2), ("unknown_tool", 1), ("empty", 2), ("no_choices", 1), ("overloaded", 1), ("server_error", 2), ("bad_gateway", 4), ("overflow", 1),
]  # fmt: skip
"""Faults that go away after so many requests: then the answer must come."""


class Faulty:
    """A model that does what the newest `F:` in the conversation says, so and so often."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.good: Counter[str] = Counter()
        """Whole answers given, by nonce."""

    def __call__(self, request: dict[str, Any]) -> Reply:
        found = [m for message in request["messages"] if message["role"] == "user" for m in ASKED.findall(content_text(message))]
        name, times, nonce = found[-1]
        self.requests[nonce] += 1
        if int(times) and self.requests[nonce] > int(times):
            return text(f"answered {nonce}")
        if name == "endless_calls":
            self.good[nonce] += 1
            return loops("look_up", {"n": 1}, stubborn=True)(request)
        reply = FAULTS[name][0]
        self.good[nonce] += reply.body is None and reply.plain and reply.keep is None
        return reply


@dataclass(frozen=True)
class Case:
    """One fault in one thread."""

    name: str
    times: int
    nonce: str
    chinese: bool

    @property
    def words(self) -> str:
        return f"@steward {'请回答我的这个问题，谢谢你的帮助' if self.chinese else 'please answer'} F:{self.name}:{self.times} {self.nonce}"

    def ended(self, said: str) -> bool:
        """Whether a text is one in which this case may end."""
        if self.times and f"answered {self.nonce}" in said:
            return True
        allowed = set() if self.times else FAULTS[self.name][1]
        return any(MESSAGES[key]["zh" if self.chinese else "en"] in said for key in allowed)


def leaks(value: Any) -> list[str]:
    """What must never be seen in Slack, in anything that was sent there."""
    raw = json.dumps(value, ensure_ascii=False, default=str)
    return [
        word for word in (CANARY, "Traceback", "APIError", "JSONDecodeError", "ModelError", "openai", "httpx", "aiohttp", "127.0.0.1", "Error(") if word in raw
    ]


async def _ask(stack: Stack, case: Case, within: float) -> str:
    """Ask, and wait for a message that ends the case; the last thing said."""
    ts = await stack.slack.say("mei" if case.chinese else "alice", "#orders", case.words)

    def last() -> str:
        own = stack.own("#orders", ts)
        return shown(own[-1]) if own else ""

    try:
        await stack.until(lambda: case.ended(last()), within)
    except TimeoutError:
        return last()
    return last()


@dataclass
class Outcome:
    """What one bot did about its cases."""

    cases: int = 0
    silent: int = 0
    over: int = 0
    most: int = 0
    leaked: int = 0
    looped: int = 0


async def _trial(cases: list[Case], budget: Budget, within: float) -> Outcome:
    """All cases at once in one bot."""
    faulty = Faulty()
    valkey, model = Valkey(), ScriptedModel(faulty, keep=10)
    parts: dict[str, Any] = {"model_read_timeout": 0.6, "model_call_timeout": 1.5, "model_key": SECRET.split(maxsplit=1)[0], "budget": budget, "workers": 200}
    try:
        async with Upstream() as upstream, running(valkey, model, tool_modules=TOOLS, resources={"upstream": upstream.url}, **parts) as stack:
            ends = await asyncio.gather(*(_ask(stack, case, within) for case in cases))
            await stack.quiet(1.0)
            wrong = [f"{case.name} ×{case.times}: {said[:200]!r}" for case, said in zip(cases, ends, strict=True) if not case.ended(said)]
            told = [call["args"] for call in stack.slack.calls() if call["method"].startswith(("chat.", "assistant.", "views."))]
            leaked = [word for args in told for word in leaks(args)]
            # Whole answers count against the budget, with one more for the summary, each asked for a few times at most.
            over = {case.name for case in cases if faulty.good[case.nonce] > (budget.model_calls + 1) * ATTEMPTS}
            looped = max((faulty.requests[case.nonce] for case in cases if case.name == "endless_calls"), default=0)
            settled = faulty.requests.total()
            await stack.quiet(1.0)
            assert not wrong, "\n".join(wrong)
            assert not leaked
            assert not over
            assert looped <= budget.model_calls + 1
            assert upstream.asked.total() == 0
            assert faulty.requests.total() == settled  # nobody goes on asking
            assert not model.violations
            return Outcome(len(cases), sum(not said for said in ends), len(over), max(faulty.requests.values()), len(leaked), looped)
    finally:
        valkey.close()


async def test_every_fault_of_the_model_ends_in_words_within_the_budget(figures: Recorder, full: bool) -> None:
    passing = {"unavailable", "rate_limited"}
    lasting = [Case(name, 0, f"#m{n}", bool(n % 2)) for n, (name, (_, ends)) in enumerate(FAULTS.items()) if ends & passing]
    final = [Case(name, 0, f"#m{100 + n}", bool(n % 2)) for n, (name, (_, ends)) in enumerate(FAULTS.items()) if not ends & passing]
    healing = [Case(name, times, f"#m{200 + n}", bool(n % 2)) for n, (name, times) in enumerate(HEALS)]
    # What may pass is waited for, as long as the budget of time allows; what cannot is said at once.
    trials = [
        await _trial(lasting, Budget(seconds=2.0), 100),
        await _trial(final + healing, Budget() if full else Budget(model_calls=4, tool_calls=8), 100),
    ]
    if full:
        trials.append(await _trial([Case(c.name, 0, f"#m{300 + n}", not c.chinese) for n, c in enumerate(lasting + final)], Budget(), 500))
    count, most = sum(t.cases for t in trials), max(t.most for t in trials)
    print(f"{count} faults, most requests of one run {most}, of the endless one {max(t.looped for t in trials)}")
    figures(
        "R12",
        faults=count,
        silent_runs=sum(t.silent for t in trials),
        over_budget=sum(t.over for t in trials),
        most_requests_of_one_run=most,
        secrets_shown=sum(t.leaked for t in trials),
    )
