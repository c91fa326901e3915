"""Telling the log of a fault without telling it what was said: an exception's text, and so its traceback, may hold argument values.

At ERROR stands what an operator needs to find the place: the kind of exception, where it was raised, and a reference. The whole
traceback follows at DEBUG under the same reference, for whoever turns that on.
"""

from __future__ import annotations

import inspect
import secrets
import traceback
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any


def report(log: Any, event: str, error: BaseException, *, function: Callable[..., Any] | None = None, **fields: Any) -> str:
    """Log `error` as `event` and give the reference it stands under. `function`: whose fault it is, to be found in the traceback."""
    reference = secrets.token_hex(4)
    log.error(event, reference=reference, error=type(error).__name__, at=where(error, function), **fields)
    log.debug("fault.traceback", reference=reference, exc_info=error)
    return reference


def where(error: BaseException, function: Callable[..., Any] | None = None) -> str:
    """`folder/file.py:12`: the innermost line of `function`'s own file on the way to the fault, else the line that raised it.

    A fault without a way (a task that cancelled itself) is put where `function` begins; without one of these it is empty.
    """
    own = getattr(inspect.unwrap(function), "__code__", None) if function is not None else None
    frames = list(_frames(error))
    theirs = [each for each in frames if own is not None and each[0] == own.co_filename]
    beginning = [(str(own.co_filename), int(own.co_firstlineno))] if own is not None else []
    place = next(iter(theirs[-1:] or frames[-1:] or beginning), None)
    return f"{'/'.join(PurePath(place[0]).parts[-2:])}:{place[1]}" if place is not None else ""


def _frames(error: BaseException) -> Iterator[tuple[str, int]]:
    """File and line of every step, the innermost last; the steps to the fault that caused this one come after its own."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        for frame, line in traceback.walk_tb(here.__traceback__):
            yield frame.f_code.co_filename, line
        here = here.__cause__ or (None if here.__suppress_context__ else here.__context__)
