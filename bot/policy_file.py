"""`STEWARD_CONFIG`: the TOML file in which an operator says who may approve what, and how channels differ.

    [approvals]
    policy = "requester"             # also "not_requester", "two_people", { users = ["U…"] }, { usergroup = "S…" }
    expiry = 86400                   # seconds a card waits; STEWARD_APPROVAL_TTL when absent

    [approvals.tools.cancel_order]
    policy = { usergroup = "S0123ABCD" }

    [channels]
    C0123ABCD = { }                  # read by later features; kept as it stands

An unknown key is refused with its path named, because a misspelt policy would otherwise mean "anyone who asks".
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.state import Policy

NamedPolicy = Literal["requester", "two_people", "not_requester"]

Seconds = Annotated[int, Field(ge=1, le=30 * 86_400)]


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


class Approvals(_Strict):
    """Who may decide, and for how long a card waits."""

    policy: PolicySetting = "requester"
    expiry: Seconds | None = None
    tools: dict[str, ToolApproval] = Field(default_factory=dict)

    def policy_for(self, tool: str, *, default_expiry: float) -> Policy:
        """The policy for a write through `tool`; its cards wait `default_expiry` seconds where the file is silent."""
        own = self.tools.get(tool, ToolApproval())
        said = self.policy if own.policy is None else own.policy
        expires_after = float(own.expiry or self.expiry or default_expiry)
        match said:
            case Users():
                return Policy(rule="users", users=said.users, expires_after=expires_after)
            case UserGroup():
                return Policy(rule="usergroup", usergroup=said.usergroup, expires_after=expires_after)
            case _:
                return Policy(rule=said, expires_after=expires_after)

    def usergroups(self) -> frozenset[str]:
        """Every Slack user group some policy names: the only memberships worth asking Slack for."""
        policies = [self.policy, *(tool.policy for tool in self.tools.values())]
        return frozenset(policy.usergroup for policy in policies if isinstance(policy, UserGroup))


class PolicyFile(_Strict):
    """The whole file. An absent file is an empty one."""

    approvals: Approvals = Field(default_factory=Approvals)
    channels: dict[str, dict[str, Any]] = Field(default_factory=dict)


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
    return f"“{key}”: {item['msg']}."


def _made_up(part: str | int) -> bool:
    return isinstance(part, str) and (part in {"Users", "UserGroup"} or part.startswith("literal["))
