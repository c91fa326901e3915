"""The four order tools. Reads and writes concern the asking person's own orders only."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import structlog
from pydantic import AfterValidator, BaseModel, Field

from memory.longterm.entities import Thing
from tools.builtin.moment import now
from tools.builtin.orders.rules import Order, Status, normal_id
from tools.builtin.orders.store import OrderStore, shared_store
from tools.decorator import tool
from tools.faults import report
from tools.result import ErrorCode, Suggestion
from tools.threads import beside
from tools.tool import ToolContext, ToolFailed

OrderId = Annotated[str, AfterValidator(normal_id), Field(description="Full order number, e.g. ABC-20240520-001", min_length=1, max_length=40)]
CACHED = 15.0
"""Seconds an answer about orders may be given again; a change through these tools makes it void at once."""
STALE = 3_600.0
"""Seconds for which it may stand in, marked, while the order system is away."""
_ORDER = Thing(kind="order", id="order_id", states=("status", "carrier"))
"""What of an order is remembered for the person who looked it up."""
T = TypeVar("T")
logger = structlog.get_logger(__name__)


@tool(
    effect="read",
    group="orders",
    upstream="orders",
    cache_ttl=CACHED,
    stale_ttl=STALE,
    aliases=("getOrderStatus", "get_order"),
    title="Look up order",
    thing=_ORDER,
)
async def get_order_status(ctx: ToolContext, order_id: OrderId) -> dict[str, Any]:
    """Look up one order of the asking person: its status, items, total, shipping address and, once shipped, carrier and tracking number.

    Use it when the person names an order number. To find a number, use list_orders.
    """
    order = await _ask(ctx, lambda store: store.get(ctx.actor, order_id))
    return {**order.model_dump(mode="json", exclude_none=True), "total": f"{order.total:.2f}"}


@tool(effect="read", group="orders", upstream="orders", cache_ttl=CACHED, stale_ttl=STALE, aliases=("listOrders",), title="List orders", thing=_ORDER)
async def list_orders(
    ctx: ToolContext,
    status: Annotated[Literal["", Status], Field(description="Only orders in this status; empty for all")] = "",
) -> dict[str, Any]:
    """List the asking person's orders, newest first: number, status, date, items and total.

    Use it when the person asks what they ordered or gives no order number. For the details of one order use get_order_status.
    """
    orders = await _ask(ctx, lambda store: store.list(ctx.actor, status))
    if not orders:
        message = f"The person has no orders in status {status!r}." if status else "The person has no orders."
        raise ToolFailed(message, code=ErrorCode.EMPTY)
    return {"count": len(orders), "orders": [_summary(order) for order in orders]}


_ID_HINT = {"Order id": "订单号", "Full order number, e.g. ABC-20240520-001": "完整的订单号，例如 ABC-20240520-001"}
_REFUSALS = {
    "The order system cannot be reached just now. Nothing was changed.": "订单系统现在无法访问，什么都没有改动。",
    "Order {order} has already shipped with {carrier}, so it cannot be cancelled. It can be returned after delivery.": (
        "订单 {order} 已经发货（{carrier}），不能取消；签收后可以退货。"
    ),
    "Order {order} has already shipped, so it cannot be cancelled. It can be returned after delivery.": "订单 {order} 已经发货，不能取消；签收后可以退货。",
    "Order {order} has been delivered, so it cannot be cancelled. It can be returned instead.": "订单 {order} 已经签收，不能取消，但可以退货。",
    "Order {order} is already cancelled (reason: {reason}). Nothing is left to do.": "订单 {order} 之前已经取消（原因：{reason}）。",
    "Order {order} is already cancelled. Nothing is left to do.": "订单 {order} 之前已经取消。",
    "Order {order} was returned, so there is nothing left to cancel.": "订单 {order} 已经退货，不需要取消。",
    "Order {order} is packed and its label is printed, so its address cannot be changed. It can still be cancelled.": (
        "订单 {order} 已经打包并打印了面单，不能再改地址，但还可以取消。"
    ),
    "Order {order} has already shipped with {carrier}, so its address cannot be changed. Only the carrier can redirect it.": (
        "订单 {order} 已经发货（{carrier}），不能再改地址，只有承运商可以改投。"
    ),
    "Order {order} has already shipped, so its address cannot be changed. Only the carrier can redirect it.": (
        "订单 {order} 已经发货，不能再改地址，只有承运商可以改投。"
    ),
    "Order {order} is delivered, so its address no longer matters and cannot be changed.": "订单 {order} 已经签收，不能再改地址。",
    "Order {order} is cancelled, so its address no longer matters and cannot be changed.": "订单 {order} 已经取消，不能再改地址。",
    "Order {order} is returned, so its address no longer matters and cannot be changed.": "订单 {order} 已经退货，不能再改地址。",
}
"""What the rules say to a person who reads Chinese; a name in braces stands for whatever is there."""
_CANCEL = {
    "zh": {
        **_ID_HINT,
        **_REFUSALS,
        "Cancel order": "取消订单",
        "Order": "订单",
        "Reason": "原因",
        "Why, in the person's own words; empty when they gave none": "取消的原因；没有说明时留空",
    }
}
_ADDRESS = {
    "zh": {
        **_ID_HINT,
        **_REFUSALS,
        "Change shipping address": "修改收货地址",
        "Order": "订单",
        "New address": "新地址",
        "Address": "地址",
        "Recipient": "收件人",
        "The complete new address: street and number, postcode, city, country": "完整的新地址：街道和门牌号、邮编、城市、国家",
        "Who receives it, when that is to be someone else; otherwise empty": "如果由别人签收，填写收件人；否则留空",
    }
}


def _cancel_card(args: BaseModel) -> list[tuple[str, Any]]:
    asked = args.model_dump()
    return [("Order", asked["order_id"]), ("Reason", asked["reason"])]


@tool(
    effect="write",
    group="orders",
    upstream="orders",
    keyed=True,
    invalidates=("orders",),
    aliases=("cancelOrder",),
    title="Cancel order",
    render=_cancel_card,
    words=_CANCEL,
)
async def cancel_order(
    ctx: ToolContext,
    order_id: OrderId,
    reason: Annotated[str, Field(description="Why, in the person's own words; empty when they gave none", max_length=500)] = "",
) -> dict[str, Any]:
    """Cancel one order that has not shipped; returns its new status and the refund.

    Use it only when the person asks to cancel. Not for returns, nor for orders that have shipped.
    """
    return await _ask(ctx, lambda store: store.cancel(ctx.actor, order_id, reason.strip(), key=ctx.idempotency_key, at=now(ctx)))


def _address_card(args: BaseModel) -> list[tuple[str, Any]]:
    asked = args.model_dump()
    rows = [("Order", asked["order_id"]), ("New address", asked["address"])]
    return [*rows, ("Recipient", asked["recipient"])] if asked["recipient"] else rows


@tool(
    effect="write",
    group="orders",
    upstream="orders",
    keyed=True,
    invalidates=("orders",),
    aliases=("changeShippingAddress",),
    title="Change shipping address",
    render=_address_card,
    words=_ADDRESS,
)
async def change_shipping_address(
    ctx: ToolContext,
    order_id: OrderId,
    address: Annotated[str, Field(description="The complete new address: street and number, postcode, city, country", min_length=5, max_length=300)],
    recipient: Annotated[str, Field(description="Who receives it, when that is to be someone else; otherwise empty", max_length=100)] = "",
) -> dict[str, Any]:
    """Change where one order is sent, while it is not packed yet; returns the new and the previous address.

    Use it only when the person asks for it and has given the new address. Not for orders that are packed or have shipped.
    """
    where, who = address.strip(), recipient.strip()
    return await _ask(ctx, lambda store: store.readdress(ctx.actor, order_id, where, who, key=ctx.idempotency_key, at=now(ctx)))


async def _ask(ctx: ToolContext, question: Callable[[OrderStore], T]) -> T:
    try:
        return await beside("orders", lambda: question(_store(ctx)))
    except (sqlite3.Error, OSError) as error:
        # Raised before the commit only (see the store), so it is known that nothing was changed.
        report(logger.bind(run=ctx.run_id, call=ctx.call_id), "orders.unreachable", error)
        message = "The order system cannot be reached just now. Nothing was changed."
        raise ToolFailed(message, code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY) from error


def _store(ctx: ToolContext) -> OrderStore:
    given = ctx.resources.get("orders")
    return given if isinstance(given, OrderStore) else shared_store(ctx.resources.get("home"))


def _summary(order: Order) -> dict[str, Any]:
    items = ", ".join(f"{item.name} ×{item.quantity}" for item in order.items)
    return {"order_id": order.order_id, "status": order.status, "placed_at": order.placed_at, "items": items, "total": f"{order.total:.2f} {order.currency}"}
