"""Loop control: what a run that goes round in circles is told, from the calls it made. Pure.

Three rules. An identical read that succeeded in this run is answered from the run, until a write has come between.
The same call that failed twice is not run a third time. A tool called more than twice within three rounds without
bringing anything new is not offered for some rounds, so that the model must think of something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from tools.result import ErrorCode, Suggestion, ToolResult

MAX_FAILURES: Final = 2
"""Times the same call may fail before it is answered without running."""
WINDOW: Final = 3
"""Rounds that are looked back over."""
MAX_IDLE: Final = 2
"""Calls of one tool within the window that may bring nothing new."""
COOLING_ROUNDS: Final = 3
"""Rounds for which a tool is not offered then."""
REMEMBERED: Final = 48
"""Calls of a run that are remembered."""


class Past(BaseModel):
    """One call a run made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    key: str
    """Fingerprint of tool and arguments."""
    round: int
    """Which of the run's model answers asked for it, from 0."""
    ok: bool
    mark: str
    """Fingerprint of the result: two equal ones brought nothing new."""
    call_id: str
    write: bool = False


class Cooling(BaseModel):
    """A tool that is not offered for a while."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str
    until: int
    """The first round in which it is offered again."""


def earlier_answer(history: Sequence[Past], key: str, *, since: int = 0) -> Past | None:
    """The latest identical call of this run, of round `since` or later, that succeeded and that no write was tried after.

    A write of the same answer counts as later, since it waits for a person while reads run at once; one that failed
    counts, too, because it may have been done all the same.
    """
    found = next((past for past in reversed(history) if past.key == key and past.ok and not past.write and past.round >= since), None)
    if found is None or any(past.write and past.round >= found.round for past in history):
        return None
    return found


def given_up(history: Sequence[Past], tool: str, key: str) -> ToolResult | None:
    """The answer to a call that failed too often exactly like this, without running it; None when it may run."""
    failures = sum(1 for past in history if past.key == key and not past.ok)
    if failures < MAX_FAILURES:
        return None
    message = (
        f"{tool!r} has failed {failures} times with exactly these arguments, so it was not run again. "
        "Change the approach: other arguments, another tool, or tell the person what is missing."
    )
    return ToolResult.fail(tool, ErrorCode.COOLING_DOWN, message, Suggestion.USE_OTHER_TOOL)


def cooled(history: Sequence[Past], cooling: Iterable[Cooling], round_: int) -> tuple[Cooling, ...]:
    """Which tools rest in round `round_`, given the calls of the rounds before it."""
    resting = {each.tool: each for each in cooling if each.until > round_}
    known: dict[str, set[str]] = {}
    idle: dict[str, int] = {}
    for past in history:
        marks = known.setdefault(past.tool, set())
        new = past.ok and past.mark not in marks
        marks.add(past.mark)
        if not new and past.round >= round_ - WINDOW:
            idle[past.tool] = idle.get(past.tool, 0) + 1
    last = max((past.round for past in history), default=-1)
    for tool, count in idle.items():
        called_last = any(past.tool == tool and past.round == last for past in history)
        if count > MAX_IDLE and called_last and tool not in resting:
            resting[tool] = Cooling(tool=tool, until=round_ + COOLING_ROUNDS)
    return tuple(resting.values())


def resting(tool: str) -> ToolResult:
    """The answer to a call of a tool that is not on offer because it cools down."""
    message = (
        f"{tool!r} was called several times in a row without bringing anything new and is not available for some rounds. "
        "Work with what you have, use another tool, or tell the person what you could not find out."
    )
    return ToolResult.fail(tool, ErrorCode.COOLING_DOWN, message, Suggestion.USE_OTHER_TOOL)


def remembered(history: Sequence[Past], new: Iterable[Past]) -> tuple[Past, ...]:
    """The history with the calls of one more round, bounded."""
    return (*history, *new)[-REMEMBERED:]
