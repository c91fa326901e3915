"""Tools of the trading half of the company: orders, stock and billing."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from evals.forty.world import Row, world
from tools import ToolContext, ToolFailed, tool

OrderId = Annotated[str, Field(description="Number of the order, e.g. ORD-104", pattern=r"(?i)^ord-\d{1,6}$")]
Sku = Annotated[str, Field(description="Article number, e.g. SKU-12", pattern=r"(?i)^sku-\d{1,6}$")]
InvoiceId = Annotated[str, Field(description="Number of the invoice, e.g. INV-203", pattern=r"(?i)^inv-\d{1,6}$")]
Quantity = Annotated[int, Field(description="How many pieces", ge=1, le=10_000)]
Currency = Literal["EUR", "USD", "CNY", "JPY"]
RATES: dict[str, float] = {"EUR": 1.0, "USD": 1.08, "CNY": 7.8, "JPY": 169.0}


@tool(effect="read", group="orders", cache_ttl=30, tags=("orders",))
async def find_order(ctx: ToolContext, order_id: OrderId) -> Row:
    """Look up one customer order by its number: customer, status and total. For where the parcel is use track_parcel."""
    return {key: value for key, value in world(ctx).row("orders", order_id).items() if key != "parcel"}


@tool(effect="read", group="orders", cache_ttl=30, tags=("orders",))
async def search_orders(
    ctx: ToolContext,
    customer: Annotated[str, Field(description="Only of this company, e.g. Acme; empty for every company")] = "",
    status: Annotated[Literal["", "paid", "packed", "shipped", "delivered", "cancelled"], Field(description="Only in this state; empty for all")] = "",
) -> list[Row]:
    """List customer orders, of one company or in one state. Use it when no order number is given."""
    return world(ctx).rows("orders", customer=customer, status=status)


@tool(effect="write", group="orders", keyed=True, invalidates=("orders",))
async def cancel_customer_order(
    ctx: ToolContext, order_id: OrderId, reason: Annotated[str, Field(description="Why, in the customer's words", max_length=300)] = ""
) -> Row:
    """Cancel a customer's order that has not left the house; returns it with its new state. Not for giving money back."""
    order = world(ctx).row("orders", order_id)
    if order["status"] in {"shipped", "delivered"}:
        raise ToolFailed(f"Order {order['id']} is {order['status']} already and cannot be cancelled.")
    order |= {"status": "cancelled", "reason": reason}
    return order


@tool(effect="write", group="orders", keyed=True, invalidates=("orders",))
async def refund_order(
    ctx: ToolContext, order_id: OrderId, amount: Annotated[float, Field(description="How much to pay back, in euros", gt=0, le=10_000)]
) -> Row:
    """Pay money back to the customer of an order, all of it or a part. Does not stop the delivery."""
    order = world(ctx).row("orders", order_id)
    if amount > order["total"]:
        raise ToolFailed(f"Order {order['id']} cost {order['total']}; no more than that can be paid back.")
    order["refunded"] = amount
    return order


@tool(effect="read", group="orders", time_sensitive=True)
async def track_parcel(ctx: ToolContext, order_id: OrderId) -> Row:
    """Tell where the parcel of an order is at this moment."""
    return {"order_id": order_id.upper(), "parcel": world(ctx).row("orders", order_id)["parcel"]}


@tool(effect="read", group="stock", cache_ttl=30, tags=("stock",), scope="workspace")
async def check_stock(ctx: ToolContext, sku: Sku) -> Row:
    """Tell how many pieces of one article lie in the warehouse, and on which shelf."""
    return world(ctx).row("stock", sku)


@tool(effect="read", group="stock", tags=("stock",))
async def list_low_stock(ctx: ToolContext, below: Annotated[int, Field(description="Fewer pieces than this count as low", ge=1, le=1000)] = 10) -> list[Row]:
    """List the articles that are running out in the warehouse, fewest pieces first."""
    return sorted((row for row in world(ctx).rows("stock") if row["quantity"] < below), key=lambda row: int(row["quantity"]))


@tool(effect="write", group="stock", invalidates=("stock",))
async def reorder_item(ctx: ToolContext, sku: Sku, quantity: Quantity) -> Row:
    """Buy more of one article from its supplier; the pieces arrive at once."""
    row = world(ctx).row("stock", sku)
    row["quantity"] += quantity
    return row


@tool(effect="write", group="stock", invalidates=("stock",))
async def move_stock(ctx: ToolContext, sku: Sku, shelf: Annotated[Literal["north", "south"], Field(description="Where it is to lie from now on")]) -> Row:
    """Carry an article to the other shelf of the warehouse. Changes no quantities."""
    row = world(ctx).row("stock", sku)
    row["shelf"] = shelf
    return row


@tool(effect="read", group="stock", cache_ttl=300, scope="workspace")
async def find_product(ctx: ToolContext, word: Annotated[str, Field(description="Part of what the article is called, e.g. tea", min_length=1)]) -> list[Row]:
    """Search the catalogue for articles by a word and return their article numbers. Use it when no article number is given."""
    return [{"sku": row["id"], "product": row["product"]} for row in world(ctx).rows("stock") if word.strip().casefold() in row["product"]]


@tool(effect="read", group="billing", cache_ttl=60, tags=("invoices",))
async def get_invoice(ctx: ToolContext, invoice_id: InvoiceId) -> Row:
    """Look up one invoice: customer, amount, month and whether it has been paid."""
    return world(ctx).row("invoices", invoice_id)


@tool(effect="read", group="billing", tags=("invoices",))
async def list_unpaid_invoices(
    ctx: ToolContext, customer: Annotated[str, Field(description="Only of this company; empty for every company")] = ""
) -> list[Row]:
    """List the invoices that customers still owe, with their amounts."""
    return world(ctx).rows("invoices", customer=customer, paid=False)


@tool(effect="write", group="billing", invalidates=("invoices",))
async def send_invoice_reminder(ctx: ToolContext, invoice_id: InvoiceId) -> Row:
    """Mail a customer that an invoice is still open. Only for unpaid invoices."""
    row = world(ctx).row("invoices", invoice_id)
    if row["paid"]:
        raise ToolFailed(f"Invoice {row['id']} is paid already.")
    row["reminded"] = row.get("reminded", 0) + 1
    return row


@tool(effect="read", group="billing", cache_ttl=3600, scope="workspace")
async def convert_currency(
    amount: Annotated[float, Field(description="How much, in the currency it is in now", ge=0)],
    source: Annotated[Currency, Field(description="Code of the currency it is in now")],
    target: Annotated[Currency, Field(description="Code of the currency wanted")],
) -> dict[str, Any]:
    """Convert a sum of money from one currency to another at the house's rate of the day."""
    return {"amount": round(amount / RATES[source] * RATES[target], 2), "currency": target}


@tool(effect="read", group="billing", cache_ttl=60, tags=("invoices",))
async def monthly_revenue(ctx: ToolContext, month: Annotated[str, Field(description="Year and month, e.g. 2024-03", pattern=r"^\d{4}-\d{2}$")]) -> Row:
    """Add up what was invoiced in one month, paid or not."""
    return {"month": month, "revenue": sum(row["amount"] for row in world(ctx).rows("invoices", month=month))}
