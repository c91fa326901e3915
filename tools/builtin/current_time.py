"""`current_time`: the date and the time where the asking person is, or anywhere else."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from tools.builtin.moment import WEEKDAYS, UnknownTimezone, find_timezone, now
from tools.decorator import tool
from tools.tool import ModelRetry, ToolContext


class Moment(BaseModel):
    """A moment as clocks and calendars of one place show it."""

    timezone: str
    date: str
    weekday: str
    weekday_zh: str
    time: str
    utc_offset: str
    iso: str


@tool(effect="read", group="everyday", timeout=5, always=True, trusted=True, time_sensitive=True, aliases=("get_current_time",), title="Current time")
async def current_time(
    ctx: ToolContext,
    timezone: Annotated[
        str, Field(description='IANA name ("Asia/Tokyo"), city ("Tokyo", "东京") or offset ("UTC+8"); empty for the person\'s own timezone', max_length=64)
    ] = "",
) -> Moment:
    """Tell the present date, weekday and time in the asking person's timezone, or in the one named.

    Use it whenever the answer depends on what day or time it is now. Not for converting other times or for reminders.
    """
    try:
        name, zone = find_timezone(timezone.strip() or ctx.timezone)
    except UnknownTimezone as error:
        if not timezone.strip():  # what Slack said about the person, which the model cannot mend
            name, zone = find_timezone("UTC")
        else:
            hint = f"Did you mean {', '.join(error.close)}?" if error.close else "Use an IANA name such as Asia/Shanghai or an offset such as UTC+8."
            raise ModelRetry(f"There is no timezone {timezone.strip()!r}. {hint}") from error
    here = now(ctx).astimezone(zone)
    offset = here.strftime("%z")
    return Moment(
        timezone=name,
        date=here.date().isoformat(),
        weekday=WEEKDAYS["en"][here.weekday()],
        weekday_zh=WEEKDAYS["zh"][here.weekday()],
        time=here.strftime("%H:%M:%S"),
        utc_offset=f"{offset[:3]}:{offset[3:5]}",
        iso=here.isoformat(timespec="seconds"),
    )
