"""Tools of the office half of the company: people, calendar, rooms, support and travel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evals.forty.world import Row, world
from tools import ToolContext, ToolFailed, tool
from tools.rules import at_least_one

Person = Annotated[str, Field(description="Full name of the colleague, e.g. Chen Wei", min_length=1, max_length=60)]
Team = Annotated[Literal["sales", "support", "platform", "finance", "people"], Field(description="Which of the five teams")]
Day = Annotated[str, Field(description="Date as YYYY-MM-DD, e.g. 2024-05-21", pattern=r"^\d{4}-\d{2}-\d{2}$")]
Start = Annotated[str, Field(description="Beginning as HH:MM on the 24-hour clock, e.g. 14:30", pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Minutes = Annotated[int, Field(description="How long it lasts, in minutes", ge=5, le=480)]
Guests = Annotated[list[str], Field(description='Full names of those who come, e.g. ["Chen Wei"]', min_length=1, max_length=10)]
MeetingId = Annotated[str, Field(description="Number of the meeting, e.g. MTG-2", pattern=r"(?i)^mtg-\d{1,6}$")]
Room = Annotated[str, Field(description="What the door says, e.g. Oak", min_length=1, max_length=40)]
City = Annotated[str, Field(description="City in English, e.g. Hangzhou", min_length=1, max_length=40)]


@tool(effect="read", group="people", cache_ttl=300, scope="workspace")
async def find_colleague(ctx: ToolContext, person: Person) -> Row:
    """Look up one colleague: team and phone extension."""
    return {key: value for key, value in world(ctx).row("people", person).items() if key in {"id", "team", "phone"}}


@tool(effect="read", group="people", time_sensitive=True)
async def who_is_on_call(ctx: ToolContext, team: Team) -> list[str]:
    """Tell who of a team can be called at night or at the weekend this week."""
    return [row["id"] for row in world(ctx).rows("people", team=team, on_call=True)]


@tool(effect="read", group="people", cache_ttl=300, scope="workspace")
async def list_team(ctx: ToolContext, team: Team) -> list[str]:
    """List everybody who belongs to a team."""
    return [row["id"] for row in world(ctx).rows("people", team=team)]


@tool(effect="read", group="people", cache_ttl=300, scope="workspace")
async def working_hours(ctx: ToolContext, person: Person) -> Row:
    """Tell from when to when a colleague is at work on a normal day."""
    row = world(ctx).row("people", person)
    return {"person": row["id"], "hours": row["hours"]}


@tool(effect="write", group="people")
async def update_phone(
    ctx: ToolContext, person: Person, number: Annotated[str, Field(description="The new extension, with country code", max_length=30)]
) -> Row:
    """Put a new phone extension for a colleague into the directory."""
    row = world(ctx).row("people", person)
    row["phone"] = number
    return row


@tool(effect="read", group="calendar", tags=("meetings",))
async def list_meetings(ctx: ToolContext, day: Day) -> list[Row]:
    """List the meetings in the calendar on one day, with their numbers, times and guests."""
    return world(ctx).rows("meetings", day=day)


@tool(effect="read", group="calendar", time_sensitive=True)
async def find_free_slot(ctx: ToolContext, guests: Guests, day: Day, minutes: Minutes = 30) -> Row:
    """Find the first time on a day when several colleagues have no meeting, for a length of time."""
    busy = {row["start"][:2] for row in world(ctx).rows("meetings", day=day) if set(row["people"]) & set(guests)}
    free = next((hour for hour in range(9, 18) if f"{hour:02d}" not in busy), None)
    if free is None:
        raise ToolFailed("They have no free hour in common on that day.")
    return {"day": day, "start": f"{free:02d}:00", "minutes": minutes}


@tool(effect="write", group="calendar", invalidates=("meetings",))
async def create_meeting(  # noqa: PLR0917 - a meeting has so many sides
    ctx: ToolContext,
    title: Annotated[str, Field(description="What the meeting is about, as guests will read it", min_length=1, max_length=80)],
    day: Day,
    start: Start,
    guests: Guests,
    minutes: Minutes = 30,
) -> Row:
    """Put a new meeting into the calendar and invite its guests. Books no room."""
    return world(ctx).add("meetings", "MTG", title=title, day=day, start=start, minutes=minutes, people=guests)


@tool(effect="write", group="calendar", invalidates=("meetings",))
async def move_meeting(ctx: ToolContext, meeting_id: MeetingId, day: Day, start: Start) -> Row:
    """Put a meeting off to another day or hour; its guests are told."""
    row = world(ctx).row("meetings", meeting_id)
    row |= {"day": day, "start": start}
    return row


@tool(effect="write", group="calendar", invalidates=("meetings",))
async def cancel_meeting(ctx: ToolContext, meeting_id: MeetingId) -> Row:
    """Call a meeting off and take it out of everybody's calendar."""
    row = world(ctx).row("meetings", meeting_id)
    return world(ctx).tables["meetings"].pop(row["id"])


@tool(effect="read", group="rooms", cache_ttl=60, scope="workspace", tags=("bookings",))
async def find_room(ctx: ToolContext, seats: Annotated[int, Field(description="How many people must fit in", ge=1, le=40)] = 2) -> list[Row]:
    """Find meeting rooms that are large enough, smallest first."""
    return sorted((row for row in world(ctx).rows("rooms") if row["seats"] >= seats), key=lambda row: int(row["seats"]))


@tool(effect="write", group="rooms", keyed=True, invalidates=("bookings",))
async def reserve_room(ctx: ToolContext, room: Room, day: Day, start: Start, minutes: Minutes = 60) -> Row:
    """Reserve a meeting room; returns the number of the reservation. Invites nobody."""
    found = world(ctx).row("rooms", room)
    if world(ctx).rows("bookings", room=found["id"], day=day, start=start):
        raise ToolFailed(f"{found['id']} is taken at that time.")
    return world(ctx).add("bookings", "RSV", room=found["id"], day=day, start=start, minutes=minutes)


@tool(effect="write", group="rooms", invalidates=("bookings",))
async def release_room(ctx: ToolContext, reservation: Annotated[str, Field(description="Number given when it was reserved, e.g. RSV-901")]) -> Row:
    """Give a reserved meeting room back, so that others may have it."""
    row = world(ctx).row("bookings", reservation)
    return world(ctx).tables["bookings"].pop(row["id"])


@tool(effect="write", group="rooms")
async def report_defect(ctx: ToolContext, room: Room, what: Annotated[str, Field(description="What is broken, e.g. the projector", max_length=200)]) -> Row:
    """Tell the caretakers that something in a meeting room is broken."""
    row = world(ctx).row("rooms", room)
    row["defect"] = what
    return row


@tool(effect="read", group="rooms", time_sensitive=True)
async def room_temperature(ctx: ToolContext, room: Room) -> Row:
    """Measure how warm a meeting room is at present, in degrees Celsius."""
    row = world(ctx).row("rooms", room)
    return {"room": row["id"], "celsius": row["temperature"]}


@tool(effect="write", group="support", keyed=True, invalidates=("tickets",))
async def open_ticket(
    ctx: ToolContext,
    summary: Annotated[str, Field(description="What does not work, in one sentence", min_length=3, max_length=200)],
    urgency: Annotated[Literal["low", "normal", "high"], Field(description="How soon it must be mended")] = "normal",
) -> Row:
    """Ask the IT helpdesk for help with a computer, an account or a programme; returns the ticket's number."""
    return world(ctx).add("tickets", "TIC", summary=summary, urgency=urgency, state="open")


@tool(effect="read", group="support", tags=("tickets",))
async def ticket_status(
    ctx: ToolContext, ticket_id: Annotated[str, Field(description="Number of the ticket, e.g. TIC-301", pattern=r"(?i)^tic-\d{1,6}$")]
) -> Row:
    """Tell how far the helpdesk is with one ticket."""
    return world(ctx).row("tickets", ticket_id)


@tool(effect="read", group="support", tags=("tickets",))
async def list_tickets(
    ctx: ToolContext, state: Annotated[Literal["", "open", "solved"], Field(description="Only in this state; empty for both")] = ""
) -> list[Row]:
    """List the tickets at the helpdesk with their numbers. Use it when no ticket number is given."""
    return world(ctx).rows("tickets", state=state)


@tool(effect="read", group="support", time_sensitive=True)
async def service_health(
    ctx: ToolContext, service: Annotated[Literal["mail", "vpn", "wiki", "payroll", "printing"], Field(description="Which one to look at")]
) -> Row:
    """Tell whether one of the company's computer services is up just now."""
    return world(ctx).row("services", service)


@tool(effect="write", group="support")
async def reset_password(ctx: ToolContext, person: Person) -> Row:
    """Make a colleague's password void and mail them a link to choose a new one."""
    row = world(ctx).row("people", person)
    row["resets"] = row.get("resets", 0) + 1
    return {"person": row["id"], "mailed": True}


@tool(effect="read", group="travel", cache_ttl=300, scope="workspace", rules=(at_least_one("origin", "destination"),))
async def search_trains(
    ctx: ToolContext,
    origin: Annotated[str, Field(description="City the train leaves, in English, e.g. Beijing", max_length=40)] = "",
    destination: Annotated[str, Field(description="City it goes to, in English, e.g. Shanghai", max_length=40)] = "",
) -> list[Row]:
    """Find trains between two cities, with their numbers, times of departure and prices."""
    return world(ctx).rows("trains", origin=origin, destination=destination)


@tool(effect="read", group="travel", cache_ttl=300, scope="workspace")
async def search_hotels(
    ctx: ToolContext, city: City, at_most: Annotated[int, Field(description="Highest price of a night, in euros", ge=10)] = 1000
) -> list[Row]:
    """Find hotels in a city by price."""
    return [row for row in world(ctx).rows("hotels", city=city) if row["price"] <= at_most]


@tool(effect="write", group="travel", keyed=True)
async def book_train(ctx: ToolContext, train: Annotated[str, Field(description="Number of the train, e.g. TR-01")], person: Person) -> Row:
    """Buy a seat on a train for a colleague; returns the ticket. Find the train's number first."""
    found, passenger = world(ctx).row("trains", train), world(ctx).row("people", person)
    return world(ctx).add("journeys", "SEAT", train=found["id"], person=passenger["id"], price=found["price"])


@tool(effect="read", group="travel", cache_ttl=3600, scope="workspace")
async def travel_policy(ctx: ToolContext, topic: Annotated[Literal["hotel", "train", "meals"], Field(description="What the question is about")]) -> Row:
    """Quote the company's rule on what may be spent on a business trip."""
    return world(ctx).row("policy", topic)


@tool(effect="write", group="travel", keyed=True)
async def claim_expense(
    ctx: ToolContext,
    amount: Annotated[float, Field(description="How much was paid, in euros", gt=0, le=10_000)],
    what: Annotated[str, Field(description="What it was spent on, e.g. taxi to the station", max_length=200)],
) -> Row:
    """Hand in an expense of a business trip to be paid back with the next salary."""
    return world(ctx).add("expenses", "EXP", amount=amount, what=what)
