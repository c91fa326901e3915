"""A tool module as an operator adds one with STEWARD_TOOLS: a write whose arguments have rules that no form can check by itself."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools import tool


@tool(effect="write", keyed=True, title="Book room")
async def book_room(
    room: Annotated[str, Field(description="The room's name", min_length=1, pattern="^[A-Z][a-z]+$")],
    seats: Annotated[int, Field(description="How many people come", ge=1, le=12)] = 4,
) -> dict[str, str]:
    """Book one meeting room for the person who asks. Not for cancelling a booking."""
    return {"booked": f"{room} for {seats}"}
