"""Long-term memory put together from its parts: the store opened, its locks and its trail in Redis, and the hand that forgets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.erasing import Erasing
from bot.judging import Judge
from bot.long_term import LongTerm
from bot.places import Places
from bot.slack import Slack
from memory.decision_log import DecisionLog
from memory.erasure import erase_space
from memory.handover import Handovers
from memory.longterm.late import LateStore
from memory.longterm.memories import Memories
from memory.mailbox import Mailbox
from memory.owner_locks import OwnerLocks
from memory.recall_trail import RecallTrail
from memory.toolstate import ToolState

if TYPE_CHECKING:
    from memory.embedder import Embedder
    from memory.longterm.store import Store


async def start_long_term(
    store: Store,
    embedder: Embedder | None,
    *,
    client: Any,
    mailbox: Mailbox,
    tool_state: ToolState,
    slack: Slack,
    now: Callable[[], float],
    session_lifetime: float,
    model_reads: bool,
    limit: float,
    judge: Judge | None = None,
) -> LongTerm:
    """Open the store and put the rest around it; `client` is a patient one. The caller closes `memories.store`.

    Raises `memory.longterm.store.StoreError`; a store that does not answer is tried again when it is needed.
    """
    late = LateStore(store)
    await late.start()
    space = slack.me.team_id
    memories = Memories(late, embedder, locks=OwnerLocks(client, space=space), now=now)
    memories.recaller.prepare()
    trail = RecallTrail(client, space=space, lifetime=2 * session_lifetime)
    whole = partial(erase_space, client, space)
    erasing = Erasing(memories, mailbox, trail, Handovers(client, space=space), drop_answers=tool_state.drop_cached, erase_space=whole)
    return LongTerm(memories, trail, erasing, Places(slack), DecisionLog(client, space=space), judge=judge, model_reads=model_reads, limit=limit)
