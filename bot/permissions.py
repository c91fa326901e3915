"""What a person does with standing permissions in Slack: give one by form, list and revoke their own.

A person sees and ends only what they gave themselves. Whether a permission may be given is judged where every decision is; here
the person is told at once what could not come of it anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import Any, Final

import structlog

from bot.always import FOR, Asked, always_view, grant_title, grants_list, read_always
from bot.events import Always
from bot.messages import say
from bot.render import Rendered
from bot.state import Call, Run
from memory.grant import Grant, Used
from memory.grants import MAX_GRANTS, Grants, GrantsDown
from memory.keys import Actor, Thread
from tools.registry import Registry
from tools.tool import Tool

log = structlog.get_logger(__name__)

LIST_WORDS: Final = frozenset({"grants", "grant", "permissions", "权限", "授权"})
REVOKE_WORDS: Final = frozenset({"revoke", "撤销", "取消授权"})
ALL_WORDS: Final = frozenset({"all", "全部", "所有"})


@dataclass(frozen=True, slots=True)
class Revoke:
    """A click on a list's button."""

    grant_id: str
    actor: Actor
    channel_id: str
    thread_ts: str
    response_url: str
    """Where Slack takes what is to stand in the list's place."""


class Permissions:
    """The desk for standing permissions, over their store."""

    def __init__(self, grants: Grants, registry: Registry | None = None) -> None:
        """`registry` holds the tools of today: with their words the list is in the language of its reader."""
        self._grants = grants
        self._registry = registry

    async def form(self, call: Call, run: Run, thread: Thread, tool: Tool, actor: Actor) -> dict[str, Any] | str:
        """The form that allows calls like this one, or the key of why there is none."""
        approval = call.approval
        if actor != run.requested_by:
            return "click_requester"
        if approval is None or approval.policy.always_for <= 0:
            return "click_always"
        try:
            if await self._grants.count(actor) >= MAX_GRANTS:
                return "grants_full"
        except GrantsDown as error:
            log.warning("grants_not_read", reason=str(error))
            return "grants_down"
        asked = Asked(
            approval_id=approval.id,
            thread=thread,
            user_id=actor.user_id,
            title=tool.say(tool.title, run.locale) or tool.name,
            arguments=call.arguments or {},
            longest=approval.policy.always_for,
            now=time(),
            timezone=run.timezone,
            language=run.locale,
            words=tool.words.get(run.locale, {}),
        )
        return always_view(asked)

    @staticmethod
    def read(call: Call, run: Run, values: Mapping[str, Any]) -> Always | dict[str, str]:
        """A submitted form as what is allowed, or what is wrong with it by block."""
        longest = call.approval.policy.always_for if call.approval is not None else 0.0
        if longest <= 0:
            return {FOR: say("click_always", run.locale)}
        chosen = read_always(call.arguments or {}, values, longest)
        return {FOR: say("always_choose", run.locale)} if chosen is None else chosen

    async def command(self, actor: Actor, words: Sequence[str], language: str) -> Rendered:
        """`/steward grants [page]` and `/steward revoke <id|all>`, answered privately. `words` are what was written, `grants` or `revoke` first."""
        try:
            if words[0].casefold() in LIST_WORDS:
                page = int(words[1]) if len(words) > 1 and words[1].isdecimal() and len(words[1]) < 6 else 1
                return self._list(await self._grants.list(actor), language, page=page)
            if len(words) < 2:
                return self._list(await self._grants.list(actor), language, note=say("grants_which", language))
            return await self._end(actor, words[1], language)
        except GrantsDown as error:
            log.warning("grants_not_read", reason=str(error))
            return _line(say("grants_down", language))

    async def _end(self, actor: Actor, which: str, language: str) -> Rendered:
        found = await self._grants.list(actor)
        if which.casefold() in ALL_WORDS:
            if not found:
                return _line(say("grants_revoked_none", language))
            for grant, _ in found:
                await self._revoke(actor, grant)
            return _line(say("grants_revoked_all" if len(found) > 1 else "grants_revoked_only", language, count=str(len(found))))
        meant = [grant for grant, _ in found if grant.id.startswith(which)]
        if len(meant) > 1:
            return self._list(found, language, note=say("grants_several", language))
        return await self._ended(actor, found, meant[0] if meant else None, language)

    async def clicked(self, click: Revoke, language: str) -> Rendered:
        """Revoke what a list's button stands for: the list as it is afterwards. A button of an old list changes nothing."""
        try:
            found = await self._grants.list(click.actor)
            return await self._ended(click.actor, found, next((grant for grant, _ in found if grant.id == click.grant_id), None), language)
        except GrantsDown as error:
            log.warning("grants_not_read", reason=str(error))
            return _line(say("grants_down", language))

    async def _ended(self, actor: Actor, found: Sequence[tuple[Grant, Used]], grant: Grant | None, language: str) -> Rendered:
        if grant is None or not await self._revoke(actor, grant):
            return self._list([pair for pair in found if pair[0] != grant], language, note=say("grants_unknown", language))
        tool = self._registry.get(grant.tool) if self._registry is not None else None
        note = say("grants_revoked", language, title=grant_title(grant, tool, language))
        return self._list([pair for pair in found if pair[0] != grant], language, note=note)

    def _list(self, found: Sequence[tuple[Grant, Used]], language: str, *, page: int = 1, note: str = "") -> Rendered:
        return grants_list(found, language, page=page, note=note, registry=self._registry)

    async def _revoke(self, actor: Actor, grant: Grant) -> bool:
        gone = await self._grants.revoke(actor, grant.id)
        log.info("grant.revoked", grant=grant.id[:8], tool=grant.tool, gone=gone)
        return gone


def _line(text: str) -> Rendered:
    return Rendered(text=text, blocks=[])
