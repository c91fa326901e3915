"""The saved state of one thread: the small JSON document a session is.

Nothing here does anything; `run.py` moves these values forward. Every type is frozen, so a change is a new value,
and a commit is the only way for it to become true. The transcript is not in here: it grows, and this must not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.events import Always, RoomKind
from memory.keys import Actor, Thread
from memory.transcript import Item, UserMessage
from tools.loop import Cooling, Past
from tools.result import ToolResult

SCHEMA_VERSION: Final = 4
"""Version 1: the first form. Version 2: a run remembers the calls it made, the tool groups it opened and its person's user groups; calls may be
questions; a result's duration is in seconds. Version 3: where the thread's memory stands (`Mark`), and where its transcript begins.
Version 4: how far it was read for what people told about themselves, what an answer recalled, and what is to be taken out of the transcript.
Any change to the types below needs a new number, a step in `UPGRADES` and a saved sample under tests/corpus."""

MAX_STATE_BYTES: Final = 1024 * 1024
"""A session document larger than this is refused; the request that made it grow is ended with a notice."""


class StateError(Exception):
    """A saved document cannot be read by this version of the program. It is left as it is for one that can."""


class StateTooLarge(StateError):  # noqa: N818 - states a condition
    """A document would exceed `MAX_STATE_BYTES`: what made it grow has to be ended."""


class Frozen(BaseModel):
    """Base of all state: immutable, unknown fields refused (a guess at meaning is worse than a stop)."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """Where a call stands. The last seven are final."""

    PROPOSED = "proposed"
    WAITING = "waiting"
    APPROVED = "approved"
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"
    STOPPED = "stopped"


FINAL: Final = frozenset({Status.DONE, Status.FAILED, Status.DENIED, Status.EXPIRED, Status.SUPERSEDED, Status.UNKNOWN, Status.STOPPED})


class Policy(Frozen):
    """Who may decide on a write. Guests, bots and other companies' people never may."""

    rule: Literal["requester", "users", "usergroup", "two_people", "not_requester"] = "requester"
    users: tuple[str, ...] = ()
    usergroup: str = ""
    expires_after: float = 86_400.0
    """Seconds from asking until the card expires."""
    always_for: float = 0.0
    """Seconds at most for which the requester may allow such calls from now on; 0: never."""


class Vote(Frozen):
    """One person's valid decision."""

    actor: Actor
    verdict: Literal["approve", "deny", "edit", "answer"]
    at: float
    reason: str = ""
    """Why it was denied, or what a question was answered with."""


class Approval(Frozen):
    """The question whether a call may run (or a question the model asks), and who answered what."""

    id: str
    """Opaque; the only thing a button carries."""
    digest: str
    """SHA-256 over tool name, tool schema, canonical arguments, session, run and call."""
    policy: Policy
    expires_at: float
    """Seconds since the epoch."""
    card_ts: str = ""
    shown: str = ""
    """The status the card shows now: empty before it is posted, `open`, `half` (one of two approved), or a final status."""
    votes: tuple[Vote, ...] = ()
    edited: bool = False
    always: Always | None = None
    """With the click the person also allowed calls like this one for some time."""
    grant: str = ""
    """Id of the standing permission that allowed the call, when nobody had to be asked."""


class Call(Frozen):
    """One tool call of the run's latest answer."""

    id: str
    """Ours, unique in the session; the model's own id may be missing or repeated."""
    tool: str
    raw: str = ""
    arguments: dict[str, Any] | None = None
    """Validated, JSON-compatible; None when they did not validate."""
    effect: Literal["read", "write", "ask"] = "read"
    """`ask`: a question to the person; it waits like an approval, and its answer is its result."""
    keyed: bool = False
    begun: bool = False
    """It was about to run at least once: of a write nobody may say any more that nothing was done."""
    repaired: bool = False
    """The model's arguments were malformed and have been mended."""
    key: str = ""
    """Fingerprint of tool and arguments, by which loop control knows a call again."""
    mark: str = ""
    """Fingerprint of the result, once there is one."""
    again: bool = True
    """False for a read whose answer depends on the moment: it is never answered from earlier in the run."""
    status: Status = Status.PROPOSED
    result: ToolResult | None = None
    approval: Approval | None = None

    @property
    def open(self) -> bool:
        """Whether something is still to come of it."""
        return self.status not in FINAL


class Usage(Frozen):
    """What a run has used of its budget."""

    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Active time of earlier stretches; time spent waiting for a person does not count."""


class Outbound(Frozen):
    """A message owed to Slack. `id` travels in its metadata, so that a successor can find out whether it was posted."""

    id: str
    epoch: int
    """Claim under which the intent was committed; under a later one the post is looked up first."""
    ts: str = ""


class Run(Frozen):
    """One request being answered, for the person who asked."""

    id: str
    requested_by: Actor
    locale: str = "en"
    timezone: str = "UTC"
    guest: bool = False
    """The person is a guest, who may ask but never approve."""
    groups: tuple[str, ...] | None = None
    """Slack user groups of the person, limited to those a policy names; None when Slack could not be asked."""
    request_ts: str = ""
    """`ts` of the newest message it answers."""
    started_at: float
    active_since: float
    usage: Usage = Usage()
    calls: tuple[Call, ...] = ()
    """Calls of the latest model answer."""
    refused: tuple[str, ...] = ()
    """Fingerprints of calls a person denied in this run: not asked for again."""
    opened: tuple[str, ...] = ()
    """Groups of tools the model opened in this run, when not all tools are offered at once."""
    history: tuple[Past, ...] = ()
    """The latest calls of earlier rounds, oldest first."""
    cooling: tuple[Cooling, ...] = ()
    fresh_from: int = 0
    """Results of rounds before this one were read before a pause in which the world may have moved on: they are not given again."""
    answer: str | None = None
    """The text to reply with, once there is one."""
    answer_kind: Literal["answer", "summary", "failure", "stopped", "reminder"] = "answer"
    outbox: tuple[Outbound, ...] = ()
    parts_posted: int = 0
    dirty: bool = True
    """Something was added that the model has not been asked about yet."""
    model_failures: int = 0
    first_failure_at: float = 0.0
    retry_at: float = 0.0
    stopped_by: Actor | None = None
    wished: bool = False
    """What the request says about memory itself ("remember that…") was seen to."""
    noted: tuple[str, ...] = ()
    """What came of that, in codes: `kept`, `forgotten`, `unclear`, `paused`, `down`, or `refused:` and why."""
    kept: tuple[str, ...] = ()
    """Ids of the memories that were kept then."""
    recalled: tuple[str, ...] = ()
    """Ids of the memories that the answer had at hand."""
    memory_missing: bool = False
    """Long-term memory did not answer, or not in time."""
    recovered: bool = False
    """It was taken over from another worker at least once, so stray copies of its messages may exist."""


class Inbound(Frozen):
    """A message waiting for its turn."""

    item: UserMessage
    request: bool
    """Whether it wants an answer (else it is context)."""
    locale: str = "en"
    timezone: str = "UTC"
    guest: bool = False
    groups: tuple[str, ...] | None = None
    not_before: float = 0.0
    """Give the person until then to go on writing (a bare mention)."""


class Notice(Frozen):
    """A line for one person's eyes only, sent at most once."""

    id: str
    actor: Actor
    text: str


class Sent(Frozen):
    """A message of a finished run and where it went."""

    id: str
    ts: str


class Mark(Frozen):
    """Where the thread's memory stands. What is remembered is in a document of its own (`memory.session_memory`), read only when it is needed."""

    covered: int = 0
    """Transcript items before this one are summarised; 0 means that there is no such document."""
    made: int = 0
    """How often something was summarised so far."""
    weight: int = 0
    """UTF-8 bytes of the items since then."""
    look_at: int = 0
    """Weight at which somebody has to look whether the newest part has grown too long; 0: the usual."""
    indexed: int = 0
    """Items before this one can be found by search."""
    learned: int = 0
    """Items before this one were read for what people told about themselves."""
    learn_at: float = 0.0
    """When to try that again, in seconds since the epoch."""
    learn_tries: int = 0
    """How often it failed since it last went on."""


class Redaction(Frozen):
    """What somebody wanted forgotten, and is to be taken out of everything that is kept of this thread."""

    key: str
    actor: Actor
    ts: tuple[str, ...] = ()
    """The messages it was said in."""
    phrases: tuple[str, ...] = ()
    """The words it was remembered by; what tells the same is taken out too."""
    runs: tuple[str, ...] = ()
    """The runs that had it at hand: their answers may tell it in other words."""


class Session(Frozen):
    """Everything a worker must know to take a thread's next step."""

    v: int = SCHEMA_VERSION
    thread: Thread
    room: RoomKind = RoomKind.CHANNEL
    log_length: int = 0
    """Items of the transcript so far, those let go included: the position of the next one."""
    log_start: int = 0
    """Position of the first item that is still kept."""
    born: int = 0
    """Epoch of the claim that began this session, which tells it from an earlier one of the same thread that expired."""
    memory: Mark = Mark()
    run: Run | None = None
    """The run being worked on."""
    waiting: tuple[Run, ...] = ()
    """Runs in which only a person's decision is missing."""
    inbox: tuple[Inbound, ...] = ()
    notices: tuple[Notice, ...] = ()
    sent: tuple[Sent, ...] = ()
    """The latest messages of finished runs, newest last."""
    answered: tuple[str, ...] = ()
    """Ids of the latest finished runs, newest last."""
    processing: bool = False
    """Slack was told that we are at work here, and has to be told when that ends."""
    bot_turns: int = 0
    """Requests by other bots answered since a person last wrote here."""
    aside: bool = False
    """People are talking to each other: the newest message of the thread was not meant for us."""
    history_from: str = ""
    """`ts` of the message whose earlier thread still has to be read from Slack once; empty when nothing is missing."""
    pending: tuple[Item, ...] = ()
    """Transcript items that the next commit appends; never part of the stored document."""
    redactions: tuple[Redaction, ...] = ()
    """What is to be taken out of what is kept here, as soon as no request is being answered."""
    erase: bool = False
    """The next commit lets go of everything before `log_start` and of the thread's memory; never part of the stored document."""


def _to_second_form(document: dict[str, Any]) -> dict[str, Any]:
    for run in [document.get("run") or {}, *document.get("waiting", ())]:
        for call in run.get("calls", ()):
            call["begun"] = call.get("status") == Status.STARTED.value
            if "duration_ms" in (result := call.get("result") or {}):
                result["duration"] = result.pop("duration_ms") / 1000
    return document


def _to_third_form(document: dict[str, Any]) -> dict[str, Any]:
    # How long the transcript is was never weighed: an item is taken for a thousand bytes, and the first look weighs it truly.
    document["memory"] = {"weight": 1_000 * int(document.get("log_length", 0))}
    return document


def _to_fourth_form(document: dict[str, Any]) -> dict[str, Any]:
    # People are remembered for what they say from now on: what stands in older threads was said to a bot that did not learn.
    document["memory"] = {**document.get("memory", {}), "learned": int(document.get("log_length", 0))}
    return document


UPGRADES: Final[dict[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {1: _to_second_form, 2: _to_third_form, 3: _to_fourth_form}
"""Version n -> function that turns a version-n document into version n + 1."""


def dump(session: Session) -> bytes:
    """The stored form. Raises `StateTooLarge`."""
    data = session.model_dump_json(exclude={"pending", "erase"}, exclude_defaults=True).encode()
    stamped = b'{"v":%d' % session.v + (b"," if len(data) > 2 else b"") + data[1:]
    if len(stamped) > MAX_STATE_BYTES:
        raise StateTooLarge(f"session document of {len(stamped)} bytes exceeds {MAX_STATE_BYTES}")
    return stamped


def load(data: bytes) -> Session:
    """Read a stored document, upgrading older versions step by step.

    Raises `StateError` for a version this program does not know, or a document that does not fit its version.
    """
    raw = json.loads(data)
    version = raw.get("v") if isinstance(raw, dict) else None
    if not isinstance(version, int) or version > SCHEMA_VERSION or version < 1:
        raise StateError(f"saved state has version {version!r}; this program knows 1 to {SCHEMA_VERSION}")
    for step in range(version, SCHEMA_VERSION):
        raw = UPGRADES[step](raw)
    raw["v"] = SCHEMA_VERSION
    try:
        return Session.model_validate(raw)
    except ValidationError as error:
        raise StateError(f"saved state of version {version} does not fit: {error.error_count()} errors") from error
