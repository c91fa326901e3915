"""The `[mcp.<name>]` sections of `STEWARD_CONFIG`: which MCP servers there are, and which of their tools may do what.

    [mcp.github]
    command = ["github-mcp", "--stdio"]          # or: url = "https://…"
    env = { GITHUB_TOKEN = "$GITHUB_TOKEN" }     # $NAME and ${NAME} are taken from the environment of the program
    headers = { Authorization = "Bearer $TOKEN" }
    timeout = 20
    prefix = "github"
    group = "github"
    description = "Issues and pull requests of our repositories"

    [mcp.github.tools]                           # what is not listed is a write
    search_issues = "read"
    create_issue = { effect = "write", keyed = false, timeout = 30, title = "Create issue" }
    delete_repo = "off"

A section is checked when the file is read; what it names in the environment is looked up when the servers are made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tools.mcp.config import PREFIX, McpServer, McpTool, clashes

_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)|(\$))")
_HEADER: Final = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"
_ENVIRONMENT: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
_SHORTEST_SECRET: Final = 6

ServerName = Annotated[str, Field(pattern=PREFIX)]
Patience = Annotated[float, Field(gt=0, le=600)]
OneLine = Annotated[str, Field(max_length=300, pattern=r"^[^\r\n]*$")]


class McpConfigError(Exception):
    """The sections cannot be used. One line, with the key's path."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class McpToolSection(_Strict):
    """What holds for one tool of a server."""

    effect: Literal["read", "write", "off"] = "write"
    keyed: bool = False
    timeout: Patience | None = None
    title: Annotated[str, Field(max_length=60, pattern=r"^[^\r\n]*$")] = ""
    cache_ttl: Annotated[float, Field(ge=0, le=7 * 86_400)] = 0.0

    @model_validator(mode="after")
    def _goes_together(self) -> McpToolSection:
        if self.keyed and self.effect != "write":
            raise ValueError("keyed only means something for a write")
        if self.cache_ttl and self.effect != "read":
            raise ValueError("cache_ttl only means something for a read")
        return self


def _spelt_out(value: object) -> object:
    """A tool may be listed by its effect alone."""
    return {"effect": value} if isinstance(value, str) else value


class McpSection(_Strict):
    """One server."""

    command: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    url: str | None = None
    env: dict[Annotated[str, Field(pattern=_ENVIRONMENT)], str] = Field(default_factory=dict)
    headers: dict[Annotated[str, Field(pattern=_HEADER)], str] = Field(default_factory=dict)
    timeout: Patience = 30.0
    prefix: ServerName | None = None
    group: Annotated[str, Field(pattern=PREFIX)] | None = None
    description: OneLine = ""
    tools: dict[Annotated[str, Field(min_length=1, max_length=200)], Annotated[McpToolSection, BeforeValidator(_spelt_out)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_way(self) -> McpSection:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url" if self.command is None else "give command or url, not both")
        if self.command is not None and self.headers:
            raise ValueError("headers are sent over HTTP; a command is given env")
        if self.url is not None and self.env:
            raise ValueError("env is for a command; a server at a url is given headers")
        if self.command is not None and not self.command[0].strip():
            raise ValueError("command must begin with a program")
        if self.url is not None and not _VARIABLE.search(self.url):
            _check_url(self.url)
        return self


def servers_from(sections: Mapping[str, McpSection], environment: Mapping[str, str]) -> dict[str, McpServer]:
    """The servers, with every `$NAME` filled in from `environment`. Raises `McpConfigError`."""
    servers = {name: _server(name, section, environment) for name, section in sections.items()}
    if pair := clashes(servers.values()):
        one, other = (f"“mcp.{server.name}”" for server in pair)
        raise McpConfigError(f"the tools of {one} and {other} could get equal names: give one of them another prefix, which does not begin with the other's.")
    return servers


def _server(name: str, section: McpSection, environment: Mapping[str, str]) -> McpServer:
    filled = _Filled(f"mcp.{name}", environment)
    url = filled(section.url or "", "url")
    if url:
        try:
            _check_url(url)
        except ValueError as error:
            raise McpConfigError(f"“mcp.{name}.url”: {error}.") from error
    return McpServer(
        name=name,
        command=tuple(filled(part, "command") for part in section.command or ()),
        url=url,
        env={key: filled(value, f"env.{key}") for key, value in section.env.items()},
        headers={key: filled.header(value, f"headers.{key}") for key, value in section.headers.items()},
        timeout=section.timeout,
        prefix=section.prefix or name,
        group=section.group or name,
        description=section.description,
        tools={
            tool: McpTool(effect=said.effect, keyed=said.keyed, timeout=said.timeout, title=said.title, cache_ttl=said.cache_ttl)
            for tool, said in section.tools.items()
        },
        secrets=tuple(sorted(filled.secrets)),
    )


class _Filled:
    """Fills in variables, and remembers what must never be shown."""

    def __init__(self, path: str, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self.secrets: set[str] = set()

    def __call__(self, text: str, key: str) -> str:
        """`text` with `$NAME`, `${NAME}` and `$$` replaced. Raises `McpConfigError` for a name the environment does not have."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if name is None:
                return "$"
            if name not in self._environment:
                raise McpConfigError(f"“{self._path}.{key}” names ${name}, which is not set in the environment.")
            found = self._environment[name]
            if len(found) >= _SHORTEST_SECRET:
                self.secrets.add(found)
            return found

        filled = _VARIABLE.sub(value, text)
        if "\x00" in filled:
            raise McpConfigError(f"“{self._path}.{key}” holds a NUL character.")
        return filled

    def header(self, text: str, key: str) -> str:
        """The same for a header's value, which is a secret as a whole: few headers are set for another reason."""
        filled = self(text, key)
        if any(char in "\r\n" for char in filled) or not filled.isascii():
            raise McpConfigError(f"“{self._path}.{key}” holds a line break or a character that is not ASCII.")
        self.secrets.update(part for part in filled.split() if len(part) >= _SHORTEST_SECRET and part.casefold() != "bearer")
        return filled


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError("the url cannot be read") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("the url must begin with https:// (or http://) and name a host")
    if parts.username or parts.password:
        raise ValueError("put credentials into headers, not into the url")
