"""What the agent needs of long-term memory, in one value: the door to the memories, who used them, and how patient to be."""

from __future__ import annotations

from dataclasses import dataclass

from bot.erasing import Erasing
from bot.judging import Judge
from bot.places import Places
from memory.decision_log import DecisionLog
from memory.longterm.memories import LIMIT, Memories
from memory.recall_trail import RecallTrail


@dataclass(frozen=True, slots=True)
class LongTerm:
    """Long-term memory as the agent uses it."""

    memories: Memories
    trail: RecallTrail
    erasing: Erasing
    places: Places
    decided: DecisionLog
    """What became of the latest actions each person was asked about."""
    judge: Judge | None = None
    """Leaves out what does not help; None: nothing is left out."""
    model_reads: bool = True
    """Whether the model reads what rules cannot; False: rules alone."""
    limit: float = LIMIT
    """Seconds an answer waits for memory."""
