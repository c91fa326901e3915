"""The small company the forty tools speak of: its orders, shelves, people, rooms and trains, the same in every run.

Everything is made from one seed and kept in memory. Writes change it, so that a read after a write sees the change, as it would with a
real system behind the tools.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Final

from tools.result import ErrorCode, Suggestion
from tools.tool import ToolContext, ToolFailed

Row = dict[str, Any]

SEED: Final = 20240520
PEOPLE: Final = ("Ana Ruiz", "Bo Lindqvist", "Chen Wei", "Dara Okafor", "Emil Novak", "Farah Haddad", "Gao Min", "Hana Sato", "Ivo Petrov", "Jia Li")
TEAMS: Final = ("sales", "support", "platform", "finance", "people")
CUSTOMERS: Final = ("Acme", "Borealis", "Cobalt", "Delta Tea", "Evergreen")
PRODUCTS: Final = ("kettle", "teapot", "mug", "tray", "whisk", "filter", "tin", "scale", "timer", "strainer")
ROOMS: Final = ("Oak", "Elm", "Birch", "Cedar", "Maple")
CITIES: Final = ("Beijing", "Shanghai", "Hangzhou", "Nanjing", "Suzhou")
SERVICES: Final = ("mail", "vpn", "wiki", "payroll", "printing")


@dataclass(slots=True)
class World:
    """The tables, by name, each from a key to a row."""

    tables: dict[str, dict[str, Row]] = field(default_factory=dict)
    counter: int = 900

    def row(self, table: str, key: str) -> Row:
        """One row, whatever the case of `key`; raises `ToolFailed` (NOT_FOUND) when there is none."""
        rows = {known.casefold(): row for known, row in self.tables[table].items()}
        found = rows.get(key.strip().casefold())
        if found is None:
            message = f"There is nothing called {key.strip()[:60]!r} among the {table}."
            raise ToolFailed(message, code=ErrorCode.NOT_FOUND, suggestion=Suggestion.ASK_PERSON)
        return found

    def rows(self, table: str, **wanted: Any) -> list[Row]:
        """The rows whose fields have the wanted values; an empty value wants nothing."""
        asked = {name: value for name, value in wanted.items() if value not in ("", None)}
        return [row for row in self.tables[table].values() if all(_equal(row.get(name), value) for name, value in asked.items())]

    def add(self, table: str, prefix: str, **row: Any) -> Row:
        """A new row under the next free key."""
        self.counter += 1
        key = f"{prefix}-{self.counter}"
        self.tables[table][key] = {"id": key, **row}
        return self.tables[table][key]


def _equal(one: Any, other: Any) -> bool:
    return one.casefold() == other.strip().casefold() if isinstance(one, str) and isinstance(other, str) else bool(one == other)


def fresh(seed: int = SEED) -> World:
    """A company nobody has changed yet."""
    dice = random.Random(seed)  # noqa: S311 - toys, not secrets
    statuses = ("paid", "packed", "shipped", "delivered", "cancelled")
    people = {
        name: {"id": name, "team": TEAMS[at % len(TEAMS)], "phone": f"+86 10 5550 {1000 + at}", "hours": "09:00-18:00", "on_call": at < len(TEAMS)}
        for at, name in enumerate(PEOPLE)
    }
    orders = {
        f"ORD-{100 + at}": {
            "id": f"ORD-{100 + at}",
            "customer": dice.choice(CUSTOMERS),
            "status": statuses[at % len(statuses)],
            "total": dice.randrange(20, 400),
            "parcel": dice.choice(("in the warehouse", "on the road", "at the door")),
        }
        for at in range(20)
    }
    stock = {
        f"SKU-{10 + at}": {"id": f"SKU-{10 + at}", "product": name, "quantity": dice.randrange(0, 40), "shelf": dice.choice(("north", "south"))}
        for at, name in enumerate(PRODUCTS)
    }
    invoices = {
        f"INV-{200 + at}": {
            "id": f"INV-{200 + at}",
            "customer": CUSTOMERS[at % 5],
            "amount": dice.randrange(50, 900),
            "paid": at % 3 == 0,
            "month": f"2024-0{1 + at % 6}",
        }
        for at in range(12)
    }
    meetings = {
        f"MTG-{at}": {
            "id": f"MTG-{at}",
            "title": title,
            "day": f"2024-05-2{at % 5}",
            "start": f"{9 + at:02d}:00",
            "minutes": 30,
            "people": [PEOPLE[at], PEOPLE[at + 1]],
        }
        for at, title in enumerate(("Weekly review", "Design talk", "Budget", "Hiring", "Retrospective"))
    }
    rooms = {name: {"id": name, "seats": 4 + 3 * at, "temperature": 20 + at % 3} for at, name in enumerate(ROOMS)}
    tickets = {
        f"TIC-{300 + at}": {"id": f"TIC-{300 + at}", "summary": what, "state": "open" if at % 2 else "solved"}
        for at, what in enumerate(("No sound", "Slow laptop", "New badge"))
    }
    services = {name: {"id": name, "state": "degraded" if name == "vpn" else "up"} for name in SERVICES}
    trains = {
        f"TR-{at}{other}": {
            "id": f"TR-{at}{other}",
            "origin": one,
            "destination": two,
            "departs": f"{7 + at + other:02d}:15",
            "price": 60 + 25 * at + 10 * other,
        }
        for at, one in enumerate(CITIES)
        for other, two in enumerate(CITIES)
        if one != two
    }
    hotels = {
        f"{city} {kind}": {"id": f"{city} {kind}", "city": city, "price": price + 15 * at}
        for at, city in enumerate(CITIES)
        for kind, price in (("Inn", 60), ("Grand", 140))
    }
    policy = {
        "hotel": {"id": "hotel", "text": "Up to 120 a night"},
        "train": {"id": "train", "text": "Second class"},
        "meals": {"id": "meals", "text": "Up to 40 a day"},
    }
    return World(
        {
            "orders": orders,
            "stock": stock,
            "invoices": invoices,
            "people": people,
            "meetings": meetings,
            "rooms": rooms,
            "bookings": {},
            "tickets": tickets,
            "services": services,
            "trains": trains,
            "hotels": hotels,
            "policy": policy,
            "journeys": {},
            "expenses": {},
        }
    )


_shared = fresh()


def world(ctx: ToolContext) -> World:
    """The company this call is about: the one among the resources, else one shared by the process."""
    given = ctx.resources.get("world")
    return given if isinstance(given, World) else _shared
