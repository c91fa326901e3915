"""Questions with buttons, reminders and standing permissions in the page, on a wide screen and on a phone."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Windows
from tests.browser.person import Person
from tests.fakes.program import Program

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def _choices(person: Person) -> list[str]:
    """The labels of an open question's buttons, once it is there."""
    buttons = person.thread.locator('[data-testid^="action-steward:choice:"]')
    await expect(buttons.first).to_be_visible()
    return await buttons.all_inner_texts()


@pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
async def test_a_choice_of_an_order_leads_to_its_card_and_permits_nothing(steward: Program, windows: Windows, *, phone: bool) -> None:
    bruno = await windows.open(steward, "bruno", phone=phone)
    await bruno.ask("cancel an order, because it is too large" if phone else "取消一个订单")
    chosen = (await _choices(bruno))[-1]
    before = steward.order(chosen)["status"]
    await bruno.thread.get_by_role("button", name=chosen).click()
    await bruno.sees_on_card("Approval needed: Cancel order" if phone else "需要审批：取消订单", chosen)
    await bruno.sees("Answered:" if phone else "已回答")
    await expect(bruno.thread.locator('[data-testid^="action-steward:choice:"]')).to_have_count(0)
    assert steward.order(chosen)["status"] == before
    await bruno.press("deny")
    await bruno.sees("declined" if phone else "被拒绝")
    assert steward.order(chosen)["status"] == before


async def test_a_question_can_be_answered_in_words_in_its_form_or_below_it(steward: Program, windows: Windows) -> None:
    bruno = await windows.open(steward, "bruno")
    await bruno.ask("cancel an order, in words")
    order = (await _choices(bruno))[0]
    await bruno.thread.get_by_test_id("action-steward:answer").click()
    await expect(bruno.modal).to_contain_text("Which order shall I cancel?")
    await bruno.fill("answer", order.lower())
    await bruno.submit()
    await bruno.sees_on_card("Approval needed: Cancel order", order)
    await bruno.press("deny")
    await bruno.sees("declined")

    await bruno.reply("cancel one order, below")
    await _choices(bruno)
    await bruno.reply("what is 15*7?")
    await bruno.sees("= 105")
    await expect(bruno.thread.locator('[data-testid^="action-steward:choice:"]')).to_have_count(0)


async def test_a_reminder_is_allowed_for_later_times_as_well_and_then_set_without_a_card(steward: Program, windows: Windows) -> None:
    mei = await windows.open(steward, "mei")
    await mei.ask("remind me tomorrow at 9am to water the plants")
    await mei.sees_on_card("Approval needed: Set a reminder", "water the plants", "09:00")
    await mei.press("always")
    await expect(mei.modal).to_contain_text("without asking")
    for name, kind in (("Text", "exact"), ("When", "any")):
        await mei.modal.get_by_label(f"{name}: what may it be?").select_option(kind)
    await mei.submit()
    await mei.sees_on_card("Done: Set a reminder", "also allows such calls")
    await mei.sees("I will remind you: “water the plants”")

    await mei.reply("remind me tomorrow at 10am to water the plants")
    await mei.sees("10:00", "Allowed by a standing permission of @mei")
    await mei.reply("remind me tomorrow at 10am to call the bank")
    await mei.sees_on_card("Approval needed: Set a reminder", "call the bank")
    await mei.press("deny")
    await mei.sees("declined")

    await mei.reply("my reminders")
    await mei.sees("Your open reminders (2)")
    await mei.reply("取消第一个提醒")
    await mei.sees_on_card("需要审批：取消提醒", "water the plants", "09:00")
    await mei.press("approve")
    await mei.sees("提醒“water the plants”")
