"""What was read in a person's own message and may become a memory, and the message as its reader sees it. Values only."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memory.longterm.memory import LONGEST, Kind


class Said(BaseModel):
    """One message of one person, to be read."""

    model_config = ConfigDict(frozen=True)

    text: str
    """Their own words, without what they forwarded or quoted."""
    ts: str
    at: float
    """Seconds since the epoch."""
    timezone: str = "UTC"
    language: str = "en"
    """`en` or `zh`."""
    before: str = ""
    """What was said just before (ours or another person's), to understand it with: never a source of facts."""
    earlier: str = ""
    """Their own message before this one in the thread: what "now it is green" changes. Nothing else is read from it."""
    direct: bool = False
    """In a direct conversation, where "we" is no room."""


class Candidate(BaseModel):
    """One thing that may be remembered. The fields mean what they mean in `Memory`."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    key: str
    text: str = Field(max_length=LONGEST)
    value: str = ""
    negated: bool = False
    condition: str = ""
    single: bool = False
    always: bool = False
    sensitive: bool = False
    explicit: bool = False
    """The person asked for it to be remembered."""
    retracts: bool = False
    """It only says that an earlier fact is over ("I no longer…", "不再…"): nothing takes its place."""
    quote: str
    """The words of the message it was read from, exactly."""
    language: str = "en"
    importance: float = 0.5
    valid_from: float | None = None
    valid_until: float | None = None
    expires: float | None = None
    ts: str = ""
    """The message it was read from, where several were read together."""


class Refusal(StrEnum):
    """Why something is not remembered."""

    SECRET = "secret"  # noqa: S105 - a kind of refusal
    """A password, token, key, card or identity number."""
    SENSITIVE = "sensitive"
    """Health, religion, politics, sexuality, union membership…, without being asked to."""
    ANOTHERS = "anothers"
    """About another person's private life."""
    AUTHORITY = "authority"
    """It would allow something: permissions come from a person's click, never from memory."""
    NOT_SAID = "not_said"
    """Not in the person's own words: quoted, pasted, code, the bot's or a tool's."""
    NOT_MEANT = "not_meant"
    """A hypothesis, a joke, a question, an example, a role played."""
    NOTHING = "nothing"
    """Nothing that lasts."""


class Read(BaseModel):
    """What came of reading one message."""

    model_config = ConfigDict(frozen=True)

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[Refusal, ...] = ()
    """What was recognised and not taken."""


class Wish(BaseModel):
    """An explicit request about memory itself."""

    model_config = ConfigDict(frozen=True)

    what: Literal["remember", "forget"]
    content: str
    """What to remember or forget, in the person's words; empty when it points back ("remember this", "记住这个")."""
    back: bool = False
    """It means what was said before."""
    everything: bool = False
    """"Forget everything about me"."""


Step = Literal["add", "reinforce", "update", "supersede", "ask", "ignore"]


class Verdict(BaseModel):
    """What is to be done with a candidate."""

    model_config = ConfigDict(frozen=True)

    step: Step
    target: str = ""
    """Id of the known memory it concerns; empty for `add`, and for `ignore` when it concerns none."""
    reason: str = ""
    """A few words for the history and the trace, without contents."""
    also: tuple[str, ...] = ()
    """For `supersede`: further known memories that end with the target (the same fact as it was said elsewhere)."""
