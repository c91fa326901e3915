"""Replays do nothing: a valid, signed request that is sent again within five minutes starts nothing, runs nothing and posts nothing.

Mentions, direct messages, replies, edits, clicks, submissions and commands are recorded on their way to the HTTP edge and then
sent again byte for byte, in a shuffled order, some of them several times.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, obey_policy
from tests.fakes.valkey import Valkey
from tests.promises.kit import TOOLS, HttpStack, Upstream, card, http_running, post, stored

pytestmark = [pytest.mark.promise, pytest.mark.timeout(600)]


async def _unit(bot: HttpStack, n: int) -> None:
    """One small story: asked, decided in one of five ways, talked on."""
    stack, slack = bot.stack, bot.stack.slack
    ts = await slack.say("alice", "#orders", f'@steward CALL book {{"n": {n}}}')
    asked = await card(stack, "#orders", ts)
    way = n % 5
    if way in {0, 1}:
        await slack.click("alice", "#orders", asked["ts"], "steward:approve")
    elif way == 2:
        await slack.click("alice", "#orders", asked["ts"], "steward:deny")
    else:
        user = "alice"
        async with _FORMS:
            await slack.click(user, "#orders", asked["ts"], "steward:edit" if way == 3 else "steward:deny_reason")
            await stack.until(lambda: slack.view(user))
            view = slack.view(user)
            assert view is not None
            blocks = [b["block_id"] for b in view["blocks"] if b["type"] == "input"]
            typed = {"field:n": str(n), "field:note": "再确认一下", "reason": "not today"}
            assert (await slack.submit(user, view["id"], {b: {"value": {"type": "plain_text_input", "value": typed[b]}} for b in blocks}))["ok"]
    await stack.until(lambda: len(stack.own("#orders", ts)) >= 2, 60)
    told = await slack.say("alice", "#orders", "and what now? 现在呢？", thread_ts=ts)
    await stack.until(lambda: len(stack.own("#orders", ts)) >= 3, 60)
    await slack.edit("alice", "#orders", told, "never mind")
    who = ("alice", "bruno", "mei")[n % 3]
    await slack.say(who, slack.dm(who), f"hello {n}")
    await slack.command(who, "#orders", "/steward", ("status", "help", "")[n % 3])


_FORMS = asyncio.Semaphore(1)
"""One person sees one modal at a time."""


async def test_a_request_sent_again_starts_runs_and_posts_nothing(figures: Recorder, full: bool) -> None:
    wanted = 1_000 if full else 120
    valkey, model = Valkey(), ScriptedModel(obey_policy)
    try:
        async with Upstream() as upstream, http_running(valkey, model, tool_modules=TOOLS, resources={"upstream": upstream.url}) as bot:
            n = 0
            while len(bot.recorder.requests) < wanted:
                await asyncio.gather(*(_unit(bot, n + i) for i in range(10 if full else 5)))
                n += 10 if full else 5
            await bot.stack.quiet(1.0)
            slack = bot.stack.slack
            assert upstream.writes == sum(k % 5 in {0, 1, 3} for k in range(n))

            def state() -> dict[str, int]:
                return {
                    "model_calls": model.count,
                    "executions": upstream.asked.total(),
                    "posts": len(slack.calls("chat.postMessage")),
                    "updates": len(slack.calls("chat.update")),
                    "stored": stored(valkey),
                }

            before = state()
            chance = random.Random(2)
            again = list(bot.recorder.requests)
            again += chance.sample(again, len(again) // 5)
            chance.shuffle(again)
            statuses: Counter[int] = Counter()
            room = asyncio.Semaphore(8)

            async def replay(i: int) -> None:
                async with room:
                    statuses[(await post(bot.port, again[i])).status] += 1

            await asyncio.gather(*map(replay, range(len(again))))
            await bot.stack.quiet(1.0)
            after = state()
            print(f"{len(again)} replayed: {dict(statuses)}; before {before}, after {after}")
            assert set(statuses) == {200}
            extra = {name: after[name] - before[name] for name in before}
            figures("S2", replayed=len(again), extra_runs=extra["model_calls"], extra_executions=extra["executions"], extra_messages=extra["posts"])
            assert extra == dict.fromkeys(extra, 0)
            fresh = await slack.say("bruno", "#orders", "@steward still there?")
            await bot.stack.thread("#orders", fresh, own=1)
            assert model.count == after["model_calls"] + 1  # the counters do count
    finally:
        valkey.close()
