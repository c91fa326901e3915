"""The measurement of routing: its task set is sound, its tools work, and it would notice a tool that cannot be reached."""

from __future__ import annotations

from typing import Any

import pytest

from evals.forty.world import fresh
from evals.routing import measure, read_tasks
from memory.keys import Actor, Thread
from tools import Registry, ToolContext, ToolFailed

REGISTRY = Registry.load("evals.forty")
TASKS = read_tasks()
DAY = "2024-05-22"
SAMPLES: dict[str, dict[str, Any]] = {
    "find_order": {"order_id": "ORD-104"},
    "search_orders": {"customer": "acme"},
    "cancel_customer_order": {"order_id": "ord-105", "reason": "changed their mind"},
    "refund_order": {"order_id": "ORD-103", "amount": 5},
    "track_parcel": {"order_id": "ORD-112"},
    "check_stock": {"sku": "SKU-12"},
    "list_low_stock": {"below": 1000},
    "reorder_item": {"sku": "SKU-15", "quantity": 200},
    "move_stock": {"sku": "SKU-11", "shelf": "south"},
    "find_product": {"word": "tea"},
    "get_invoice": {"invoice_id": "INV-204"},
    "list_unpaid_invoices": {},
    "send_invoice_reminder": {"invoice_id": "INV-205"},
    "convert_currency": {"amount": 100, "source": "EUR", "target": "CNY"},
    "monthly_revenue": {"month": "2024-03"},
    "find_colleague": {"person": "chen wei"},
    "who_is_on_call": {"team": "platform"},
    "list_team": {"team": "finance"},
    "working_hours": {"person": "Hana Sato"},
    "update_phone": {"person": "Gao Min", "number": "+86 10 5550 2000"},
    "list_meetings": {"day": "2024-05-21"},
    "find_free_slot": {"guests": ["Ana Ruiz", "Bo Lindqvist"], "day": "2024-05-20"},
    "create_meeting": {"title": "Kick-off", "day": DAY, "start": "10:00", "guests": ["Jia Li"]},
    "move_meeting": {"meeting_id": "MTG-2", "day": DAY, "start": "15:00"},
    "cancel_meeting": {"meeting_id": "MTG-3"},
    "find_room": {"seats": 10},
    "reserve_room": {"room": "Oak", "day": DAY, "start": "14:00"},
    "release_room": {"reservation": "RSV-901"},
    "report_defect": {"room": "Cedar", "what": "the projector"},
    "room_temperature": {"room": "Birch"},
    "open_ticket": {"summary": "The laptop keeps freezing", "urgency": "high"},
    "ticket_status": {"ticket_id": "TIC-301"},
    "list_tickets": {"state": "open"},
    "service_health": {"service": "vpn"},
    "reset_password": {"person": "Dara Okafor"},
    "search_trains": {"origin": "Beijing", "destination": "Shanghai"},
    "search_hotels": {"city": "Hangzhou", "at_most": 100},
    "book_train": {"train": "TR-01", "person": "Emil Novak"},
    "travel_policy": {"topic": "hotel"},
    "claim_expense": {"amount": 18, "what": "taxi to the station"},
}


async def called(name: str, resources: dict[str, Any], arguments: dict[str, Any]) -> Any:
    tool = REGISTRY.get(name)
    assert tool is not None
    context = ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run", "call", resources=resources)
    values = dict(tool.args_model.model_validate(arguments))
    return await (tool(context, **values) if tool.takes_context else tool(**values))


def test_the_task_set_covers_every_tool_in_both_languages() -> None:
    assert (len(REGISTRY), len(REGISTRY.groups())) == (40, 8)
    assert {name for task in TASKS for name in task.tools} == set(REGISTRY.names)
    assert len(TASKS) >= 60
    assert len({task.id for task in TASKS}) == len(TASKS)
    assert min(sum(task.language == language for task in TASKS) for language in ("en", "zh")) >= 30
    assert sum(not task.tools for task in TASKS) >= 10


def test_every_needed_tool_is_on_offer_and_most_tokens_are_saved() -> None:
    figures = measure(REGISTRY, TASKS)

    assert (figures["reachable"], figures["missing"]) == (1, [])
    assert figures["declined"] == figures["nothing_fits"]
    assert figures["saved_per_round"] > 0.75
    assert figures["saved_with_talk"] > 0.6
    assert figures["rounds_added"] < 1.5
    assert figures == measure(REGISTRY, TASKS)


def test_a_tool_that_cannot_be_reached_is_noticed() -> None:
    figures = measure(REGISTRY, TASKS, allowed=lambda tool: tool.name != "find_order")
    needed = [name for task in TASKS for name in task.tools]

    assert figures["missing"] == ["find_order"]
    assert figures["reachable"] == pytest.approx(1 - needed.count("find_order") / len(needed))


@pytest.mark.parametrize("name", REGISTRY.names)
async def test_every_tool_answers_from_the_company_in_memory(name: str) -> None:
    resources = {"world": fresh()}
    if name == "release_room":
        await called("reserve_room", resources, SAMPLES["reserve_room"])
    before = repr(resources["world"])
    answer = await called(name, resources, SAMPLES[name])
    tool = REGISTRY.get(name)

    assert answer
    assert tool is not None
    assert (repr(resources["world"]) == before) == (tool.effect == "read")


@pytest.mark.parametrize(
    ("name", "arguments", "refusal"),
    [
        ("find_order", {"order_id": "ORD-999"}, "There is nothing called 'ORD-999' among the orders."),
        ("cancel_customer_order", {"order_id": "ORD-102"}, "Order ORD-102 is shipped already and cannot be cancelled."),
        ("refund_order", {"order_id": "ORD-100", "amount": 9999}, "no more than that can be paid back"),
        ("send_invoice_reminder", {"invoice_id": "INV-200"}, "Invoice INV-200 is paid already."),
    ],
)
async def test_the_company_refuses_as_real_systems_do(name: str, arguments: dict[str, Any], refusal: str) -> None:
    with pytest.raises(ToolFailed, match=refusal):
        await called(name, {"world": fresh()}, arguments)


async def test_a_room_cannot_be_reserved_twice() -> None:
    resources = {"world": fresh()}
    await called("reserve_room", resources, SAMPLES["reserve_room"])
    with pytest.raises(ToolFailed, match="Oak is taken at that time"):
        await called("reserve_room", resources, SAMPLES["reserve_room"])
