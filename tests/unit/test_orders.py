"""Orders: whose they are, what is refused and why, and that one key never applies twice."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.keys import Actor, Thread
from tools import Registry, ToolContext, ToolResult
from tools.builtin.orders import cancel_order, change_shipping_address, get_order_status, list_orders
from tools.builtin.orders.rules import normal_id
from tools.builtin.orders.store import FILE_NAME, OrderStore, shared_store
from tools.engine import Prepared, execute, prepare
from tools.result import ErrorCode, Suggestion

ALICE, MEI, STRANGER = "U01ALICE00", "U01MEI0000", "U0SOMEBODY"
NOW = datetime(2024, 5, 25, 8, 0, tzinfo=UTC)
REGISTRY = Registry([cancel_order, change_shipping_address, get_order_status, list_orders])


@pytest.fixture
def store() -> Iterator[OrderStore]:
    book = OrderStore(None)
    yield book
    book.close()


def context(store: OrderStore | None, user: str = ALICE, call: str = "call1", *, team: str = "T1", home: Path | None = None) -> ToolContext:
    resources: dict[str, Any] = {"orders": store, "home": home, "now": lambda: NOW}
    return ToolContext(Actor(team_id=team, user_id=user), Thread(team_id=team, channel_id="C1"), "UTC", "run1", call, resources=resources)


async def ask(name: str, ctx: ToolContext, **arguments: Any) -> ToolResult:
    call = prepare(REGISTRY, name, json.dumps(arguments))
    assert isinstance(call, Prepared), call
    return await execute(call.tool, call.arguments, ctx)


async def statuses(ctx: ToolContext) -> dict[str, str]:
    result = await ask("list_orders", ctx)
    return {order["order_id"]: order["status"] for order in result.data["orders"]}


async def test_an_order_is_told_with_its_items_total_and_tracking(store: OrderStore) -> None:
    paid = await ask("get_order_status", context(store), order_id="ABC-20240520-001")
    shipped = await ask("get_order_status", context(store), order_id="ABC-20240520-002")

    assert paid.data == {
        "order_id": "ABC-20240520-001",
        "status": "paid",
        "customer": "Alice Moreau",
        "placed_at": "2024-05-20",
        "items": [
            {"name": "Walnut desk lamp", "quantity": 1, "unit_price": "64.00"},
            {"name": "LED bulb E27, warm white", "quantity": 2, "unit_price": "7.50"},
        ],
        "currency": "USD",
        "address": "48 Juniper Street, Apt 3B, Brooklyn, NY 11201, USA",
        "total": "79.00",
    }
    assert (shipped.data["carrier"], shipped.data["tracking_number"]) == ("UPS", "1Z58A7140300219946")


@pytest.mark.parametrize("written", ["abc-20240520-001", " #ABC-20240520-001 ", "ＡＢＣ－２０２４０５２０－００１", "ABC–20240520–001", "ABC - 20240520 - 001"])
async def test_an_order_number_is_understood_however_it_is_written(store: OrderStore, written: str) -> None:
    assert normal_id(written) == "ABC-20240520-001"
    assert (await ask("get_order_status", context(store), order_id=written)).success


async def test_the_approval_sees_the_number_as_it_will_be_sent() -> None:
    call = prepare(REGISTRY, "cancelOrder", '{"order_id": "ａbc–20240520-001"}')

    assert isinstance(call, Prepared)
    assert call.arguments == {"order_id": "ABC-20240520-001", "reason": ""}
    assert cancel_order.render is not None
    assert cancel_order.render(cancel_order.args_model.model_validate(call.arguments)) == [("Order", "ABC-20240520-001"), ("Reason", "")]


async def test_orders_are_listed_newest_first_and_by_status(store: OrderStore) -> None:
    every = await ask("list_orders", context(store))
    shipped = await ask("list_orders", context(store), status="shipped")

    assert every.data["count"] == 6
    assert [order["placed_at"] for order in every.data["orders"]] == sorted((order["placed_at"] for order in every.data["orders"]), reverse=True)
    assert every.data["orders"][0] == {
        "order_id": "ABC-20240522-007",
        "status": "placed",
        "placed_at": "2024-05-22",
        "items": "Standing desk mat ×1",
        "total": "42.00 USD",
    }
    assert [order["order_id"] for order in shipped.data["orders"]] == ["ABC-20240520-002"]


async def test_no_orders_in_a_status_is_not_an_empty_success(store: OrderStore) -> None:
    result = await ask("list_orders", context(store), status="packed")

    assert (result.error_code, result.error_message) == (ErrorCode.EMPTY, "The person has no orders in status 'packed'.")


def test_an_unknown_status_is_refused_with_the_known_ones() -> None:
    result = prepare(REGISTRY, "list_orders", '{"status": "lost"}')

    assert isinstance(result, ToolResult)
    assert '"placed", "paid", "packed", "shipped", "delivered", "cancelled", "returned"' in (result.error_message or "")


async def test_everybody_sees_only_their_own(store: OrderStore) -> None:
    alice, mei, stranger, other_team = [
        set(await statuses(context(store, user, team=team))) for user, team in ((ALICE, "T1"), (MEI, "T1"), (STRANGER, "T1"), (ALICE, "T2"))
    ]

    assert "ABC-20240520-010" in mei
    assert len(alice) == len(mei) == 6
    assert not alice & mei
    assert len(stranger) == len(other_team) == 5
    assert not stranger & other_team
    assert not other_team & alice


@pytest.mark.parametrize("name", ["get_order_status", "cancel_order"])
async def test_the_same_user_id_in_another_workspace_is_another_person(store: OrderStore, name: str) -> None:
    assert "ABC-20240520-001" in await statuses(context(store, ALICE, team="T1"))

    result = await ask(name, context(store, ALICE, team="T2"), order_id="ABC-20240520-001")

    assert result.error_code == ErrorCode.PERMISSION_DENIED


async def test_a_newcomer_gets_the_same_starter_orders_every_time(store: OrderStore) -> None:
    other = OrderStore(None)
    try:
        first = await statuses(context(store, STRANGER))
        assert first == await statuses(context(store, STRANGER)) == await statuses(context(other, STRANGER))
    finally:
        other.close()
    assert sorted(first.values()) == ["delivered", "packed", "paid", "placed", "shipped"]


async def test_many_newcomers_never_share_a_number(store: OrderStore) -> None:
    seen: set[str] = set()
    for number in range(300):
        own = set(await statuses(context(store, f"U{number}")))
        assert not own & seen
        seen |= own

    assert len(seen) == 1500


READ = "get_order_status"
REFUSALS = [
    (READ, "ABC-20990101-001", ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON, "There is no order ABC-20990101-001"),
    (READ, "ABC-20240520-010", ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP, "belongs to someone else"),
    (READ, "ABC-20240520-020", ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP, "belongs to someone else"),
    ("cancel_order", "ABC-20240520-011", ErrorCode.NOT_FOUND, Suggestion.ASK_PERSON, "similar number: .*ABC-20240520-001"),
    ("cancel_order", "ABC-20240520-010", ErrorCode.PERMISSION_DENIED, Suggestion.GIVE_UP, "belongs to someone else"),
    ("cancel_order", "ABC-20240520-002", ErrorCode.REFUSED, Suggestion.GIVE_UP, r"already shipped with UPS \(1Z58A7140300219946\)"),
    ("cancel_order", "ABC-20240518-004", ErrorCode.REFUSED, Suggestion.GIVE_UP, "has been delivered"),
    ("cancel_order", "ABC-20240511-003", ErrorCode.REFUSED, Suggestion.GIVE_UP, r"already cancelled \(reason: Ordered twice by mistake\)"),
    ("cancel_order", "ABC-20240502-012", ErrorCode.REFUSED, Suggestion.GIVE_UP, "was returned"),
    ("change_shipping_address", "ABC-20240520-002", ErrorCode.REFUSED, Suggestion.GIVE_UP, "already shipped with UPS"),
    ("change_shipping_address", "ABC-20240518-004", ErrorCode.REFUSED, Suggestion.GIVE_UP, "is delivered"),
    ("change_shipping_address", "ABC-20240511-003", ErrorCode.REFUSED, Suggestion.GIVE_UP, "is cancelled"),
]


@pytest.mark.parametrize(("name", "order_id", "code", "suggestion", "reason"), REFUSALS)
async def test_what_the_shop_does_not_allow_is_refused_with_the_reason_and_changes_nothing(  # noqa: PLR0917 - a table of cases
    store: OrderStore, name: str, order_id: str, code: ErrorCode, suggestion: Suggestion, reason: str
) -> None:
    before = await statuses(context(store))
    more = {"address": "5 Lake Road, Bern"} if name == "change_shipping_address" else {}
    result = await ask(name, context(store), order_id=order_id, **more)

    assert (result.error_code, result.suggestion) == (code, suggestion)
    assert re.search(reason, result.error_message or "")
    assert await statuses(context(store)) == before


async def test_a_packed_order_can_be_cancelled_but_not_sent_elsewhere(store: OrderStore) -> None:
    mei = context(store, MEI)
    moved = await ask("change_shipping_address", mei, order_id="ABC-20240519-005", address="上海市人民路 1 号")
    cancelled = await ask("cancel_order", context(store, MEI, "call2"), order_id="ABC-20240519-005", reason="不需要了")

    assert "label is printed" in (moved.error_message or "")
    assert cancelled.data == {
        "order_id": "ABC-20240519-005",
        "status": "cancelled",
        "previous_status": "packed",
        "cancelled_at": "2024-05-25T08:00:00+00:00",
        "refund": "422.00 CNY",
    }
    after = (await ask("get_order_status", mei, order_id="ABC-20240519-005")).data
    assert (after["status"], after["cancelled_at"], after["cancel_reason"]) == ("cancelled", "2024-05-25T08:00:00+00:00", "不需要了")


async def test_an_unpaid_order_has_nothing_to_refund(store: OrderStore) -> None:
    assert (await ask("cancel_order", context(store), order_id="ABC-20240522-007")).data["refund"] == "none, it was not paid yet"


async def test_an_address_is_changed_and_the_old_one_told(store: OrderStore) -> None:
    result = await ask("change_shipping_address", context(store), order_id="ABC-20240520-001", address=" 上海市人民路 1 号 ", recipient="小安")

    assert result.data == {
        "order_id": "ABC-20240520-001",
        "status": "paid",
        "address": "小安, 上海市人民路 1 号",
        "previous_address": "48 Juniper Street, Apt 3B, Brooklyn, NY 11201, USA",
    }
    assert (await ask("get_order_status", context(store), order_id="ABC-20240520-001")).data["address"] == "小安, 上海市人民路 1 号"


async def test_the_same_key_gives_the_first_result_again_and_another_key_a_refusal(store: OrderStore) -> None:
    first = await ask("cancel_order", context(store), order_id="ABC-20240520-001", reason="too late")
    again = await ask("cancel_order", context(store), order_id="ABC-20240520-001", reason="too late")
    other = await ask("cancel_order", context(store, call="call2"), order_id="ABC-20240520-001", reason="too late")

    assert first.success
    assert again.data == first.data
    assert other.error_code == ErrorCode.REFUSED


async def test_a_refusal_stays_a_refusal_for_its_key(store: OrderStore) -> None:
    shipped = {"order_id": "ABC-20240520-002"}
    first = await ask("cancel_order", context(store), **shipped)
    store._db.execute("UPDATE orders SET status = 'paid' WHERE order_id = 'ABC-20240520-002'")
    again = await ask("cancel_order", context(store), **shipped)

    assert (again.error_code, again.suggestion, again.error_message) == (first.error_code, first.suggestion, first.error_message)
    assert (await statuses(context(store)))["ABC-20240520-002"] == "paid"


async def test_one_key_cannot_be_used_for_two_different_changes(store: OrderStore) -> None:
    await ask("cancel_order", context(store), order_id="ABC-20240520-001")
    other = await ask("cancel_order", context(store), order_id="ABC-20240522-007")

    assert other.error_code == ErrorCode.INTERNAL
    assert (await statuses(context(store)))["ABC-20240522-007"] == "placed"


async def test_twenty_attempts_at_once_with_one_key_apply_once(store: OrderStore) -> None:
    results = await asyncio.gather(
        *(ask("change_shipping_address", context(store), order_id="ABC-20240520-001", address="5 Lake Road, Bern") for _ in range(20))
    )

    assert {result.data["previous_address"] for result in results} == {"48 Juniper Street, Apt 3B, Brooklyn, NY 11201, USA"}


async def test_a_change_that_breaks_off_before_its_commit_leaves_no_trace(store: OrderStore) -> None:
    store._db.execute("CREATE TRIGGER full BEFORE INSERT ON outcomes BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    broken = await ask("cancel_order", context(store), order_id="ABC-20240520-001")
    store._db.execute("DROP TRIGGER full")

    assert (broken.error_code, broken.suggestion) == (ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY)
    assert "disk" not in (broken.error_message or "")
    assert (await statuses(context(store)))["ABC-20240520-001"] == "paid"
    assert (await ask("cancel_order", context(store), order_id="ABC-20240520-001")).success


async def test_the_book_lies_in_the_data_folder_and_outlives_the_process(tmp_path: Path) -> None:
    home = tmp_path / "data"
    done = await ask("cancel_order", context(None, home=home), order_id="ABC-20240520-001")
    fresh = OrderStore(home / FILE_NAME)
    try:
        assert fresh.get(Actor(team_id="T1", user_id=ALICE), "ABC-20240520-001").status == "cancelled"
        again = await ask("cancel_order", context(fresh), order_id="ABC-20240520-001")
    finally:
        fresh.close()

    assert again.data == done.data
    assert shared_store(home) is shared_store(home)


async def test_a_folder_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = await ask("list_orders", context(None, home=tmp_path / "file"))

    assert (result.error_code, result.suggestion) == (ErrorCode.UPSTREAM_ERROR, Suggestion.RETRY)
    assert str(tmp_path) not in (result.error_message or "")


def test_a_book_of_a_later_version_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(sqlite3.DatabaseError, match="has version 99; this program knows 1"):
        OrderStore(path)


REPLICA = """
import sys
from datetime import datetime, timezone
from pathlib import Path
from memory.keys import Actor
from tools.builtin.orders.store import OrderStore
from tools.tool import ToolFailed

sys.stdin.readline()
store = OrderStore(Path(sys.argv[1]))
owner, at = Actor(team_id="T1", user_id="U01ALICE00"), datetime(2024, 5, 25, tzinfo=timezone.utc)
for number in range(20):
    done = store.readdress(owner, "ABC-20240520-001", f"Street {number}", "", key=f"run:{number}", at=at)
    print(number, done["previous_address"], done["address"], sep="|")
try:
    store.cancel(owner, "ABC-20240522-007", "", key=f"run:{sys.argv[2]}", at=at)
    print("cancelled")
except ToolFailed as refused:
    print("refused")
store.close()
"""


def test_replicas_that_open_one_file_at_once_agree_on_every_outcome(tmp_path: Path) -> None:
    command = [sys.executable, "-c", REPLICA, str(tmp_path / FILE_NAME)]
    replicas = [subprocess.Popen([*command, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for n in range(4)]
    for replica in replicas:
        assert replica.stdin is not None
        replica.stdin.write("go\n")
        replica.stdin.flush()
    told = [replica.communicate(timeout=60) for replica in replicas]

    assert [error for _, error in told if error] == []
    answers = [output.splitlines() for output, _ in told]
    assert len({tuple(lines[:-1]) for lines in answers}) == 1
    assert sorted(lines[-1] for lines in answers) == ["cancelled", "refused", "refused", "refused"]


def test_the_seed_is_what_the_documents_promise(store: OrderStore) -> None:
    rows = store._db.execute("SELECT order_id, status, items, address FROM orders").fetchall()

    assert len(rows) == 30
    assert {row[1] for row in rows} == {"placed", "paid", "packed", "shipped", "delivered", "cancelled", "returned"}
    assert any("办公椅" in row[2] for row in rows)
    assert any("杭州" in row[3] for row in rows)
