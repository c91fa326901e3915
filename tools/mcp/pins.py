"""What the tools of foreign servers looked like when they were first offered: a small JSON file in the data folder.

A server may show one description to the operator who tries it and another one later, or start to describe a harmless tool so that
the model misuses it. So every definition is pinned at first use, and one that differs is refused until an operator confirms it.
The file is only ever replaced as a whole, under a lock, so that a running bot and a command may both use it.
"""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tools.mcp.definition import Definition
from tools.mcp.words import one_line, spoken

FILE: Final = "mcp-pins.json"
_MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_LINE: Final = 300


class PinsError(Exception):
    """The file cannot be read or written. Nothing is offered then: a pin that cannot be looked up cannot be held against. One line."""


class Pin(BaseModel):
    """One confirmed definition."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    description: str
    """As sent."""
    input_schema: dict[str, Any] = Field(alias="schema")
    """As sent."""

    def definition(self, name: str) -> Definition:
        """The definition that was confirmed."""
        return Definition(name, self.description, self.input_schema)


class _File(BaseModel):
    version: int = Field(default=1, ge=1, le=1)
    servers: dict[str, dict[str, Pin]] = Field(default_factory=dict)


Confirmed = Mapping[str, Pin]
"""The pins of one server by the tools' own names."""


class Pins:
    """The pins of all servers. Without a folder they live as long as the object."""

    def __init__(self, home: Path | None) -> None:
        """Keep them in `home`, which must exist by the time something is pinned."""
        self._path = home / FILE if home is not None else None
        self._memory = _File()
        self._seen: tuple[int, int, int] | None = None

    def of(self, server: str) -> Confirmed:
        """What is confirmed for `server`. Raises `PinsError`."""
        return self._read().servers.get(server, {})

    def mark(self) -> tuple[int, int, int] | None:
        """Changes whenever the file does; cheap to look at."""
        try:
            found = self._path.stat() if self._path is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)

    def add(self, server: str, definitions: Iterable[Definition]) -> Confirmed:
        """Pin those that have no pin yet; all pins of `server` afterwards. Raises `PinsError`."""
        return self._change(server, definitions, replace=False)

    def confirm(self, server: str, definitions: Iterable[Definition]) -> Confirmed:
        """Pin these as they are now, whatever was pinned before. Raises `PinsError`."""
        return self._change(server, definitions, replace=True)

    def _change(self, server: str, definitions: Iterable[Definition], *, replace: bool) -> Confirmed:
        new = {each.name: Pin(sha256=each.fingerprint, description=each.description, schema=dict(each.schema)) for each in definitions}
        with self._locked():
            file = self._read()
            before = file.servers.get(server, {})
            after = {**before, **new} if replace else {**new, **before}
            if after != before:
                self._write(_File(servers={**file.servers, server: after}))
            return after

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if self._path is None:
            yield
            return
        try:
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PinsError(f"{self._path} cannot be locked ({error.strerror}): mend the rights of the data folder.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # held for milliseconds, whoever holds it
            yield
        finally:
            os.close(lock)

    def _read(self) -> _File:
        if self._path is None:
            return self._memory
        mark = self.mark()  # before reading: what replaces the file meanwhile is read the next time
        if mark is not None and mark == self._seen:
            return self._memory
        try:
            with self._path.open("rb") as file:
                self._memory = _File.model_validate_json(file.read(_MAX_BYTES))
            self._seen = mark
            return self._memory
        except FileNotFoundError:
            return _File()
        except OSError as error:
            raise PinsError(f"{self._path} cannot be read ({error.strerror}): mend its rights.") from error
        except ValidationError as error:
            raise PinsError(f"{self._path} is damaged: restore it, or remove it to have every tool pinned again as it is now.") from error

    def _write(self, content: _File) -> None:
        if self._path is None:
            self._memory = content
            return
        try:
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{FILE}-")  # readable by its owner only
            try:
                with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor, not a path
                    file.write(content.model_dump_json(by_alias=True, indent=1))
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(self._path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise PinsError(f"{self._path} cannot be written ({error.strerror}): mend the rights of the data folder.") from error


def difference(pin: Pin, now: Definition) -> list[str]:
    """What changed between a pin and what the server says now: `- before` and `+ after` lines, each safe to print.

    A change that cannot be seen, such as a character of no width, is told in words.
    """
    before, after = _lines(pin.definition(now.name)), _lines(now)
    changed = [line for line in difflib.unified_diff(before, after, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]
    return changed or ["the difference is in characters that do not show"]


def _lines(definition: Definition) -> list[str]:
    schema = json.dumps(definition.schema, indent=1, sort_keys=True, ensure_ascii=False)
    words = spoken(definition.description, 20_000).splitlines()
    return [one_line(line, _MAX_LINE) for line in words] + [_indented(line) for line in schema.splitlines()]


def _indented(line: str) -> str:
    bare = line.lstrip(" ")
    return " " * (len(line) - len(bare)) + one_line(bare, _MAX_LINE)
