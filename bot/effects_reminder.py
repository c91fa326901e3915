"""The effect of a reminder in Slack: its message, and what happens when its place takes none any more.

Nobody waits in front of the screen for a reminder, so one that cannot be posted would be lost in silence. Then its
person is told directly, at most once: that attempt's intent is committed first and never repeated.
"""

from __future__ import annotations

import structlog

from bot import actions as act
from bot.deps import Deps
from bot.ledger import Ledger
from bot.reminders import is_direct, reminder
from bot.slack import SlackDown, SlackRefused
from bot.state import Run

log = structlog.get_logger(__name__)


async def reminded_directly(run: Run, allowed: set[str], ledger: Ledger, deps: Deps) -> None:
    """Give a reminder to its person in their direct conversation with us, because its thread refused it."""
    channel = ledger.session.thread.channel_id
    box_id = f"{run.id}.direct"
    if is_direct(channel) or any(box.id == box_id for box in (ledger.session.run or run).outbox):
        return
    await ledger.record(act.Posting(box_id))
    person = run.requested_by.user_id
    try:
        # Slack takes a person's id for the conversation with them.
        await deps.slack.post(person, "", reminder(run, channel, allowed, direct=True), box_id, lookup=False, check=ledger.check)
    except (SlackRefused, SlackDown) as error:
        log.error("reminder_undeliverable", reason=str(error), run=run.id)
