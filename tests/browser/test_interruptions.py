"""What happens between a question and its answer: an answer that grows, the Stop button, a reload, and the program's own end."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import POEM, Scripted, Windows
from tests.fakes.program import Program

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_an_answer_is_seen_while_it_grows_and_stands_exactly_in_the_end(scripted: Scripted, windows: Windows) -> None:
    alice = await windows.open(scripted.program, "alice", "general")
    thread = await alice.ask("write a poem")
    answer = thread.get_by_test_id("message").last
    await expect(answer).to_contain_text("Paragraph 1: the harbour wakes, 港口醒来")
    await expect(answer).to_contain_text("still writing")
    await expect(answer).not_to_contain_text("Paragraph 8")
    stamp = await answer.get_attribute("data-ts")

    scripted.hold.set()
    await expect(answer).not_to_contain_text("still writing")
    await expect(answer.locator(".markdown p")).to_have_text([part.replace("**", "") for part in POEM.split("\n\n")])
    assert await answer.get_attribute("data-ts") == stamp
    await expect(thread.get_by_role("separator")).to_have_text("1 reply")


@pytest.mark.parametrize("place", ["thread", "direct"])
async def test_stop_is_there_while_it_works_even_after_a_reload_and_ends_the_run_at_once(scripted: Scripted, windows: Windows, place: str) -> None:
    alice = await windows.open(scripted.program, "alice", "orders")
    if place == "thread":
        await alice.say("@steward think for ever")
        await expect(alice.row("think for ever").get_by_test_id("status")).to_contain_text("is thinking")
    else:
        await alice.page.get_by_test_id("dm-steward").click()
        await alice.say("think for ever")
    await expect(alice.main.get_by_test_id("stop")).to_be_visible()
    await alice.page.reload()
    await alice.main.get_by_test_id("stop").click(timeout=20_000)
    if place == "thread":
        await alice.follow("think for ever")
    said = (alice.thread if place == "thread" else alice.main).get_by_test_id("message").last
    await expect(said).to_contain_text("Stopped, as you asked.")
    # Of this conversation: another one, which waits for somebody's decision, rightly goes on saying so.
    for place_shown in (alice.thread, alice.row("think for ever")) if place == "thread" else (alice.main,):
        await expect(place_shown.get_by_test_id("stop")).to_have_count(0)
        await expect(place_shown.get_by_test_id("status")).to_have_count(0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_card_outlives_the_program_and_its_button_works_once_afterwards(tmp_path: Path, windows: Windows, number: signal.Signals) -> None:
    windows.tolerated = ("WebSocket connection to", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET")
    order = "ABC-20240522-007"
    async with Program(tmp_path / "home") as program:
        alice = await windows.open(program, "alice")
        await alice.ask(f"cancel {order}")
        await alice.sees_on_card("Approval needed: Cancel order")
        await program.kept("steward:approve")
        await program.restart(number)
        assert program.writes(order) == 0

        await expect(alice.page.locator("#banners")).to_be_empty()  # the page has come back by itself
        await alice.sees_on_card("Approval needed: Cancel order")
        await alice.press("approve")
        await alice.sees_on_card("Done: Cancel order", "Approved by @alice")
        await alice.sees_no_buttons()
        await expect(alice.thread.get_by_test_id("message").last).to_contain_text("cancelled")
        await expect(alice.thread.get_by_role("separator")).to_have_text("2 replies")
        assert program.order(order)["status"] == "cancelled"
        assert program.writes(order) == 1
