"""Small files written so that a crash at any moment leaves the old content or the new one, and folders told to keep what is in them."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Put this text in the file's place, in one step that survives the machine's failure."""
    fresh = path.with_name(path.name + ".new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Bring a folder's entries, or a file, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder with its files, and leave out what is empty in them: a log prepared for 32 MB takes no room before it is used."""
    _copy(source, target)
    with ThreadPoolExecutor(16) as threads:  # side by side the disk does them in a few strokes
        list(threads.map(sync_folder, [target, *target.rglob("*")]))


def _copy(source: Path, target: Path) -> None:
    target.mkdir()
    for path in source.iterdir():
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            _copy_file(path, target / path.name)


def _copy_file(source: Path, target: Path) -> None:
    with source.open("rb") as old, target.open("wb") as new:
        for start, end in written(old.fileno()):
            old.seek(start)
            new.seek(start)
            new.write(old.read(end - start))
        new.truncate(os.fstat(old.fileno()).st_size)


def written(descriptor: int) -> Iterator[tuple[int, int]]:
    """Where the stretches of a file that were ever written begin and end; the rest is emptiness that takes no room."""
    size, at = os.fstat(descriptor).st_size, 0
    while at < size:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return  # nothing but emptiness up to the end
        at = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, at


def lock(path: Path, *, wait: bool = False) -> int | None:
    """Take a file's lock for as long as its descriptor, which is given, stays open; None when another holds it and `wait` is not asked for."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
