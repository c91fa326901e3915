"""Long-term memory may be absent.

The server that keeps memories is away, silent, slow, broken or empty, from the start or in the middle: every mention is answered, the answer says
that it lacks memories, it waits for them no longer than it may, and what was said meanwhile is learned once when the server is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web
from qdrant_client import AsyncQdrantClient
from structlog.testing import capture_logs

import bot.effects_learn
from memory.longterm.server import ServerStore
from memory.longterm.store import WORDS_ONLY
from tests.conftest import Recorder
from tests.fakes.memories import Switch, in_memory
from tests.fakes.scripted_model import ScriptedModel, text
from tests.fakes.stack import Stack, running, shown
from tests.promises.harness import stored
from tests.scenarios.desk_kit import actor
from tests.scenarios.kit import moment
from tests.scenarios.remembering_kit import known, remembering, store_in

pytestmark = [pytest.mark.promise, pytest.mark.timeout(300)]

LIMIT: Final = 0.3
"""Seconds an answer waits for memory."""
LACKS = {"en": "My long-term memory was not available for this answer.", "zh": "生成这条回答时，我的长期记忆不可用。"}
ILLS = ("refusing", "silent", "broken", "slow")


class Ill:
    """A Qdrant server's address where nothing good answers: `refusing` connections, `silent` (black-holed), `broken` (500s) or `slow` to fail."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.asked = 0
        self._over = asyncio.Event()

    async def _handle(self, _: web.Request) -> web.Response:
        self.asked += 1
        if self.how != "broken":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), 1.0 if self.how == "slow" else None)
        return web.Response(status=500, text="ill")

    @contextlib.asynccontextmanager
    async def address(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_route("*", "/{any:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = int(runner.addresses[0][1])
        if self.how == "refusing":
            await runner.cleanup()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            self._over.set()
            await runner.cleanup()


def said(number: int) -> tuple[str, str]:
    """What is asked, and in which language."""
    if number % 3 == 2:
        return f"请记住我对花生过敏，编号 {number}", "zh"
    return (f"Please remember that I hate rainy days {number}" if number % 3 else f"What is in order {number}?"), "en"


async def mentioned(stack: Stack, count: int) -> list[tuple[str, str]]:
    """Mention the bot `count` times, in threads of their own; the answer below each and its language."""
    asked = []
    for number in range(count):
        words, language = said(number)
        asked.append((await stack.slack.say("alice", "#orders", f"<@{stack.slack.bot_user_id}> {words}"), language))
    with contextlib.suppress(TimeoutError):
        await stack.until(lambda: all(stack.own("#orders", ts) for ts, _ in asked), 30.0)
    return [("\n".join(shown(m) for m in stack.own("#orders", ts)), language) for ts, language in asked]


@pytest.mark.parametrize("how", ILLS)
async def test_every_mention_is_answered_and_says_what_it_lacks(how: str, full: bool, figures: Recorder) -> None:
    mentions = 60 if full else 6
    ill = Ill(how)
    model = ScriptedModel(lambda _: text("Fine."))
    with stored() as valkey, capture_logs() as logs:
        async with ill.address() as url:
            store = ServerStore(AsyncQdrantClient(url=url, timeout=2, check_compatibility=False), model=WORDS_ONLY, size=0)
            async with running(valkey, model, store=store, model_reads=False, memory_limit=LIMIT) as stack:
                answers = await mentioned(stack, mentions)
    failed = sum("Fine." not in answer for answer, _ in answers)
    silent = sum(LACKS[language] not in answer for answer, language in answers)
    waited = [float(line["took"]) for line in logs if line["event"] == "recalled"]
    wishes = [moment(request) for request in model.requests if "Nothing was saved or deleted" in moment(request)]
    figures("R16", **{f"failed_{how}": failed, f"not_said_{how}": silent, f"longest_wait_{how}": round(max(waited), 3)}, mentions=mentions, limit=LIMIT)
    print(f"R16 {how}: {mentions} mentions, {failed} failed, {silent} did not say it, waited at most {max(waited):.3f} s of {LIMIT}")

    assert failed == 0
    assert silent == 0
    assert len(wishes) >= mentions - len([number for number in range(mentions) if number % 3 == 0])  # each of "remember" was told that it was not kept
    assert all(line["missing"] for line in logs if line["event"] == "recalled")


async def test_an_empty_memory_is_no_lack(figures: Recorder) -> None:
    model = ScriptedModel(lambda _: text("Fine."))
    with stored() as valkey:
        async with running(valkey, model, store=in_memory(), model_reads=False, memory_limit=20.0) as stack:
            ts = await stack.slack.say("alice", "#orders", f"<@{stack.slack.bot_user_id}> What is in order 7?")
            await stack.until(lambda: stack.own("#orders", ts))
            answer = "\n".join(shown(m) for m in stack.own("#orders", ts))
    figures("R16", failed_empty=0 if "Fine." in answer else 1)

    assert answer == "Fine."


async def test_what_was_said_while_it_was_away_is_learned_once_when_it_is_back(monkeypatch: pytest.MonkeyPatch, full: bool, figures: Recorder) -> None:
    monkeypatch.setattr(bot.effects_learn, "PAUSE", 0.2)
    people, rounds = ("alice", "bruno", "mei"), 5 if full else 2
    model = ScriptedModel(lambda _: text("Fine."))
    store: Switch = in_memory()
    lost = double = failed = 0
    with stored() as valkey:
        async with running(valkey, model, store=store, model_reads=False, memory_limit=LIMIT) as stack:
            for number in range(rounds):
                store.away = True
                asked = [
                    await stack.slack.say(who, stack.slack.dm(who), f"Please remember that my locker {number} is painted colour {place}")
                    for place, who in enumerate(people)
                ]
                with contextlib.suppress(TimeoutError):
                    await stack.until(lambda: all(len(answers(stack, who)) > number for who in people), 20.0)  # noqa: B023
                failed += sum(len(answers(stack, who)) <= number for who in people)
                assert len(asked) == len(people)
                assert all(LACKS["en"] in answers(stack, who)[-1] for who in people)
                store.away = False
                for place, who in enumerate(people):
                    found = [each for each in await known(stack, actor(who), number + 1) if f"locker {number}" in each]
                    lost += not found
                    double += max(len(found) - 1, 0)
                    assert found == [f"my locker {number} is painted colour {place}"]
    figures("R16", away_rounds=rounds, failed_away=failed, lost_away=lost, double_away=double)
    print(f"R16 away {rounds} times: {failed} failed, {lost} lost, {double} learned twice")
    assert (failed, lost, double) == (0, 0, 0)


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_the_embedded_store_may_die_or_hang_in_the_middle(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool, figures: Recorder
) -> None:
    """Its process is killed while people write, or stands still until they are answered; then it is there again."""
    monkeypatch.setattr(bot.effects_learn, "PAUSE", 0.2)
    people, rounds = ("alice", "bruno", "mei"), (20 if how == "killed" else 5) if full else 2
    model = ScriptedModel(lambda _: text("Fine."))
    store = store_in(tmp_path)
    lost = double = failed = unsaid = died = 0
    with stored() as valkey:
        async with remembering(valkey, tmp_path, model, store=store, memory_limit=LIMIT) as stack:
            for number in range(rounds):
                process = store.pid
                assert process is not None
                if how == "frozen":
                    os.kill(process, signal.SIGSTOP)
                for place, who in enumerate(people):
                    await stack.slack.say(who, stack.slack.dm(who), words(number, place))
                    if how == "killed" and place == number % len(people):
                        os.kill(process, signal.SIGKILL)
                        died += 1
                with contextlib.suppress(TimeoutError):
                    await stack.until(lambda: all(len(answers(stack, who)) > number for who in people), 30.0)  # noqa: B023
                failed += sum(len(answers(stack, who)) <= number or "Fine." not in answers(stack, who)[number] for who in people)
                if how == "frozen":
                    unsaid += sum(not any(LACKS[language] in answers(stack, who)[-1] for language in LACKS) for who in people)
                    os.kill(process, signal.SIGCONT)
                for place, who in enumerate(people):
                    found = [each for each in await known(stack, actor(who), number + 1) if each in words(number, place)]
                    lost += not found
                    double += max(len(found) - 1, 0)
            ended = store.pid
    figures("R16", **{f"rounds_{how}": rounds, f"failed_{how}": failed, f"lost_{how}": lost, f"double_{how}": double, f"deaths_{how}": died})
    print(f"R16 embedded store {how} {rounds} times: {failed} failed, {unsaid} did not say it, {lost} lost, {double} learned twice")
    assert (failed, unsaid, lost, double) == (0, 0, 0, 0)
    assert ended is not None, "it was started again"


def words(number: int, place: int) -> str:
    """What a person asks to be remembered; every second time in Chinese."""
    return f"请记住我的储物柜 {number} 是颜色 {place}" if (number + place) % 2 else f"Please remember that my locker {number} is painted colour {place}"


def answers(stack: Stack, who: str) -> list[str]:
    return [shown(m) for m in stack.own(stack.slack.dm(who))]
