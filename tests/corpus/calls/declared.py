"""Tools declared as their authors would: one of every kind of argument. Nothing in them is ever run."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tools import Tool, tool
from tools.rules import at_least_one, at_most_one, before, requires


class Weekday(StrEnum):
    MON = "mon"
    TUE = "tue"
    SAT = "sat"
    SUN = "sun"


class Currency(StrEnum):
    EUR = "EUR"
    USD = "USD"
    CNY = "CNY"


class Customer(BaseModel):
    name: str
    email: str | None = None
    address: dict[str, str] = {}


class Line(BaseModel):
    item: str
    count: Annotated[int, Field(ge=1)]
    price: float


class Card(BaseModel):
    kind: Literal["card"]
    number: Annotated[str, Field(pattern="^[0-9]{16}$")]
    month: Annotated[int, Field(ge=1, le=12)]


class Transfer(BaseModel):
    kind: Literal["transfer"]
    iban: str
    urgent: bool = False


class Point(BaseModel):
    lat: Annotated[float, Field(ge=-90, le=90)]
    lon: Annotated[float, Field(ge=-180, le=180)]


class Node(BaseModel):
    name: str
    children: list[Node] = []


def hint(text: str, **more: Any) -> Any:
    return Field(description=text, **more)


@tool(effect="read")
def get_weather(
    city: Annotated[str, hint("City to forecast, in any language, e.g. Paris")],
    days: Annotated[int, hint("How many days ahead the forecast reaches", ge=1, le=7)] = 1,
    unit: Annotated[Literal["celsius", "fahrenheit"], hint("Scale of temperatures")] = "celsius",
) -> str:
    """Forecast the weather of one city for the coming days; use for questions about rain or temperature."""
    return ""


@tool(effect="write")
def book_table(
    restaurant: Annotated[str, hint("Restaurant as its sign says")],
    day: Annotated[date, hint("Day of the dinner, YYYY-MM-DD")],
    at: Annotated[time, hint("Time of arrival, HH:MM")],
    guests: Annotated[int, hint("Number of people who will eat", ge=1, le=20)],
    seating: Annotated[Literal["inside", "terrace"] | None, hint("Where to sit, if it matters")] = None,
) -> str:
    """Reserve a restaurant table; only when the person asks for a reservation."""
    return ""


@tool(effect="write", rules=(before("start", "end"),))
def create_event(
    title: Annotated[str, hint("What the calendar will show")],
    start: Annotated[datetime, hint("When it begins, ISO 8601")],
    end: Annotated[datetime, hint("When it is over, ISO 8601")],
    attendees: Annotated[list[str], hint("E-mail addresses to invite")] = [],  # noqa: B006 - pydantic copies defaults
    place: Annotated[str | None, hint("Room or address of the meeting")] = None,
) -> str:
    """Put a meeting into the calendar and invite its attendees."""
    return ""


@tool(effect="read")
def search_orders(
    status: Annotated[list[Literal["Open", "Shipped", "Returned"]] | None, hint("States of orders that are wanted")] = None,
    since: Annotated[date | None, hint("First day of orders that are wanted")] = None,
    min_total: Annotated[float | None, hint("Smallest amount of an order, in euros", ge=0)] = None,
    limit: Annotated[int, hint("How many orders to list at most", ge=1, le=100)] = 20,
) -> str:
    """Search the shop's orders by state, age and amount; gives a list, newest first."""
    return ""


@tool(effect="read", aliases=("orderStatus",))
def get_order_status(order_id: Annotated[str, hint("Full order number, e.g. ABC-001", pattern="^[A-Z]{3}-[0-9]{3}$")]) -> str:
    """Tell where one parcel is and when it arrives, for a known order number."""
    return ""


@tool(effect="write")
def cancel_order(
    order_id: Annotated[str, hint("Full order number, e.g. ABC-001", pattern="^[A-Z]{3}-[0-9]{3}$")],
    reason: Annotated[str, hint("Why, in the customer's words")] = "",
) -> str:
    """Cancel a purchase that has not left the warehouse; money goes back to the buyer."""
    return ""


@tool(effect="write")
def set_alarm(
    at: Annotated[time, hint("When it rings, HH:MM")],
    days: Annotated[list[Weekday], hint("Weekdays on which it rings again")] = [],  # noqa: B006
    loud: Annotated[bool, hint("Whether it rings at full volume")] = False,
) -> str:
    """Set an alarm clock that rings once or every week."""
    return ""


@tool(effect="read")
def convert_currency(
    amount: Annotated[float, hint("How much money to convert", gt=0)],
    source: Annotated[Currency, hint("Currency of the amount")],
    target: Annotated[Currency, hint("Currency to convert into")],
) -> str:
    """Convert money from one currency into another at today's rate."""
    return ""


@tool(effect="write")
def create_invoice(
    customer: Annotated[Customer, hint("Who has to pay")],
    lines: Annotated[list[Line], hint("What was sold, a line each", min_length=1)],
    due: Annotated[date, hint("Last day to pay, YYYY-MM-DD")],
    discount: Annotated[Decimal, hint("Rebate in percent of the sum")] = Decimal(0),
) -> str:
    """Write a bill for a customer with one line per article sold."""
    return ""


@tool(effect="write")
def pay(
    method: Annotated[Annotated[Card | Transfer, Field(discriminator="kind")], hint("How the money travels")],
    amount: Annotated[float, hint("How much to pay, in euros", gt=0)],
) -> str:
    """Pay a sum by credit card or bank transfer."""
    return ""


@tool(effect="read", rules=(at_least_one("user_id", "email"), at_most_one("email", "phone")))
def find_person(
    user_id: Annotated[int | None, hint("Number in the staff directory")] = None,
    email: Annotated[str | None, hint("Address at work")] = None,
    phone: Annotated[str | None, hint("Telephone with country code")] = None,
) -> str:
    """Look a colleague up in the staff directory by number, address or telephone."""
    return ""


@tool(effect="read")
def plan_route(
    origin: Annotated[Point, hint("Where the journey begins, in degrees")],
    goal: Annotated[Point, hint("Where the journey ends, in degrees")],
    via: Annotated[list[Point], hint("Stops on the way, in order")] = [],  # noqa: B006
    mode: Annotated[Literal["car", "bike", "foot"], hint("How to travel")] = "car",
) -> str:
    """Plan a journey between two coordinates with stops; gives distance and duration."""
    return ""


@tool(effect="write", rules=(requires("until", "on"),))
def set_thermostat(
    room: Annotated[str, hint("Room with the radiator, e.g. kitchen")],
    temperature: Annotated[float, hint("Degrees Celsius to heat to", ge=5, le=30)],
    on: Annotated[bool, hint("Whether the heating runs")] = True,
    until: Annotated[time | None, hint("When to stop heating")] = None,
) -> str:
    """Heat one room of the house to a temperature."""
    return ""


@tool(effect="write")
def log_hours(
    project: Annotated[int, hint("Number of the project in the time sheet")],
    day: Annotated[date, hint("Day of the work, YYYY-MM-DD")],
    hours: Annotated[float, hint("Time worked", gt=0, le=24)],
    billable: Annotated[bool, hint("Whether the client pays for it")] = True,
) -> str:
    """Record time worked on a project in the time sheet."""
    return ""


@tool(effect="read")
def compare_numbers(
    numbers: Annotated[list[float], hint("Figures to compare, in any order")],
    digits: Annotated[int, hint("Decimals to round to", ge=0, le=9)] = 2,
) -> str:
    """Compute mean, median and spread of some figures."""
    return ""


@tool(effect="write")
def count_stock(counts: Annotated[dict[str, int], hint("By article: how many pieces are in the store")]) -> str:
    """Write the result of stock-taking into the warehouse book."""
    return ""


@tool(effect="write")
def save_outline(root: Annotated[Node, hint("Topmost heading with those below it")]) -> str:
    """Save the outline of a document: headings inside headings."""
    return ""


DECLARED: tuple[Tool, ...] = (
    get_weather,
    book_table,
    create_event,
    search_orders,
    get_order_status,
    cancel_order,
    set_alarm,
    convert_currency,
    create_invoice,
    pay,
    find_person,
    plan_route,
    set_thermostat,
    log_hours,
    compare_numbers,
    count_stock,
    save_outline,
)
