"""Reading a part's files before they are asked for, so that a person's first question does not wait for the disk a thousand times.

The library leaves vectors and records in files and has the system forget what it read of them when a part is opened. One search then reads a page
here and a page there, each on its own; reading the same files from end to end takes a second for a gigabyte. What was read belongs to the system,
which gives it up as soon as anybody needs the memory; and no more is read than half of what is free, or it would only drive out itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Final

from memory.longterm.files import written

PIECE: Final = 1 << 20
"""Bytes read at once."""
SHARE: Final = 0.5
"""Of the memory that is free or easily freed."""


def spare() -> int:
    """Bytes of the machine's memory that may hold what was read ahead; none where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(SHARE * 1024 * int(free.split()[1]))
    except (OSError, StopIteration, ValueError):
        return 0


def read_ahead(folder: Path, most: int) -> int:
    """Read what is in a folder's files, all but the log, `most` bytes at most; how many there were. A folder that goes meanwhile ends it."""
    done = 0
    with suppress(OSError):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "wal"):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                for start, end in written(descriptor):
                    for at in range(start, end, PIECE):
                        if done >= most:
                            return done
                        done += len(os.pread(descriptor, min(PIECE, end - at, most - done), at))
            finally:
                os.close(descriptor)
    return done


class Ahead:
    """Reads the folders of parts one after the other in a thread of its own, which ends with the process."""

    def __init__(self, room: Callable[[], int] = spare) -> None:
        """`room`: bytes that all parts together may have read ahead."""
        self._room = room
        self._folders: SimpleQueue[Path] = SimpleQueue()
        self._read: dict[Path, int] = {}
        self._thread: Thread | None = None

    def add(self, folder: Path) -> None:
        """Have a part's folder, its newest one, read."""
        self._folders.put(folder)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="read-ahead", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            self.read(self._folders.get())

    def read(self, folder: Path) -> int:
        """Read it now, as far as there is room beside the other parts; how many bytes that was."""
        self._read.pop(folder.parent, None)
        done = self._read[folder.parent] = read_ahead(folder, self._room() - sum(self._read.values()))
        return done
