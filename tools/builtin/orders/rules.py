"""What an order is and what may be done with it: pure, so that every refusal can be tested with plain values."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from tools.tool import ToolFailed

Status = Literal["placed", "paid", "packed", "shipped", "delivered", "cancelled", "returned"]


class Item(BaseModel):
    """One line of an order."""

    name: str
    quantity: int
    unit_price: Decimal


class Order(BaseModel):
    """One order as the shop knows it."""

    order_id: str
    status: Status
    customer: str
    placed_at: str
    items: list[Item]
    currency: str
    address: str
    carrier: str | None = None
    tracking_number: str | None = None
    cancelled_at: str | None = None
    cancel_reason: str | None = None

    @property
    def total(self) -> Decimal:
        """What the order costs, in its currency."""
        return sum((item.quantity * item.unit_price for item in self.items), Decimal(0))


def normal_id(text: str) -> str:
    """An order number the way the shop writes it: `＃abc–20240520–001 ` is ABC-20240520-001."""
    plain = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\s#]+", "", re.sub(r"[‐‑‒–—―−]", "-", plain)).upper()


def may_cancel(order: Order) -> None:
    """Returns when `order` may be cancelled. Raises `ToolFailed` with the reason otherwise."""
    match order.status:
        case "placed" | "paid" | "packed":
            return
        case "shipped":
            raise ToolFailed(f"Order {order.order_id} has already shipped{_with(order)}, so it cannot be cancelled. It can be returned after delivery.")
        case "delivered":
            raise ToolFailed(f"Order {order.order_id} has been delivered, so it cannot be cancelled. It can be returned instead.")
        case "cancelled":
            raise ToolFailed(f"Order {order.order_id} is already cancelled{_because(order)}. Nothing is left to do.")
        case "returned":
            raise ToolFailed(f"Order {order.order_id} was returned, so there is nothing left to cancel.")


def may_readdress(order: Order) -> None:
    """Returns when the shipping address of `order` may change. Raises `ToolFailed` with the reason otherwise."""
    match order.status:
        case "placed" | "paid":
            return
        case "packed":
            raise ToolFailed(f"Order {order.order_id} is packed and its label is printed, so its address cannot be changed. It can still be cancelled.")
        case "shipped":
            raise ToolFailed(f"Order {order.order_id} has already shipped{_with(order)}, so its address cannot be changed. Only the carrier can redirect it.")
        case "delivered" | "cancelled" | "returned":
            raise ToolFailed(f"Order {order.order_id} is {order.status}, so its address no longer matters and cannot be changed.")


def refund(order: Order) -> str:
    """What the customer gets back when `order` is cancelled, e.g. `"79.00 USD"`; `"none"` when nothing was paid."""
    return "none, it was not paid yet" if order.status == "placed" else f"{order.total:.2f} {order.currency}"


def _with(order: Order) -> str:
    return f" with {order.carrier} ({order.tracking_number})" if order.carrier else ""


def _because(order: Order) -> str:
    return f" (reason: {order.cancel_reason})" if order.cancel_reason else ""
