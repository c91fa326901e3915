"""What people do with cards and forms: clicks and submissions read into values, forms opened and checked.

A button says nothing but an opaque id; which call it means, and whether it still waits, is looked up in the committed
state of the session the clicked message belongs to. A form's values are checked against the tool's own arguments here,
because the person must see what is wrong in the form; who may decide is judged later, where every decision is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any

import structlog
from pydantic import ValidationError

from bot.cards import full_view
from bot.context_commands import CONTEXT_WORDS, RESET_WORDS, ContextCommands, Holding
from bot.effects_slack import card_input
from bot.events import Always, Decision
from bot.forms import deny_view, edit_view, field_errors, read_form
from bot.gate import Identity, a_ts, an_id
from bot.guardrails import Guardrails
from bot.memory_commands import MemoryCommands
from bot.memory_forms import STATS_WORDS
from bot.messages import pick, say
from bot.permissions import LIST_WORDS, REVOKE_WORDS, Permissions, Revoke
from bot.questions import answer_view
from bot.render import Rendered, help_text, home
from bot.session_ops import card_state
from bot.slack import Slack, SlackDown, SlackRefused
from bot.slack_tools import SlackForTools
from bot.state import Call, Run, Session, StateError, Status, load
from memory.grants import Grants
from memory.handover import Handovers
from memory.keys import Actor, Thread
from memory.mailbox import Mailbox
from tools.engine import InvalidArguments, Prepared, validate
from tools.faults import report
from tools.registry import Registry
from tools.resolve import resolved
from tools.result import ToolResult
from tools.tool import Tool, ToolContext

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OpenForm:
    """A click that wants a modal: `what` is `view`, `edit`, `always`, `deny_reason` or `answer`."""

    what: str
    approval_id: str
    thread: Thread
    actor: Actor
    trigger_id: str


@dataclass(frozen=True, slots=True)
class Form:
    """A submitted modal: `what` is `edit`, `always`, `deny` or `answer`."""

    what: str
    approval_id: str
    thread: Thread
    actor: Actor
    values: dict[str, Any]
    key: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The form stays open with these errors by block."""

    errors: dict[str, str] = field(default_factory=dict)


def _actor(body: Mapping[str, Any], me: Identity) -> Actor:
    user = body["user"]
    team = user.get("team_id") or (body.get("team") or {}).get("id") or me.team_id
    if not isinstance(user.get("id"), str) or not isinstance(team, str):
        raise ValueError("no user")
    return Actor(team_id=team, user_id=user["id"])


def clicked(body: Mapping[str, Any], me: Identity) -> Decision | OpenForm | Revoke | None:
    """Read a `block_actions` payload. Raises `ValueError` or `KeyError` when it has not the form Slack sends."""
    action = body["actions"][0]
    container = body.get("container") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id")
    message_ts = container.get("message_ts") or (body.get("message") or {}).get("ts")
    value = action.get("value")
    if not (isinstance(channel, str) and isinstance(message_ts, str) and isinstance(value, str)) or not channel or not value or len(value) > 200:
        return None
    thread_ts = container.get("thread_ts") or (body.get("message") or {}).get("thread_ts") or ""
    if thread_ts == message_ts:
        # Someone answered below the card: Slack then calls the card a root, but it belongs where it was posted.
        thread_ts = ""
    channel, message_ts, thread_ts = an_id(channel, "channel"), a_ts(message_ts, "message_ts"), a_ts(thread_ts, "thread_ts")
    thread = Thread(team_id=me.team_id, channel_id=channel, thread_ts=thread_ts)
    actor = _actor(body, me)
    what = str(action.get("action_id", "")).removeprefix("steward:")
    if what in {"approve", "deny"}:
        key = f"d:{value}:{actor.user_id}:{action.get('action_ts', '')}"
        return Decision(
            thread=thread, key=key, actor=actor, approval_id=value, message_ts=message_ts, verdict="approve" if what == "approve" else "deny", at=time()
        )
    if what.startswith("choice:") and what[7:].isdecimal() and len(what) < 12:
        key = f"d:{value}:{actor.user_id}:{action.get('action_ts', '')}"
        place = int(what[7:])
        return Decision(thread=thread, key=key, actor=actor, approval_id=value, message_ts=message_ts, verdict="answer", choice=place, at=time())
    if what == "revoke":
        return Revoke(value, actor, channel, thread_ts, str(body.get("response_url", "")))
    if what in {"view", "edit", "always", "deny_reason", "answer"}:
        return OpenForm(what, value, thread, actor, str(body.get("trigger_id", "")))
    return None


def submitted(body: Mapping[str, Any], me: Identity) -> Form | None:
    """Read a `view_submission` payload; None when its private part is not ours."""
    view = body["view"]
    try:
        private = json.loads(view.get("private_metadata") or "{}")
        thread = Thread.parse(private["s"])
        an_id(thread.channel_id, "channel")
        a_ts(thread.thread_ts, "thread_ts")
        approval_id = str(private["a"])
    except (ValueError, KeyError, TypeError):
        return None
    if thread.team_id != me.team_id:
        return None
    values = (view.get("state") or {}).get("values") or {}
    actor = _actor(body, me)
    # A replay of the same submission must be the same event; a corrected one must not.
    mark = hashlib.sha256(json.dumps([view.get("id"), values], sort_keys=True).encode()).hexdigest()[:16]
    return Form(str(view.get("callback_id", "")).removeprefix("steward:"), approval_id, thread, actor, values, f"d:{approval_id}:{actor.user_id}:{mark}")


class Interaction:
    """The part of the edge that reads sessions and opens views."""

    def __init__(
        self,
        mailbox: Mailbox,
        slack: Slack,
        registry: Registry,
        grants: Grants | None = None,
        guardrails: Guardrails | None = None,
        *,
        resources: Mapping[str, Any] | None = None,
        holding: Holding | None = None,
        handovers: Handovers | None = None,
        desk: MemoryCommands | None = None,
    ) -> None:
        """`resources` are those of the tools, for values of a form that a tool reads in the light of who asks and when.

        `holding` reads what is held about threads; without it nobody can look at that or clear it. `handovers` is what is left of expired ones.
        `desk` is where people see what is remembered about them; without it there is no long-term memory.
        """
        self._resources = resources or {}
        self._mailbox = mailbox
        self._slack = slack
        self._registry = registry
        self._permissions = Permissions(grants, registry) if grants is not None else None
        self._guardrails = guardrails or Guardrails()
        self.desk = desk
        self.memory = ContextCommands(holding, slack, handovers) if holding is not None else None

    async def _find(self, thread: Thread, approval_id: str) -> tuple[Session, Run, Call] | None:
        document = await self._mailbox.read_document(thread)
        if not document:
            return None
        try:
            session = load(document)
        except StateError as error:
            log.warning("state_unreadable", reason=str(error))
            return None
        for run in ([session.run] if session.run else []) + list(session.waiting):
            for call in run.calls:
                if call.approval is not None and call.approval.id == approval_id:
                    return session, run, call
        return None

    async def open(self, form: OpenForm | Revoke) -> None:
        """Open the modal a click asked for, or tell the person privately why there is none. Raises `MailboxDown`."""
        if isinstance(form, Revoke):
            await self._revoke(form)
            return
        found = await self._find(form.thread, form.approval_id)
        try:
            if found is None:
                await self._slack.notice(form.thread.channel_id, form.actor.user_id, say("click_unknown", "en"), form.thread.thread_ts)
                return
            _, run, call = found
            tool = self._registry.get(call.tool)
            if form.what != "view" and call.status is not Status.WAITING:
                state = say("click_decided", run.locale, state=say(f"status_{call.status.value}", run.locale))
                await self._slack.notice(form.thread.channel_id, form.actor.user_id, state, form.thread.thread_ts)
                return
            if form.what == "view":
                view = full_view(card_input(call, run, card_state(call), self._registry))
            elif call.effect == "ask":
                if form.what != "answer":
                    return
                view = answer_view(form.approval_id, form.thread.id, run.locale, str((call.arguments or {}).get("question", "")))
            elif form.what == "answer":
                return
            elif form.what == "deny_reason":
                view = deny_view(form.approval_id, form.thread.id, run.locale, title=(tool.title if tool else "") or call.tool)
            elif form.what == "always":
                made = await self._always(form, call, run, tool)
                if made is None:
                    return
                view = made
            elif not _may_edit(call, run, form.actor):
                await self._slack.notice(form.thread.channel_id, form.actor.user_id, say("click_requester", run.locale), form.thread.thread_ts)
                return
            elif tool is not None:
                schema = tool.schema()["function"]["parameters"]
                view = edit_view(
                    schema,
                    call.arguments or {},
                    approval_id=form.approval_id,
                    session_id=form.thread.id,
                    title=tool.say(tool.title, run.locale) or tool.name,
                    language=run.locale,
                    words=tool.words.get(run.locale, {}),
                )
            else:
                return
            await self._slack.open_view(form.trigger_id, view)
        except (SlackDown, SlackRefused) as error:
            log.warning("view_not_opened", what=form.what, reason=str(error))

    async def _always(self, form: OpenForm, call: Call, run: Run, tool: Tool | None) -> dict[str, Any] | None:
        """The form that allows calls like this one from now on; None when the person was told why there is none."""
        made: dict[str, Any] | str = "click_always"
        if self._permissions is not None and tool is not None:
            made = await self._permissions.form(call, run, form.thread, tool, form.actor)
        if isinstance(made, str):
            await self._slack.notice(form.thread.channel_id, form.actor.user_id, say(made, run.locale), form.thread.thread_ts)
            return None
        return made

    async def _revoke(self, click: Revoke) -> None:
        """End a permission of the clicker's own, and show the list as it is now in the old one's place."""
        if self._permissions is None:
            return
        shown = await self._permissions.clicked(click, await self._language(click.actor))
        try:
            await self._slack.respond(click.response_url, shown)
        except (SlackDown, SlackRefused) as error:
            log.warning("list_not_renewed", reason=str(error))

    async def _language(self, actor: Actor, text: str = "") -> str:
        """The language to answer somebody in who wrote `text` to us, or nothing."""
        try:
            person = await self._slack.person(actor)
        except (SlackDown, SlackRefused):
            return pick(text)
        return pick(text if pick(text) == "zh" else "", person.locale)

    async def check(self, form: Form) -> Decision | Refused:
        """A submitted form as a decision, or what is wrong with it. Raises `MailboxDown`."""
        if form.what == "deny":
            reason = _first_text(form.values)[:1_000]
            return Decision(
                thread=form.thread, key=form.key, actor=form.actor, approval_id=form.approval_id, message_ts="", verdict="deny", reason=reason, at=time()
            )
        if form.what == "answer":
            words = _first_text(form.values).strip()[:2_000]
            if not words:  # blanks pass Slack's own check
                return Refused({next(iter(form.values), "answer"): say("form_error_missing", await self._language(form.actor))})
            return Decision(
                thread=form.thread, key=form.key, actor=form.actor, approval_id=form.approval_id, message_ts="", verdict="answer", answer=words, at=time()
            )
        found = await self._find(form.thread, form.approval_id)
        block = next(iter(form.values), "")
        if found is None or found[2].status is not Status.WAITING:
            return Refused({block: say("click_unknown", found[1].locale if found else "en")})
        _, run, call = found
        tool = self._registry.get(call.tool)
        if tool is None:
            return Refused({block: say("click_unknown", run.locale)})
        if form.what == "always":
            always = Permissions.read(call, run, form.values)
            if not isinstance(always, Always):
                return Refused(always)
            return Decision(
                thread=form.thread, key=form.key, actor=form.actor, approval_id=form.approval_id, message_ts="", verdict="approve", always=always, at=time()
            )
        return await self._edited(form, run, call, tool)

    async def _edited(self, form: Form, run: Run, call: Call, tool: Tool) -> Decision | Refused:
        """The values of an edit form, held against the tool's arguments and the rules, in the definite form in which they would run."""
        block = next(iter(form.values), "")
        if not _may_edit(call, run, form.actor):  # what a form says about its values (which channels exist, say) is for its person alone
            return Refused({block: say("click_requester", run.locale)})
        schema = tool.schema()["function"]["parameters"]
        try:
            arguments = read_form(schema, call.arguments or {}, form.values)
            tool.args_model.model_validate(arguments)
            valid = validate(tool, arguments)
        except ValidationError as error:
            return Refused(field_errors(error.errors(include_url=False), run.locale, tuple(form.values)))
        except InvalidArguments as error:
            return Refused({block: str(error)[:1_000]})
        except Exception as error:  # noqa: BLE001 - a validator or rule of the tool's own may raise anything, and the person is waiting at the form
            report(log, "tool.validator_failed", error, function=tool.function, tool=tool.name)
            return Refused({block: say("form_error_other", run.locale, reason=tool.name)})
        person = run.requested_by
        place_of_call = ToolContext(person, form.thread, run.timezone, run.id, call.id, slack=SlackForTools(self._slack), resources=self._resources)
        definite = await resolved(Prepared(tool, valid, ""), place_of_call)  # what is approved is a time, not "tomorrow"
        if isinstance(definite, ToolResult):
            return Refused({block: (definite.error_message or "")[:1_000]})
        valid = definite.arguments
        broken = self._guardrails.complaint(tool, valid, thread=form.thread, actor=run.requested_by)
        if broken is not None:
            place = f"field:{broken.argument.partition('.')[0]}"
            return Refused({place if place in form.values else block: say("form_error_rule", run.locale, reason=broken.reason).strip()})
        return Decision(
            thread=form.thread, key=form.key, actor=form.actor, approval_id=form.approval_id, message_ts="", verdict="edit", arguments=valid, at=time()
        )

    async def show_home(self, user: str) -> None:
        """Draw the App Home of one person."""
        if self.desk is not None:
            await self.desk.opened_home(user)
            return
        try:
            person = await self._slack.person(Actor(team_id=self._slack.me.team_id, user_id=user))
            await self._slack.publish_home(user, home(person.name, pick("", person.locale), ["/steward"]))
        except (SlackDown, SlackRefused) as error:
            log.warning("home_not_shown", reason=str(error))

    async def command(self, body: Mapping[str, Any]) -> Rendered:
        """The private answer to `/steward …`."""
        text = str(body.get("text") or "").strip()
        words = text.split()
        actor = Actor(team_id=str(body.get("team_id") or self._slack.me.team_id), user_id=str(body.get("user_id", "")))
        if words and words[0].casefold() in LIST_WORDS | REVOKE_WORDS and self._permissions is not None:
            # An id may look like several English words: only the first word is the person's own.
            return await self._permissions.command(actor, words, await self._language(actor, words[0]))
        if len(words) == 2 and words[0].casefold() in CONTEXT_WORDS and words[1].casefold() in STATS_WORDS and self.desk is not None:
            return await self.desk.stats(actor, await self._language(actor, words[1]))
        if words and words[0].casefold() in CONTEXT_WORDS | RESET_WORDS and self.memory is not None:
            return await self.memory.command(actor, str(body.get("channel_id") or ""), words, await self._language(actor, words[0]))
        language = await self._language(actor, text)
        if text.casefold() in {"status", "状态"}:
            return Rendered(say("status_ok" if await self._mailbox.ping() else "status_store_down", language), [])
        return Rendered(help_text(language), [])


def _may_edit(call: Call, run: Run, actor: Actor) -> bool:
    """Whether the form may be opened and checked for this person: as far as that can be told before the decision itself is judged."""
    policy = call.approval.policy if call.approval is not None else None
    if actor == run.requested_by or policy is None or policy.rule == "requester":
        return actor == run.requested_by
    return policy.rule != "users" or actor.user_id in policy.users


def _first_text(values: Mapping[str, Any]) -> str:
    for block in values.values():
        for element in (block or {}).values():
            if isinstance(element, dict) and isinstance(element.get("value"), str):
                return str(element["value"])
    return ""
