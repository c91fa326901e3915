"""Cards in the page, as people meet them: approve, deny with a reason, edit first, and a click by somebody else."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Scripted, Windows
from tests.fakes.program import Program

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_mention_uses_a_tool_and_a_write_waits_for_the_click_and_then_answers(steward: Program, windows: Windows) -> None:
    order = "ABC-20240520-001"
    alice = await windows.open(steward, "alice")
    await alice.ask(f"where is my order {order}?")
    await alice.sees(order, "paid")

    await alice.reply("cancel it please, because it comes too late")
    await alice.sees_on_card("Approval needed: Cancel order", order, "it comes too late", "Nothing has been done yet.")
    assert steward.order(order)["status"] == "paid"

    await alice.press("approve")
    await alice.sees_on_card("Done: Cancel order", "Approved by @alice", "It was carried out.")
    await alice.sees_no_buttons()
    await expect(alice.thread.get_by_test_id("message").last).to_contain_text(re.compile(rf"{order}.*cancelled", re.DOTALL))
    assert steward.order(order)["status"] == "cancelled"
    assert steward.writes(order) == 1


async def test_a_denial_with_a_reason_changes_nothing_and_the_model_hears_why(steward: Program, windows: Windows) -> None:
    order = "ABC-20240522-007"
    alice = await windows.open(steward, "alice")
    await alice.ask(f"cancel {order}")
    await alice.press("deny_reason")
    await expect(alice.modal).to_contain_text("Cancel order")
    await alice.fill("reason", "She wants it after all, 她还是想要")
    await alice.submit()
    await expect(alice.modal).to_have_count(0)

    await alice.sees_on_card("Denied: Cancel order", "Denied by @alice", "She wants it after all, 她还是想要", "It was not carried out.")
    await alice.sees_no_buttons()
    await expect(alice.thread.get_by_test_id("message").last).to_contain_text(re.compile("declined.*她还是想要", re.DOTALL))
    assert steward.order(order)["status"] == "placed"


async def test_an_address_is_edited_before_it_is_approved_and_only_the_edited_one_is_used(steward: Program, windows: Windows) -> None:
    order = "ABC-20240523-002"
    bruno = await windows.open(steward, "bruno")
    await bruno.ask(f"change the address of {order} to 5 Lake Road, Bern")
    await bruno.sees_on_card("Approval needed: Change shipping address", "5 Lake Road, Bern")
    await bruno.press("edit")
    await bruno.fill("field:address", "5")
    await bruno.submit()
    await expect(bruno.modal.get_by_test_id("modal-error")).to_have_text("At least 5 characters.")

    await bruno.fill("field:address", "7 Lake Road, 3005 Bern, 瑞士")
    await bruno.submit()
    await expect(bruno.modal).to_have_count(0)
    await bruno.sees_on_card("Done: Change shipping address", "7 Lake Road, 3005 Bern, 瑞士", "Edited and approved by @bruno")
    await expect(bruno.card).not_to_contain_text("5 Lake Road")
    assert steward.order(order)["address"] == "7 Lake Road, 3005 Bern, 瑞士"
    assert steward.writes(order) == 1


async def test_what_the_tool_itself_finds_wrong_with_edited_values_stands_beside_the_fields(scripted: Scripted, windows: Windows) -> None:
    alice = await windows.open(scripted.program, "alice", dark=True)
    await alice.ask("book a room")
    await alice.sees_on_card("Approval needed: Book room", "Oak", "4")
    await alice.press("edit")
    await alice.fill("field:room", "the big one")
    await alice.fill("field:seats", "40")
    await alice.submit()
    await expect(alice.modal.get_by_test_id("modal-error")).to_have_text(["Does not have the expected form.", "Must be 12 or less."])
    await alice.fill("field:seats", "四")
    await alice.fill("field:room", "Elm")
    await alice.submit()
    await expect(alice.modal.get_by_test_id("modal-error")).to_have_text(["Please write a whole number, such as 12."])
    await alice.fill("field:seats", "9")
    await alice.submit()
    await expect(alice.modal).to_have_count(0)
    await alice.sees_on_card("Done: Book room", "Elm", "9", "Edited and approved by @alice")
    await alice.sees("The tool said:", "Elm for 9")


async def test_another_person_s_click_is_refused_privately_and_the_requester_can_still_decide(steward: Program, windows: Windows) -> None:
    order, request = "ABC-20240521-001", "cancel ABC-20240521-001, it was ordered twice"
    bruno, alice = await windows.open(steward, "bruno"), await windows.open(steward, "alice", dark=True)
    await bruno.ask(request)
    await bruno.sees_on_card("Approval needed: Cancel order")
    await alice.follow(request)
    await alice.press("approve")
    private = alice.thread.locator(".ephemeral")
    await expect(private).to_contain_text("Only the person who asked can decide on this.")
    await expect(private).to_contain_text("Only visible to you")
    await expect(alice.thread.get_by_role("separator")).to_have_text("1 reply")  # what one person alone sees is no reply
    await alice.sees_on_card("Approval needed: Cancel order")
    await expect(bruno.thread.locator(".ephemeral")).to_have_count(0)
    assert steward.order(order)["status"] == "paid"

    await bruno.press("approve")
    await bruno.sees_on_card("Done: Cancel order", "Approved by @bruno")
    await alice.sees_on_card("Done: Cancel order", "Approved by @bruno")
    assert steward.writes(order) == 1
