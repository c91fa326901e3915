"""`STEWARD_CONFIG`: the TOML file in which an operator says who may approve what, and which tools may be used where, by whom and with what.

    [approvals]
    policy = "requester"             # also "not_requester", "two_people", { users = ["U…"] }, { usergroup = "S…" }
    expiry = 86400                   # seconds a card waits; STEWARD_APPROVAL_TTL when absent
    always_allow = true              # may people allow a kind of call of their own for some time?
    always_allow_max = 2592000       # for how many seconds at most

    [approvals.tools.cancel_order]
    policy = { usergroup = "S0123ABCD" }
    always_allow = false

    [tools]
    deny = ["delete_*"]              # never offered and never run, whatever anybody approves

    [channels.C0123ABCD]
    tools = ["calculate", "group:orders", "get_*"]   # what may be used there; absent: everything

    [usergroups.S0123ABCD]           # and likewise [people.U0123ABCD]; somebody in several may use what any of them allows
    tools = ["*"]
    [people.default]                 # everybody who is in none of them
    tools = ["get_*"]

    [[arguments]]                    # refused before anybody is asked
    tool = "post_message"
    argument = "channel"             # a dotted path; of a list, every element
    deny = "(?i)^#?announcements$"   # or `allow = …`: what every value must match; or `check = "module:function"`
    reason = "Announcements are posted by people."

An unknown key is refused with its path named, because a misspelt policy would otherwise mean "anyone who asks".
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from bot.mcp_config import McpSection, ServerName
from bot.state import Policy

NamedPolicy = Literal["requester", "two_people", "not_requester"]

Seconds = Annotated[int, Field(ge=1, le=30 * 86_400)]

ToolPattern = Annotated[str, Field(pattern=r"^(group:)?[A-Za-z0-9_.*-]{1,128}$")]
"""A tool's name, or `group:` and a group's; `*` stands for any characters."""


class PolicyFileError(Exception):
    """The file is missing, unreadable or says something it cannot mean. One line, with the key's path."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Users(_Strict):
    """Only these people may decide."""

    users: tuple[Annotated[str, Field(pattern=r"^[UW][A-Z0-9]+$")], ...] = Field(min_length=1)


class UserGroup(_Strict):
    """Only members of this Slack user group may decide."""

    usergroup: Annotated[str, Field(pattern=r"^S[A-Z0-9]+$")]


PolicySetting = NamedPolicy | Users | UserGroup


class ToolApproval(_Strict):
    """What holds for one tool; what is absent falls back to `[approvals]`."""

    policy: PolicySetting | None = None
    expiry: Seconds | None = None
    always_allow: bool | None = None


class Approvals(_Strict):
    """Who may decide, for how long a card waits, and whether people may allow calls of their own for some time."""

    policy: PolicySetting = "requester"
    expiry: Seconds | None = None
    always_allow: bool = True
    always_allow_max: Seconds = 30 * 86_400
    tools: dict[str, ToolApproval] = Field(default_factory=dict)

    def policy_for(self, tool: str, *, default_expiry: float) -> Policy:
        """The policy for a write through `tool`; its cards wait `default_expiry` seconds where the file is silent."""
        own = self.tools.get(tool, ToolApproval())
        said = self.policy if own.policy is None else own.policy
        expires_after = float(own.expiry or self.expiry or default_expiry)
        always = self.always_allow if own.always_allow is None else own.always_allow
        match said:
            case Users():
                return Policy(rule="users", users=said.users, expires_after=expires_after)
            case UserGroup():
                return Policy(rule="usergroup", usergroup=said.usergroup, expires_after=expires_after)
            case _:
                # Only where people decide on their own requests can one of them decide for the next ones too.
                always_for = float(self.always_allow_max) if always and said == "requester" else 0.0
                return Policy(rule=said, expires_after=expires_after, always_for=always_for)

    def usergroups(self) -> frozenset[str]:
        """Every Slack user group some policy names: the only memberships worth asking Slack for."""
        policies = [self.policy, *(tool.policy for tool in self.tools.values())]
        return frozenset(policy.usergroup for policy in policies if isinstance(policy, UserGroup))


class Tools(_Strict):
    """What nobody may use."""

    deny: tuple[ToolPattern, ...] = ()


class Channel(_Strict):
    """What holds in one channel."""

    tools: tuple[ToolPattern, ...] | None = None
    """The only tools that may be used there; None: all."""


class Allowed(_Strict):
    """What one person, or the members of one user group, may use; an empty list is nothing."""

    tools: tuple[ToolPattern, ...]


class ArgumentPolicy(_Strict):
    """A rule about what a tool is called with. Exactly one of `deny`, `allow` and `check` says what it is."""

    tool: ToolPattern
    argument: Annotated[str, Field(pattern=r"^[^.\s]+(\.[^.\s]+)*$")] = ""
    """Where the values are: names of fields, joined by dots; a list on the way stands for each of its elements."""
    deny: str | None = None
    """A regular expression that no value may contain a match of."""
    allow: str | None = None
    """A regular expression that every value must contain a match of; a value that is not given counts as an empty text."""
    check: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = None
    """`module:function`, called with (tool name, arguments, actor, thread): a sentence refuses the call, None lets it pass."""
    reason: Annotated[str, Field(max_length=500)] = ""
    """What the model and the person are told."""

    @model_validator(mode="after")
    def _one_rule(self) -> ArgumentPolicy:
        said = [name for name in ("deny", "allow", "check") if getattr(self, name) is not None]
        if len(said) != 1:
            raise ValueError("give exactly one of deny, allow and check")
        if (self.check is None) != bool(self.argument):
            raise ValueError("a check sees all arguments, so leave argument out" if self.check else "say which argument it is about")
        return self

    @field_validator("deny", "allow")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                regex.compile(value)
            except regex.error as error:
                raise ValueError(f"not a regular expression ({error})") from error
        return value


class PolicyFile(_Strict):
    """The whole file. An absent file is an empty one."""

    approvals: Approvals = Field(default_factory=Approvals)
    tools: Tools = Field(default_factory=Tools)
    channels: dict[Annotated[str, Field(pattern=r"^[CDG][A-Z0-9]+$")], Channel] = Field(default_factory=dict)
    people: dict[Annotated[str, Field(pattern=r"^([UW][A-Z0-9]+|default)$")], Allowed] = Field(default_factory=dict)
    usergroups: dict[Annotated[str, Field(pattern=r"^S[A-Z0-9]+$")], Allowed] = Field(default_factory=dict)
    arguments: tuple[ArgumentPolicy, ...] = ()
    mcp: dict[ServerName, McpSection] = Field(default_factory=dict)


def read_policy_file(path: Path) -> PolicyFile:
    """Read and check the file at `path`. Raises `PolicyFileError`."""
    try:
        with path.open("rb") as file:
            return PolicyFile.model_validate(tomllib.load(file))
    except OSError as error:
        raise PolicyFileError(f"{path} cannot be read ({error.strerror}): mend the path, or unset STEWARD_CONFIG.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyFileError(f"{path} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise PolicyFileError(f"{path}: {_first_complaint(error)}") from error


def _first_complaint(error: ValidationError) -> str:
    # A policy may be a word or one of two tables, and pydantic reports for each what it lacks to be that one. Only a complaint
    # about a value, deepest in the file, says what its author meant; without one the policy as a whole is at fault.
    shape = {"extra_forbidden", "literal_error", "missing", "model_type"}
    complaints = [(tuple(str(part) for part in item["loc"] if not _made_up(part)), item) for item in error.errors(include_url=False, include_input=False)]
    path, item = max(complaints, key=lambda complaint: (complaint[1]["type"] not in shape, len(complaint[0])))
    key = ".".join(path)
    if "policy" in path and item["type"] in shape:
        key = ".".join(path[: path.index("policy") + 1])
        return f'“{key}” must be "requester", "not_requester", "two_people", {{ users = ["U…"] }} or {{ usergroup = "S…" }}.'
    if item["type"] == "extra_forbidden":
        return f"unknown key “{key}”."
    return f"“{key}”: {item['msg'].removeprefix('Value error, ')}."


def _made_up(part: str | int) -> bool:
    return isinstance(part, str) and (part in {"Users", "UserGroup", "[key]"} or part.startswith("literal["))
