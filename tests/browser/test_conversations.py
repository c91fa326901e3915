"""Talking to the bot in the page: threads of several people, direct messages, Chinese, files, the slash command, App Home, a first visit."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Windows
from tests.fakes.program import Program

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_two_people_in_one_thread_are_both_answered_there(steward: Program, windows: Windows) -> None:
    alice, mei = await windows.open(steward, "alice", "leads"), await windows.open(steward, "mei", "leads")
    await alice.ask("what is 15*7? My name is Ana, by the way.")
    await alice.sees("105")
    await mei.follow("what is 15*7?")
    await mei.reply("and 8*9?")  # no mention is needed where the bot already takes part
    await mei.sees("72")
    await alice.sees("and 8*9?", "72")
    await expect(alice.row("what is 15*7?").get_by_test_id("thread-summary")).to_contain_text("3 replies")


async def test_a_direct_message_is_answered_without_a_mention_and_remembers_what_was_said(steward: Program, windows: Windows) -> None:
    alice = await windows.open(steward, "alice", "general")
    await alice.page.get_by_test_id("dm-steward").click()
    await alice.say("my name is Ana")
    await expect(alice.row("Ana")).to_have_attribute("data-user", "U01STEWARD")
    await alice.say("what is my name?")
    question = alice.row("what is my name?")
    await expect(question).to_be_visible()
    await expect(alice.main.get_by_test_id("message").last).to_have_attribute("data-user", "U01STEWARD")
    await expect(alice.main.get_by_test_id("message").last).to_contain_text("Ana")
    await expect(alice.thread).to_be_hidden()  # no empty thread beside an answer that stands in the conversation


async def test_a_conversation_in_chinese_is_chinese_to_the_end(steward: Program, windows: Windows) -> None:
    order = "ABC-20240520-010"
    mei = await windows.open(steward, "mei", phone=True)
    await mei.ask(f"取消 {order}，因为买错了")
    await mei.sees_on_card("需要审批：", order, "买错了", "@mei 提出", "目前什么都还没有执行。")
    await expect(mei.card.locator(".actions button")).to_have_text(["批准", "拒绝", "拒绝并说明原因", "修改", "总是允许……"])
    await mei.press("approve")
    await mei.sees_on_card("已完成：", "@mei 批准", "已经执行完成。")
    await expect(mei.thread.get_by_test_id("message").last).to_contain_text("已取消")
    assert steward.order(order)["status"] == "cancelled"
    width = await mei.page.evaluate("document.documentElement.scrollWidth")
    assert width == 390, "a phone never scrolls sideways"


async def test_a_file_without_a_word_gets_an_answer(steward: Program, windows: Windows, tmp_path: Path) -> None:
    note = tmp_path / "便条.txt"
    note.write_text("one lamp, two bulbs")
    bruno = await windows.open(steward, "bruno", "general")
    await bruno.page.get_by_test_id("dm-steward").click()
    await bruno.page.get_by_test_id("composer-file").set_input_files(note)
    await expect(bruno.page.locator(".file-chip:not(.busy)")).to_contain_text("便条.txt")
    await bruno.page.get_by_test_id("send").click()
    await expect(bruno.main.locator(".file-card")).to_contain_text("便条.txt")
    await expect(bruno.main.get_by_test_id("message").last).to_have_attribute("data-user", "U01STEWARD")


async def test_the_slash_command_is_answered_to_the_person_alone(steward: Program, windows: Windows) -> None:
    bruno, alice = await windows.open(steward, "bruno", "random"), await windows.open(steward, "alice", "random")
    await bruno.say("/steward help")
    await expect(bruno.main.locator(".ephemeral")).to_contain_text("I am Steward, an assistant for your team.")
    await bruno.say("/steward status")
    await expect(bruno.main.locator(".ephemeral").last).to_contain_text("I am here and my store answers.")
    await expect(alice.main.locator(".ephemeral")).to_have_count(0)


async def test_app_home_greets_everyone_in_their_language(steward: Program, windows: Windows) -> None:
    for user, words in (("alice", ("Hello", "How to use me", "/steward help")), ("mei", ("你好", "怎么用我", "/steward help"))):
        person = await windows.open(steward, user, "general")
        await person.page.get_by_test_id("dm-steward").click()
        await person.page.get_by_test_id("tab-home").click()
        for each in words:
            await expect(person.page.get_by_test_id("app-home")).to_contain_text(each)


async def test_a_first_visitor_tries_an_example_with_one_click_and_enter(steward: Program, windows: Windows) -> None:
    mei = await windows.open(steward, "mei", "general")
    hints = mei.page.get_by_test_id("hints")
    await expect(hints).to_contain_text("Try Steward")
    await hints.get_by_role("button", name="what is 15% of 1,280").click()
    await expect(mei.page.get_by_test_id("composer")).to_be_focused()
    await mei.page.keyboard.press("Enter")
    thread = await mei.follow("what is 15% of 1,280")
    await expect(thread).to_contain_text("192")
    await expect(hints).to_have_count(0)  # whoever has spoken to the bot needs no examples
