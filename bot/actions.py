"""What a session does next (`Action`), and what came of it (`Outcome`): the two closed unions between state and effects.

`run.decide` names an action, the worker performs it, `run.record` takes the outcome. Intents (`ToolsStarted`,
`Posting`) are outcomes too: they are committed before the effect, so that a successor knows it may have happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.state import Call, Notice, Redaction, Run, Status
from memory.session_memory import SessionMemory
from memory.transcript import Item
from tools.loop import Cooling
from tools.result import ToolResult


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model. With `final`, without tools: the budget is used up and an honest summary is wanted."""

    run: Run
    final: bool


@dataclass(frozen=True, slots=True)
class RunTools:
    """Execute these calls: all reads at once, or one approved write."""

    run: Run
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class AskApproval:
    """Post the card of one waiting call."""

    run: Run
    call: Call


@dataclass(frozen=True, slots=True)
class UpdateCard:
    """Make the card of one call show `state`."""

    run: Run
    call: Call
    state: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Post what is not yet posted of the run's answer."""

    run: Run


@dataclass(frozen=True, slots=True)
class Finish:
    """Withdraw stray copies of the run's messages; only runs that were taken over need it."""

    run: Run


@dataclass(frozen=True, slots=True)
class SendNotice:
    """Tell one person something privately."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """Read what was said in the thread before we joined it."""

    before_ts: str


@dataclass(frozen=True, slots=True)
class Compact:
    """See whether the newest part of the thread has grown too long, and if so put its older part into the summary. Off everybody's way."""


@dataclass(frozen=True, slots=True)
class Index:
    """Make what was summarised findable by its meaning."""


@dataclass(frozen=True, slots=True)
class Learn:
    """Read what people told about themselves since the last time, and keep what lasts."""


@dataclass(frozen=True, slots=True)
class Redact:
    """Take what somebody wanted forgotten out of everything that is kept of this thread."""

    redaction: Redaction


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until mail arrives or, if given, `until` (seconds since the epoch)."""

    until: float | None


Action = CallModel | RunTools | AskApproval | UpdateCard | Reply | Finish | SendNotice | ReadHistory | Compact | Index | Learn | Redact | Wait


@dataclass(frozen=True, slots=True)
class ModelAnswered:
    """The model's answer, its calls already checked: reads proposed, writes waiting with an approval, bad ones failed with a result."""

    text: str
    calls: tuple[Call, ...]
    tokens: int
    final: bool = False
    opened: tuple[str, ...] = ()
    """The groups of tools that are open after it, when it opened one."""
    cooling: tuple[Cooling, ...] = ()
    """The tools that rest after it."""
    recalled: tuple[str, ...] = ()
    """Ids of the memories that were at hand."""
    memory_missing: bool = False
    """Long-term memory did not answer."""


FailureKind = Literal["unavailable", "rate_limited", "refused", "overflow", "too_long", "empty", "invalid", "not_configured"]


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model gave no answer. `transient` failures are tried again later, within the run's patience."""

    kind: FailureKind
    transient: bool
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolsStarted:
    """Intent: these calls are about to run."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolDone:
    """One call ended."""

    call_id: str
    status: Status
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Posting:
    """Intent: a message with this id is about to be posted."""

    outbound_id: str


@dataclass(frozen=True, slots=True)
class Posted:
    """The message has this `ts`."""

    outbound_id: str
    ts: str


@dataclass(frozen=True, slots=True)
class PartReplied:
    """One part of the answer stands in its final form; `last` ends the reply."""

    last: bool


@dataclass(frozen=True, slots=True)
class CardPosted:
    """The card of this call stands at `ts`."""

    call_id: str
    ts: str


@dataclass(frozen=True, slots=True)
class CardRefused:
    """Slack would not take the card: nobody was asked. Not a denial."""

    call_id: str


@dataclass(frozen=True, slots=True)
class CardShown:
    """The card shows `state` (or cannot be changed any more)."""

    run_id: str
    call_id: str
    state: str


@dataclass(frozen=True, slots=True)
class NoticeTaken:
    """Intent: the notice is about to be sent; it is not tried twice."""

    notice_id: str


@dataclass(frozen=True, slots=True)
class ProcessingShown:
    """Intent: Slack is about to be told that we are at work."""


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """What was said before we joined, with a note in front when some of it could not be read."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Compacted:
    """What the thread is remembered by from now on."""

    memory: SessionMemory
    weight: int
    """UTF-8 bytes of the items it does not speak for."""
    index: Mapping[int, bytes]
    """Blocks of the search index that changed."""
    log_start: int = 0
    """Items before this position are let go."""


@dataclass(frozen=True, slots=True)
class LookedAt:
    """Nothing had to be summarised; the next look is due at this weight."""

    look_at: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """The items before `upto` can be found by their meaning."""

    upto: int
    index: Mapping[int, bytes]


@dataclass(frozen=True, slots=True)
class Wished:
    """What the request says about memory itself was seen to; see `Run.noted` and `Run.kept`."""

    noted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """The items before `upto` were read."""

    upto: int
    notices: tuple[Notice, ...] = ()
    """What people are to be asked about it, privately."""


@dataclass(frozen=True, slots=True)
class LearnLater:
    """It could not be done now."""

    at: float
    """Seconds since the epoch."""
    failed: bool = True
    """Whether that counts as a try; waiting for a store that is away does not."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """What was to be forgotten is taken out."""

    key: str
    rewrites: Mapping[int, Item]
    """Items as they stand from now on, by position."""
    memory: SessionMemory | None
    """What the thread is remembered by from now on; None: as before."""
    index: Mapping[int, bytes]
    indexed: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over."""


Outcome = (
    ModelAnswered
    | ModelFailed
    | ToolsStarted
    | ToolDone
    | Posting
    | Posted
    | PartReplied
    | CardPosted
    | CardRefused
    | CardShown
    | NoticeTaken
    | HistoryRead
    | ProcessingShown
    | Compacted
    | LookedAt
    | Indexed
    | Wished
    | Learned
    | LearnLater
    | Redacted
    | Finished
)
