"""What a private notice shows below its words: of two memories that contradict each other both, with buttons to say which holds."""

from __future__ import annotations

from typing import Any, Final

import structlog

from bot.long_term import LongTerm
from bot.memory_forms import Spot
from bot.memory_view import Viewer, pair, section_mrkdwn
from bot.messages import pick
from bot.state import Notice
from memory.longterm.store import StoreDown

DISPUTED: Final = "disputed:"
"""Before the newer memory's id: the id of a notice that asks which of two holds."""

log = structlog.get_logger(__name__)


async def blocks_below(notice: Notice, long_term: LongTerm | None) -> list[dict[str, Any]]:
    """The blocks a notice is sent with; none for one that asks nothing, or nothing any more. Its words say the way by `/memory` in any case."""
    if long_term is None or not notice.id.startswith(DISPUTED):
        return []
    try:
        newer = await long_term.memories.get(notice.actor, notice.id.removeprefix(DISPUTED))
        older = await long_term.memories.get(notice.actor, newer.disputed_with) if newer is not None and newer.disputed_with else None
    except StoreDown as error:
        log.warning("pair_not_shown", reason=str(error))
        return []
    if newer is None or older is None:
        return []
    return [section_mrkdwn(notice.text), *pair(newer, older, Viewer(notice.actor, pick(notice.text)), Spot("one"))]
