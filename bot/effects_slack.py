"""The effects in Slack: cards, the answer, private notices, and what was said before we came.

A message is posted exactly once: its intent is committed first, a successor looks it up before posting, and a worker
that was fenced while it sent withdraws its copy.
"""

from __future__ import annotations

import asyncio
from time import time
from typing import Any, Final

import structlog

from bot import actions as act
from bot.addresses import urls
from bot.cards import CardInput, approval_card, resolved_card
from bot.deps import Deps
from bot.effects_reminder import reminded_directly
from bot.forms import human
from bot.going_out import Seen, may_open
from bot.guard import clean
from bot.ledger import Ledger
from bot.long_term import LongTerm
from bot.memory_view_more import missing_footer, saved_footer, used_footer
from bot.messages import say
from bot.permalinks import permalink
from bot.questions import question_card
from bot.reminders import reminder
from bot.render import Rendered, answer_parts, capped, escape
from bot.session_ops import card_state, outbound_id
from bot.slack import SlackDown, SlackRefused
from bot.state import Call, Run
from bot.told import told
from bot.which_holds import blocks_below
from memory.decision_log import Decided
from memory.mailbox import Fenced, MailboxDown
from tools.registry import Registry
from tools.tool import Tool
from tools.words import Worded

log = structlog.get_logger(__name__)

LONG_TEXT: Final = 1_500
"""Characters from which a text is worked on beside the event loop."""
FORM: Final = frozenset(
    {"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many", "msg_too_long", "markdown_text_conflict", "no_text"}
)
"""Slack's words for a message whose form it does not take."""
REVOKED: Final = frozenset({"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "org_login_required", "ekm_access_denied"})
"""Slack's words for a bot that may not speak at the moment."""


async def post_recorded(ledger: Ledger, deps: Deps, box_id: str, ts: str, *outcomes: act.Outcome) -> None:
    """Record a post. If the session was taken over while we sent, our copy is withdrawn unless the new holder adopted it."""
    try:
        await ledger.record(*outcomes)
    except Fenced:
        channel = ledger.session.thread.channel_id
        for _ in range(deps.limits.adoption_looks):
            named = await ledger.named(box_id)
            if named is not None:
                if named != ts:
                    await deps.slack.delete(channel, ts)
                    log.warning("copy_withdrawn", outbound=box_id)
                break
            await asyncio.sleep(deps.limits.adoption_pause)
        raise


def card(call: Call, run: Run, state: str, deps: Deps) -> Rendered:
    """A call's card in a state: with buttons while it waits, with what happened afterwards."""
    if call.effect == "ask":
        return question_card(call, run, state)
    shown = card_input(call, run, state, deps.registry)
    return approval_card(shown) if state in {"open", "half"} else resolved_card(shown)


def card_input(call: Call, run: Run, state: str, registry: Registry) -> CardInput:
    """What a card shows: rows from the tool's own renderer over validated arguments, else every argument by name."""
    if call.approval is None:
        raise ValueError("a card needs an approval")
    tool = registry.get(call.tool)
    rows: list[tuple[str, Any]] = list((call.arguments or {}).items())
    if tool is not None and tool.render is not None:
        rows = tool.render(tool.args_model.model_validate(call.arguments or {}))
    return CardInput(
        approval=call.approval,
        tool_name=call.tool,
        title=(tool.say(tool.title, run.locale) if tool else "") or call.tool,
        rows=[(tool.say(label, run.locale) if tool else label, value.said(run.locale) if isinstance(value, Worded) else value) for label, value in rows],
        requested_by=run.requested_by.user_id,
        state=state,
        result=told(call.result, tool, run.locale),
        language=run.locale,
        repaired=call.repaired,
        same=_held_fast(call, run, tool),
    )


def _held_fast(call: Call, run: Run, tool: Tool | None) -> tuple[str, ...]:
    """The labels of the arguments that a permission given with this call's approval holds fast."""
    always = call.approval.always if call.approval is not None else None
    return tuple(human(name) if tool is None else tool.say(human(name), run.locale) for name in (always.pattern if always is not None else ()))


async def ask(action: act.AskApproval, ledger: Ledger, deps: Deps) -> None:
    """Post a card. One that Slack will not take means that nobody was asked, which is not a denial."""
    run, call, thread = action.run, action.call, ledger.session.thread
    if call.approval is None:
        raise ValueError("a card needs an approval")
    box = next((b for b in run.outbox if b.id == call.approval.id), None)
    lookup = box is None or box.epoch != ledger.claim.epoch
    try:
        ts = await deps.slack.post(
            thread.channel_id,
            thread.thread_ts,
            card(call, run, card_state(call), deps),
            call.approval.id,
            lookup=lookup,
            since=run.started_at,
            check=ledger.check,
        )
    except SlackRefused as error:
        log.warning("card_refused", code=error.code, tool=call.tool)
        await ledger.record(act.CardRefused(call.id))
        return
    await post_recorded(ledger, deps, call.approval.id, ts, act.CardPosted(call.id, ts))


async def update_card(action: act.UpdateCard, ledger: Ledger, deps: Deps) -> None:
    """Redraw a card. One that cannot be changed any more counts as shown: the thread holds the outcome too."""
    if action.call.approval is None:
        raise ValueError("a card needs an approval")
    ledger.check()
    try:
        await deps.slack.update(ledger.session.thread.channel_id, action.call.approval.card_ts, card(action.call, action.run, action.state, deps))
    except SlackRefused as error:
        log.warning("card_not_updated", code=error.code)
    tool = deps.registry.get(action.call.tool)
    if deps.long_term is not None and not action.call.open and not (tool is not None and tool.asks):  # a question is no approval
        await _note_decision(action, ledger, deps.long_term)
    await ledger.record(act.CardShown(action.run.id, action.call.id, action.state))


async def _note_decision(action: act.UpdateCard, ledger: Ledger, long_term: LongTerm) -> None:
    """For the person's App Home, which can do without it."""
    card_ts = action.call.approval.card_ts if action.call.approval is not None else ""
    link = permalink(long_term.places.url, ledger.session.thread, card_ts)
    decided = Decided(action.call.tool, action.call.status.value, time(), link)
    try:
        await long_term.decided.note(action.run.requested_by, action.call.id, decided)
    except MailboxDown as error:
        log.warning("decision_not_noted", reason=str(error))


async def cleaned(text: str, seen: Seen, deps: Deps) -> str:
    """The model's text as it may leave; a long one is worked on in a thread, because it is parsed as Markdown several times."""
    allowed = allowed_urls(text, seen)
    if len(text) < LONG_TEXT:
        return clean(text, allowed, deps.allowed_hosts)
    return await asyncio.to_thread(clean, text, allowed, deps.allowed_hosts)


def allowed_urls(text: str, seen: Seen) -> set[str]:
    """The links in `text` that a person wrote or a tool found before the model wrote them; it may repeat those and no others."""
    return {url for url in urls(text) if may_open(url, seen)}


async def reply(run: Run, ledger: Ledger, deps: Deps) -> None:
    """Post the parts of the answer that do not stand yet; the first takes the place of a partial one."""
    if not run.answer and not any(box.id == outbound_id(run, 0) for box in run.outbox):
        await ledger.record(act.PartReplied(last=True))
        return
    text = run.answer or say("stopped", run.locale)
    if run.answer_kind in {"answer", "summary"}:
        text = await cleaned(capped(text, run.locale), await ledger.seen(), deps)
    if run.answer_kind == "reminder":
        parts = [reminder(run, ledger.session.thread.channel_id, allowed_urls(run.answer or "", await ledger.seen()))]
    else:
        parts = await asyncio.to_thread(answer_parts, text, run.locale) if len(text) >= LONG_TEXT else answer_parts(text, run.locale)
    if run.answer_kind in {"answer", "summary"}:
        parts[-1] = Rendered(parts[-1].text, [*parts[-1].blocks, *memory_footers(run)])
    for index in range(run.parts_posted, len(parts)):
        last = index + 1 == len(parts)
        try:
            await _part(run, outbound_id(run, index), parts[index], ledger, deps, last=last)
        except SlackRefused as error:
            if error.code in REVOKED:
                raise SlackDown(f"reply: {error.code}") from error  # an operator's to mend; the answer waits for that
            log.warning("part_refused", code=error.code, run=run.id)
            if not await _part_again(run, index, parts[index], ledger, deps, code=error.code, last=last):
                if run.answer_kind == "reminder":
                    await reminded_directly(run, allowed_urls(run.answer or "", await ledger.seen()), ledger, deps)
                await ledger.record(act.PartReplied(last=True))
                return


def memory_footers(run: Run) -> list[dict[str, Any]]:
    """Under an answer: what was kept or deleted at the person's wish, which memories it had at hand, or that memory was away."""
    kept, language = (len(run.kept) if "kept" in run.noted else 0), run.locale
    return [
        *saved_footer(kept, language),
        *(missing_footer(language) if run.memory_missing else used_footer(len(run.recalled), run.id, language)),
    ]


async def _part(run: Run, box_id: str, part: Rendered, ledger: Ledger, deps: Deps, *, last: bool) -> None:
    """Bring one part to its final form: in place of a partial one, else as a new message."""
    thread = ledger.session.thread
    box = next((b for b in (ledger.session.run or run).outbox if b.id == box_id), None)
    if box is not None and box.ts:
        ledger.check()
        await deps.slack.update(thread.channel_id, box.ts, part)
        await ledger.record(act.PartReplied(last=last))
        return
    if box is None:
        await ledger.record(act.Posting(box_id))
    lookup = box is not None and box.epoch != ledger.claim.epoch
    ts = await deps.slack.post(thread.channel_id, thread.thread_ts, part, box_id, lookup=lookup, since=run.started_at, check=ledger.check)
    await post_recorded(ledger, deps, box_id, ts, act.Posted(box_id, ts), act.PartReplied(last=last))


async def _part_again(run: Run, index: int, part: Rendered, ledger: Ledger, deps: Deps, *, code: str, last: bool) -> bool:
    """A second way for a part that Slack refused: a message of its own, in plain text if its form was the trouble. False when that is refused too."""
    box_id = outbound_id(run, index)
    stale = next((b.ts for b in (ledger.session.run or run).outbox if b.id == box_id), "")
    try:
        if stale:
            await deps.slack.delete(ledger.session.thread.channel_id, stale)
    except SlackRefused as error:
        log.info("partial_not_deleted", code=error.code)
    try:
        await _part(run, f"{box_id}.again", plain_part(part) if code in FORM else part, ledger, deps, last=last)
    except SlackRefused as error:
        # Slack will not take this message, now or later: going on is all that is left, and the log says why.
        log.error("reply_refused", code=error.code, run=run.id)
        return False
    return True


def plain_part(part: Rendered) -> Rendered:
    """The same words without any form that Slack could object to."""
    words = "\n\n".join(str(block["text"]) for block in part.blocks if block.get("type") == "markdown" and block.get("text"))
    return Rendered(text=escape(words) if words else part.text, blocks=[])


async def withdraw_copies(run: Run, ledger: Ledger, deps: Deps) -> None:
    """A run that changed hands may have left a copy that nobody recorded: withdraw what the state does not name."""
    thread = ledger.session.thread
    named = {box.ts for box in run.outbox}
    try:
        found = await deps.slack.find(thread.channel_id, thread.thread_ts, [box.id for box in run.outbox], since=run.started_at)
        for stamps in found.values():
            for ts in stamps:
                if ts not in named:
                    ledger.check()
                    await deps.slack.delete(thread.channel_id, ts)
                    log.warning("copy_withdrawn", run=run.id)
    except SlackRefused as error:
        log.warning("copies_not_checked", code=error.code)
    await ledger.record(act.Finished())


async def send_notice(action: act.SendNotice, ledger: Ledger, deps: Deps) -> None:
    """Tell one person something privately, at most once."""
    notice, thread = action.notice, ledger.session.thread
    await ledger.record(act.NoticeTaken(notice.id))
    try:
        blocks = await blocks_below(notice, deps.long_term)
        await deps.slack.notice(thread.channel_id, notice.actor.user_id, notice.text, thread.thread_ts, blocks)
    except (SlackDown, SlackRefused) as error:
        log.warning("notice_not_sent", reason=str(error))
