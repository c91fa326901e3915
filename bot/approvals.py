"""Who may decide on a write, and what a click does to it: pure.

A decision counts only if the call still waits, has not expired, the clicked message is the recorded card and the
person passes the policy. Authority is the click and the facts Slack gives about the clicker; nothing the model
wrote, and nothing the button carries beyond an opaque id, takes part.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.events import Decision, Person
from bot.grants import covers, permitted
from bot.messages import say
from bot.state import Approval, Call, Run, Status, Vote
from memory.keys import Actor


@dataclass(frozen=True, slots=True)
class Refusal:
    """The click changes nothing; `text` tells the clicker why."""

    text: str


@dataclass(frozen=True, slots=True)
class Ruling:
    """The click counts: the call gets `status` and `approval`; `note`, if any, is for the clicker only."""

    status: Status
    approval: Approval
    note: str = ""


def _outsider(actor: Actor, person: Person | None, team_id: str) -> bool:
    """Unknown people count as outsiders: facts that cannot be had must not open a door."""
    return person is None or person.is_bot or person.is_guest or person.is_foreign or actor.team_id != team_id


def _forbidden(approval: Approval, run: Run, event: Decision) -> str:
    """The message key of why this person may not decide, or an empty string."""
    policy = approval.policy
    if event.verdict == "deny" and event.actor == run.requested_by:
        return ""
    match policy.rule:
        case "requester":
            return "" if event.actor == run.requested_by else "click_requester"
        case "users":
            return "" if event.actor.user_id in policy.users else "click_listed"
        case "usergroup":
            return "" if event.person is not None and policy.usergroup in event.person.groups else "click_listed"
        case "two_people":
            return ""
        case "not_requester":
            return "" if event.actor != run.requested_by else "click_other"


def _overreach(approval: Approval, call: Call, event: Decision) -> str:
    """The message key of why this click may not also allow calls like this one from now on, or an empty string.

    Only an unedited approval may, of which every argument held fast is as it was shown, and for no longer than the policy says.
    """
    always = event.always
    if always is None or (
        event.verdict == "approve"
        and call.effect == "write"
        and permitted(approval.policy, always.expires_after)
        and covers(always.pattern, call.arguments or {})
    ):
        return ""
    return "click_always"


def judge(run: Run, call: Call, event: Decision, *, team_id: str, now: float, language: str) -> Refusal | Ruling:
    """Apply one decision to one call. `team_id` is the workspace the thread belongs to; `now` in seconds since the epoch.

    Anyone who may approve may deny; the requester may always deny their own request.
    """
    approval = call.approval
    if approval is None:
        return Refusal(say("click_unknown", language))
    if call.status is not Status.WAITING:
        if call.status is Status.EXPIRED:
            return Refusal(say("click_expired", language))
        if call.status is Status.SUPERSEDED:
            return Refusal(say("click_unknown", language))
        return Refusal(say("click_decided", language, state=say(f"status_{call.status.value}", language)))
    if event.message_ts and not approval.card_ts:
        # Posted by a worker that died before it could record where. Only our card carries this id, and Slack says where it was clicked.
        approval = approval.model_copy(update={"card_ts": event.message_ts, "shown": "open"})
    if event.message_ts and event.message_ts != approval.card_ts:
        return Refusal(say("click_unknown", language))
    if now >= approval.expires_at:
        return Refusal(say("click_expired", language))
    if (event.verdict == "answer") != (call.effect == "ask"):
        return Refusal(say("click_unknown", language))  # a question's button permits nothing, and a permission answers nothing
    # A guest may ask, so a guest may be asked; to permit something they still count as an outsider.
    person = event.person.model_copy(update={"is_guest": False}) if event.person is not None and call.effect == "ask" else event.person
    if _outsider(event.actor, person, team_id):
        return Refusal(say("click_outsider", language))
    reason = _forbidden(approval, run, event) or _overreach(approval, call, event)
    if reason:
        return Refusal(say(reason, language))
    return _rule(approval, event, now, language)


def _rule(approval: Approval, event: Decision, now: float, language: str) -> Refusal | Ruling:
    vote = Vote(actor=event.actor, verdict=event.verdict, at=now, reason=event.answer or event.reason)
    votes = (*approval.votes, vote)
    if event.verdict == "answer":
        return Ruling(Status.DONE, approval.model_copy(update={"votes": votes}))
    if event.verdict == "deny":
        return Ruling(Status.DENIED, approval.model_copy(update={"votes": votes}))
    if approval.policy.rule == "two_people":
        if event.verdict == "edit":
            return Refusal(say("click_edit_two", language))
        if any(earlier.actor == event.actor for earlier in approval.votes):
            return Refusal(say("click_again", language))
        if len(votes) < 2:
            return Ruling(Status.WAITING, approval.model_copy(update={"votes": votes}), say("click_half", language))
    return Ruling(Status.APPROVED, approval.model_copy(update={"votes": votes, "edited": event.verdict == "edit", "always": event.always}))
