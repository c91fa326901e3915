"""`remind_me`, `list_reminders` and `cancel_reminder`: to be told something later, in the conversation it was asked in.

The time is made definite before the card is shown, in the person's own timezone, so the card says exactly what will
happen. In a room that others read, only the reminders asked for there are shown.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Annotated, Any, cast

from pydantic import BaseModel, Field

from memory.keys import Thread
from memory.reminders import MAX_OPEN, MAX_TEXT, Reminder, Reminders, RemindersDown, TooManyReminders, reminder_id
from tools.builtin.clockwords import Unclear
from tools.builtin.moment import UnknownTimezone, find_timezone, now
from tools.builtin.when import MAX_LENGTH, When, both, definite, repeats, understand, weekday_in_one
from tools.decorator import tool
from tools.result import ErrorCode, Suggestion
from tools.threads import beside
from tools.tool import ModelRetry, ToolContext, ToolFailed

_WORDS = {
    "zh": {
        "Set a reminder": "设置提醒",
        "Cancel a reminder": "取消提醒",
        "Text": "内容",
        "When": "时间",
        "Note": "说明",
        "Timezone": "时区",
        "Reminder": "提醒编号",
        "What to say when the time comes, in the person's language": "到时候要说的话，用提出请求者的语言",
        "Reminder id": "提醒编号",
        "The place where reminders are kept does not answer right now.": "保存提醒的地方现在没有响应。",
        "Reminders are not kept here.": "这里没有启用提醒功能。",
        "The person has {limit} open reminders already, which is the limit. One has to be cancelled first.": (
            "未到时间的提醒已有 {limit} 个，达到上限。请先取消一个。"
        ),
        "The time is not accepted: {said} is {time}, and that has passed: it is now {now} there. Nothing was set; ask the person for a new time.": (
            "这个时间已经过去（当地现在是 {now}），所以没有设置提醒。"
        ),
    }
}


_ONCE = both("This reminder is given once; reminders do not repeat.", "只提醒一次：提醒不会重复。")


def _zone(ctx: ToolContext, name: str) -> tuple[str, tzinfo]:
    """The zone asked for, or the person's own. Raises `ModelRetry`."""
    try:
        return find_timezone(name.strip() or ctx.timezone or "UTC")
    except UnknownTimezone as error:
        if not name.strip():  # what Slack says about the person is nothing the model could mend
            return "UTC", UTC
        close = f" Did you mean {', '.join(error.close)}?" if error.close else ""
        raise ModelRetry(f"There is no timezone {name!r}.{close} Write an IANA name such as Asia/Tokyo, or leave it empty for the person's own.") from error


async def _understood(ctx: ToolContext, when: str, timezone: str) -> When:
    name, zone = _zone(ctx, timezone)
    try:
        # The library that reads month names loads its tables at first use; nobody else should wait for that.
        found = await beside("times", lambda: understand(when, now(ctx), zone, name), width=4)
    except Unclear as error:
        raise ModelRetry(f"The time is not accepted: {error}.") from error
    if timezone.strip() and found.at.utcoffset() != found.at.astimezone(zone).utcoffset():
        raise ModelRetry(f"The time is not accepted: {when.strip()!r} names the clock of {found.zone}, but timezone is {name}; send one of the two.")
    return found


async def _resolve(ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
    found = await _understood(ctx, arguments["when"], arguments["timezone"])
    return arguments | {"when": found.written(), "timezone": found.zone}


def _card(args: BaseModel) -> list[tuple[str, Any]]:
    sent = args.model_dump()
    rows: list[tuple[str, Any]] = [("Text", sent["text"])]
    try:
        name, zone = find_timezone(sent["timezone"])
        found = definite(sent["when"], zone, name)
    except UnknownTimezone:
        found = None
    if found is None:
        return [*rows, ("When", sent["when"]), ("Timezone", sent["timezone"])]
    notes = [note for note in (found.note(), _ONCE if repeats(sent["text"]) else "") if note]
    return [*rows, ("When", weekday_in_one(found.shown())), *(("Note", note) for note in notes)]


@tool(effect="write", group="reminders", keyed=True, title="Set a reminder", render=_card, resolve=_resolve, words=_WORDS, aliases=("set_reminder",))
async def remind_me(
    ctx: ToolContext,
    text: Annotated[str, Field(description="What to say when the time comes, in the person's language", min_length=1, max_length=MAX_TEXT)],
    when: Annotated[
        str,
        Field(
            description="When, once: as the person said it (`tomorrow 9am`, `in 2 hours`, `明天下午3点`, `下周一10点`) or ISO local time (`2026-11-30T09:00`)",
            min_length=1,
            max_length=MAX_LENGTH,
        ),
    ],
    timezone: Annotated[
        str, Field(description="Only when the person names a place other than their own: its IANA timezone or city, e.g. `Asia/Tokyo`", max_length=64)
    ] = "",
) -> dict[str, Any]:
    """Remind the person who asks of something, once, at a time of their own clock; the reminder is written into this conversation.

    Returns the reminder's id and its exact time. Use it when they ask to be reminded or told later. Not for other people, and not
    for writing to a channel at a later time. Reminders do not repeat: for "every day" or 每周 say so, and set the first one only if they want it.
    """
    words, kept_as = text.strip(), reminder_id(ctx.actor, ctx.idempotency_key)
    if not words:
        raise ModelRetry("The text is empty. Say what the person wants to be reminded of.")
    try:
        found = await _understood(ctx, when, timezone)
    except ModelRetry as error:  # it was definite when it was approved: only time itself can have spoilt it
        if await _known(ctx, kept_as):  # a repetition of the call whose first answer was lost
            return {"reminder_id": kept_as, "when": when, "note": "It was set, and its time has come since."}
        raise ToolFailed(f"{error} Nothing was set; ask the person for a new time.", suggestion=Suggestion.ASK_PERSON) from error
    reminder = Reminder(
        id=kept_as,
        actor=ctx.actor,
        thread=ctx.thread,
        text=words,
        due=found.due,
        timezone=found.zone,
        local=found.written(),
        created=int(now(ctx).timestamp()),
    )
    try:
        await _store(ctx).add(reminder)
    except TooManyReminders as error:
        message = f"The person has {MAX_OPEN} open reminders already, which is the limit. One has to be cancelled first."
        raise ToolFailed(message, suggestion=Suggestion.ASK_PERSON) from error
    except RemindersDown as error:
        raise _in_doubt() from error
    notes = " ".join(note for note in (found.note(), _ONCE if repeats(words) else "") if note)
    # The text is not given back: what the model wrote itself must not look as if a tool had found it.
    return {"reminder_id": reminder.id, "when": found.shown(), **({"note": notes} if notes else {})}


async def _known(ctx: ToolContext, reminder: str) -> bool:
    try:
        return await _store(ctx).known(reminder)
    except RemindersDown as error:
        raise _down() from error


@tool(effect="read", group="reminders", time_sensitive=True, title="List reminders")
async def list_reminders(ctx: ToolContext) -> dict[str, Any]:
    """List the open reminders of the person who asks, the next one first, each with its id, text and exact time.

    Use it when they ask what they will be reminded of, or to find the id of one to cancel. Outside a direct message only those
    asked for in this channel are shown, and the number of the others. Not for other people's reminders.
    """
    try:
        reminders = await _store(ctx).of(ctx.actor)
    except RemindersDown as error:
        raise _down() from error
    shown = [each for each in reminders if _may_show(ctx.thread, each)]
    rows = [{"reminder_id": each.id, "text": each.text, "when": _shown(each)} for each in shown]
    hidden = len(reminders) - len(shown)
    return {
        "count": len(rows),
        "reminders": rows,
        **({"elsewhere": f"{hidden} more, asked for in other places; list them in a direct message"} if hidden else {}),
    }


async def _named(ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """The card has to say which reminder goes, and a number says nothing to a person."""
    found = await _mine(ctx, arguments["reminder_id"])
    return arguments | {"reminder_id": found.id, "text": found.text, "when": _shown(found)}


def _cancel_card(args: BaseModel) -> list[tuple[str, Any]]:
    sent = args.model_dump()
    rows = [("Text", sent["text"]), ("When", weekday_in_one(sent["when"])), ("Reminder", sent["reminder_id"])]
    return [(label, value) for label, value in rows if value]


@tool(effect="write", group="reminders", keyed=True, title="Cancel a reminder", render=_cancel_card, resolve=_named, words=_WORDS)
async def cancel_reminder(
    ctx: ToolContext,
    reminder_id: Annotated[str, Field(description="The id as `list_reminders` or `remind_me` gave it", pattern=r"^\s*[0-9a-f]{12}\s*$")],
    text: Annotated[str, Field(description="Leave it out: what the reminder says is filled in for the person to read", max_length=MAX_TEXT)] = "",
    when: Annotated[str, Field(description="Leave it out: the reminder's time is filled in for the person to read", max_length=MAX_LENGTH)] = "",
) -> dict[str, Any]:
    """Call off one open reminder of the person who asks, so that it is never given; returns what it said.

    Use it when they no longer want a reminder; find its id with list_reminders first. Not for changing one: cancel it and set another.
    """
    wanted = reminder_id.strip()
    try:
        over = await _store(ctx).cancel(ctx.actor, wanted)
    except RemindersDown as error:
        raise _in_doubt() from error
    if over is not None:
        return {"cancelled": wanted, "text": over.text, "when": _shown(over)}
    # The same approved call may have done it before its answer was lost; either way there is nothing left to give.
    return {"cancelled": wanted, "text": text, "when": when, "note": "It was not open any more: given, or cancelled before."}


async def _mine(ctx: ToolContext, wanted: str) -> Reminder:
    try:
        found = await _store(ctx).get(ctx.actor, wanted.strip())
    except RemindersDown as error:
        raise _down() from error
    if found is None or not _may_show(ctx.thread, found):
        where = "" if ctx.thread.channel_id.startswith("D") else " that was asked for in this channel (others can be cancelled in a direct message)"
        message = f"The person has no open reminder {wanted.strip()!r}{where}. Use list_reminders to see the open ones."
        raise ToolFailed(message, code=ErrorCode.NOT_FOUND, suggestion=Suggestion.USE_OTHER_TOOL)
    return found


def _may_show(thread: Thread, reminder: Reminder) -> bool:
    """A direct message is read by its person alone; any other room also by people who were not there when it was asked."""
    return thread.channel_id.startswith("D") or (reminder.thread.team_id, reminder.thread.channel_id) == (thread.team_id, thread.channel_id)


def _shown(reminder: Reminder) -> str:
    try:
        name, zone = find_timezone(reminder.timezone)
    except UnknownTimezone:
        name, zone = "UTC", UTC
    return When(datetime.fromtimestamp(reminder.due, zone), name).shown()


def _store(ctx: ToolContext) -> Reminders:
    store = cast("Reminders | None", ctx.resources.get("reminders"))
    if store is None:
        raise ToolFailed("Reminders are not kept here.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.GIVE_UP)
    return store


def _in_doubt() -> ToolFailed:
    # The store may have done it before its answer was lost; asking again with the same key finds out.
    message = "The reminders' store did not answer, so it is not known whether this was done."
    return ToolFailed(message, code=ErrorCode.OUTCOME_UNKNOWN, suggestion=Suggestion.ASK_PERSON)


def _down() -> ToolFailed:
    return ToolFailed("The place where reminders are kept does not answer right now.", code=ErrorCode.UPSTREAM_ERROR, suggestion=Suggestion.RETRY)
