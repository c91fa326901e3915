"""The process that holds the embedded store: it reads requests from its standard input, one after the other, and answers on its output.

The library keeps Python's lock for as long as it writes to the disk, up to a second, so it must not live in the process that answers people.
A request is `[number, name, arguments]`, an answer `[number, error, result]`, in JSON, each behind its length in four bytes. When the input
ends, the process ends: what it answered is in the log. `Shards` is a store; `Builder` writes one new revision of a part.
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from memory.longterm.edge_ahead import Ahead
from memory.longterm.edge_rows import Rows, merged
from memory.longterm.edge_shard import CopyPlace, Shard, build, config, create, fill, finish
from memory.longterm.files import lock, sync_folder
from memory.longterm.packed import Narrow, Packed, Raw, from_text, packed, scored_text, to_text

SYNC_AFTER: Final = 1.0
"""Seconds without a request after which the logs are brought to the disk itself."""


Row = Sequence[Any]
"""A `Packed` or `Narrow` that has come through the pipe."""


def as_narrow(row: Row) -> Narrow:
    """A filter that has come through the pipe."""
    return Narrow(*row)


class Shards:
    """All parts of a store; a part comes into being with its first record. The public methods are the requests."""

    def __init__(self, home: str, shards: int, size: int, tuning: Mapping[str, Any]) -> None:
        self._home = Path(home)
        self._count = shards
        self._rescore = tuning["quantization"] != "none"
        self._config = config(size, **tuning)
        self._home.mkdir(parents=True, exist_ok=True)
        self._lock = lock(self._home / "engine.lock", wait=True)  # a process that is about to end may still hold it
        self._blank = self._home / "blank"
        self._open: dict[int, Shard] = {}
        self._rows = Rows()
        self._ahead = Ahead()
        self._ready()

    def _ready(self) -> None:
        """Have the empty shard that every part begins as: making one takes a second, copying it a hundredth."""
        if not self._blank.exists():
            half = self._blank.with_suffix(".new")
            shutil.rmtree(half, ignore_errors=True)
            create(half, self._config).close()
            half.rename(self._blank)
            sync_folder(self._home)

    def _shard(self, number: int) -> Shard:
        if number not in self._open:
            shard = self._open[number] = Shard(self._home / f"{number:02}", self._blank, rescore=self._rescore, rows=self._rows)
            self._ahead.add(shard.folder)
        return self._open[number]

    def _of(self, owner: str) -> Shard:
        return self._shard(self._number(owner))

    def _number(self, owner: str) -> int:
        return int.from_bytes(blake2b(owner.encode(), digest_size=4).digest(), "big") % self._count

    def _numbers(self) -> list[int]:
        return [number for number in range(self._count) if number in self._open or (self._home / f"{number:02}" / "current").exists()]

    def _there(self, owner: str) -> Shard | None:
        """The owner's part, if it has come into being."""
        number = self._number(owner)
        return self._shard(number) if number in self._open or (self._home / f"{number:02}" / "current").exists() else None

    def warm(self, number: int) -> None:
        """Open one part."""
        self._shard(number)

    def put(self, owner: str, records: Sequence[Row], existing: bool) -> None:  # noqa: FBT001 - called through a pipe
        """See `Shard.put`."""
        if (shard := self._there(owner) if existing else self._of(owner)) is not None:
            shard.put([packed(row) for row in records], existing=existing)

    def get(self, owner: str, ids: Sequence[str]) -> list[Packed]:
        """See `Shard.get`."""
        shard = self._there(owner)
        return shard.get(owner, ids) if shard is not None else []

    def search(self, narrows: Sequence[Row], dense: str, terms: Sequence[int], weights: Sequence[float], limit: int) -> Raw:
        """The best by meaning and the best by words of all these owners, each once: what `scored` reads."""
        meant: list[tuple[tuple[int, int], float]] = []
        worded: list[tuple[tuple[int, int], float]] = []
        for narrow in map(as_narrow, narrows):
            if (shard := self._there(narrow.owner)) is not None:
                number, legs = self._number(narrow.owner), shard.legs(narrow, dense, terms, weights, limit)
                meant += [((number, point), score) for point, score in legs.meant]
                worded += [((number, point), score) for point, score in legs.worded]
        found = merged(meant, worded, limit)
        rows = {number: self._shard(number).rows([point for part, point in found if part == number]) for number in {part for part, _ in found}}
        return scored_text([(rows[number][point], *scores) for (number, point), scores in found.items() if point in rows[number]])

    def page(self, narrows: Sequence[Row], limit: int, before: tuple[float, str] | None, vectors: bool) -> list[Packed]:  # noqa: FBT001
        """See `Shard.page`; of each owner."""
        found: list[Packed] = []
        for narrow in map(as_narrow, narrows):
            if (shard := self._there(narrow.owner)) is not None:
                found += shard.page(narrow, limit, before, vectors=vectors)
        return found

    def count(self, narrows: Sequence[Row]) -> int:
        """How many there are, of all owners."""
        return sum(shard.count(narrow) for narrow in map(as_narrow, narrows) if (shard := self._there(narrow.owner)) is not None)

    def delete(self, owner: str, ids: Sequence[str]) -> int:
        """See `Shard.delete`."""
        shard = self._there(owner)
        return shard.delete(owner, ids) if shard is not None else 0

    def delete_owner(self, owner: str, keep: Sequence[str]) -> int:
        """See `Shard.delete_where`."""
        shard = self._there(owner)
        return shard.delete_where("owner", owner, keep) if shard is not None else 0

    def numbers(self) -> Sequence[int]:
        """The parts there are."""
        return self._numbers()

    def delete_team(self, number: int, team: str) -> int:
        """Delete what one part has of a workspace; how many records."""
        return self._shard(number).delete_where("team", team, ())

    def owners(self, number: int, team: str | None) -> Sequence[str]:
        """The owners in one part."""
        return self._shard(number).owners(team)

    def stats(self, number: int, whats: Sequence[str]) -> tuple[dict[str, int], int]:
        """What one part holds: records by `what`, and bytes on disk."""
        home = self._home / f"{number:02}"
        used = sum(path.stat().st_blocks * 512 for path in home.rglob("*") if path.is_file())
        return {what: self._shard(number).count_what(what) for what in whats}, used

    def dirty(self, number: int) -> bool:
        """Whether one part may hold bytes of deleted records."""
        return self._shard(number).has_deleted

    def copy_begin(self, number: int) -> str:
        """See `Shard.copy_begin`."""
        return self._shard(number).copy_begin()

    def copy_read(self, number: int, place: CopyPlace | None, limit: int) -> tuple[str, CopyPlace | None]:
        """Some of a part's records, sealed: they are for the builder, which opens them."""
        records, following = self._shard(number).copy_read(place, limit)
        return to_text(records).decode(), following

    def copy_abort(self, number: int) -> None:
        """See `Shard.copy_abort`."""
        self._shard(number).copy_abort()

    def copy_finish(self, number: int) -> None:
        """See `Shard.copy_finish`."""
        self._shard(number).copy_finish()
        self._ahead.add(self._shard(number).folder)

    def ahead(self) -> bool:
        """Open one more part before anybody needs it, which takes up to a second in a large store; whether there may be more to open."""
        closed = next((number for number in self._numbers() if number not in self._open), None)
        if closed is not None:
            self._shard(closed)
        return closed is not None

    def idle(self) -> None:
        """Nobody asks for anything: make what was written survive the machine's failure too."""
        for shard in self._open.values():
            if shard.unsynced:
                shard.sync()

    def close(self) -> None:
        """Leave every part in good order; the end of the process closes them."""
        for shard in self._open.values():
            shard.settle()


class Builder:
    """Writes one new revision of a part. The public methods are the requests."""

    def __init__(self, home: str, blank: str, size: int, tuning: Mapping[str, Any]) -> None:
        self._shard = build(home, blank, config(size, **tuning))

    def fill(self, sealed: str) -> None:
        """Put in what `copy_read` handed out."""
        fill(self._shard, [packed(row) for row in from_text(sealed)])

    def ahead(self) -> bool:
        """There is nothing to prepare."""
        return False

    def idle(self) -> None:
        """Nothing needs to be kept of what is not finished."""

    def close(self) -> None:
        """Bring it into its final form and close it."""
        finish(self._shard)


def prepared(it: Any) -> bool:
    """See `Shards.ahead`. A part that cannot be opened is not tried again: whoever asks for it learns why."""
    try:
        return bool(it.ahead())
    except BaseException as error:  # noqa: BLE001 - the library's own failures are no `Exception`
        sys.stderr.write(f"memory store: {type(error).__name__}: {error}"[:300] + "\n")
        return False


def answer_text(number: int, error: str, result: Any) -> bytes:
    """An answer as it goes through the pipe."""
    return b'[%d,"",%b]' % (number, result) if isinstance(result, Raw) else to_text((number, error, result))


def serve(kinds: dict[str, Callable[..., Any]]) -> None:
    """Answer until the input ends. The first request names which of `kinds` this process is to be."""
    source, target = sys.stdin.fileno(), sys.stdout.buffer  # unbuffered: `select` sees nothing of what a buffer has already read
    it: Any = None
    waiting = more = False
    while True:
        while more and not select.select([source], [], [], 0)[0]:
            more = prepared(it)
        if waiting and not select.select([source], [], [], SYNC_AFTER)[0]:
            it.idle()
            waiting = False
        size = _read(source, 4)
        if len(size) < 4:
            return
        number, name, arguments = from_text(_read(source, int.from_bytes(size, "big")))
        try:
            if it is None:
                it, result = kinds[name](*arguments), None
                more = True
            else:
                result = getattr(it, name)(*arguments)
            answer = (number, "", result)
        except BaseException as error:  # noqa: BLE001 - the library's own failures are no `Exception`
            answer = (number, f"{type(error).__name__}: {error}"[:300], None)
        waiting = True
        text = answer_text(*answer)
        target.write(len(text).to_bytes(4, "big") + text)
        target.flush()


def _read(source: int, size: int) -> bytes:
    """So many bytes; fewer when the input has ended."""
    parts: list[bytes] = []
    while size and (part := os.read(source, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def widen(pipe: int) -> None:
    """Let a usual answer through a pipe in one piece, where the system can: each further one costs both processes a turn."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the process that started us, which then ends us
    widen(sys.stdout.fileno())
    serve({"shards": Shards, "builder": Builder})
    os._exit(0)  # what was answered is in the log; nothing more is wanted of this process
