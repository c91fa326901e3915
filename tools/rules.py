"""Rules over several arguments at once, ready to be named in a tool's declaration: `rules=(before("start", "end"),)`.

A rule looks at arguments that are right each for itself and says what is wrong with them together, in words the model can act on.
Any function that takes the validated arguments and gives `Problem`s is a rule; these know which arguments they are about, so that they
can also be asked when other arguments are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from decimal import Decimal
from typing import Any, Final

from pydantic import BaseModel

from tools.tool import Problem

_ABSENT: Final[tuple[Any, ...]] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class Check:
    """A rule about the arguments called `names`; `judge` gets their values in that order and gives what is wrong."""

    names: tuple[str, ...]
    judge: Callable[..., tuple[Problem, ...]]

    def __call__(self, arguments: Any) -> tuple[Problem, ...]:
        """Judge validated arguments: a model, or the JSON object of a tool that somebody else described."""
        return self.judge(*(value_of(arguments, name) for name in self.names))


def before(first: str, second: str, *, or_equal: bool = False) -> Check:
    """`first` must come before `second`: dates, times, moments (as objects or ISO text) or numbers. Passes when either is missing.

    With `or_equal`, they may also be the same. A date and a moment are compared by the day; a moment without an offset is taken to
    be in the zone of the other.
    """

    def judge(start: Any, end: Any) -> tuple[Problem, ...]:
        if start is None or end is None:
            return ()
        read = {name: _read(value) for name, value in ((first, start), (second, end))}
        if unread := [name for name, value in read.items() if value is None]:
            return tuple(Problem(name, "is not a date or a time that can be compared", "ISO 8601, like 2024-05-20T09:30:00+08:00") for name in unread)
        low, high = _comparable(read[first], read[second])
        if low < high or (or_equal and low == high):
            return ()
        least = " or equal to it" if or_equal else ""
        message = f"{second} must be after {first} ({_written(start)}){least}"
        return (Problem(second, message, f"a value after {_written(start)}{least}, or an earlier {first}"),)

    return Check((first, second), judge)


def at_least_one(*names: str) -> Check:
    """One of `names` must be given, or several."""

    def judge(*values: Any) -> tuple[Problem, ...]:
        if any(value not in _ABSENT for value in values):
            return ()
        return (Problem("", f"none of {_listed(names)} is given, but one is needed", f"a value for {_either(names)}"),)

    return Check(_named(names), judge)


def at_most_one(*names: str) -> Check:
    """Of `names`, one at most may be given."""

    def judge(*values: Any) -> tuple[Problem, ...]:
        given = tuple(name for name, value in zip(names, values, strict=True) if value not in _ABSENT)
        if len(given) <= 1:
            return ()
        return (Problem(given[-1], f"{_listed(given)} exclude each other", f"only one of {_listed(names)}"),)

    return Check(_named(names), judge)


def requires(name: str, *needed: str) -> Check:
    """When `name` is given, so must be everything in `needed`."""

    def judge(value: Any, *others: Any) -> tuple[Problem, ...]:
        if value in _ABSENT or value is False:
            return ()
        missing = [other for other, given in zip(needed, others, strict=True) if given in _ABSENT]
        return tuple(Problem(other, f"is needed because {name} is given", f"a value for {other}, or no {name}") for other in missing)

    return Check(_named((name, *needed)), judge)


def value_of(arguments: Any, name: str) -> Any:
    """The argument called `name` as the model knows it; `None` when it was not given."""
    if isinstance(arguments, Mapping):
        return arguments.get(name)
    if isinstance(arguments, BaseModel):
        fields = type(arguments).model_fields
        known = name if name in fields else next((field for field, info in fields.items() if info.alias == name), name)
        if known not in fields and known not in (arguments.model_extra or {}):
            return None
        return getattr(arguments, known)
    return getattr(arguments, name, None)


def _named(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"A rule needs two or more different arguments, not {names!r}.")
    return names


def _read(value: Any) -> Any:
    """A text as the date, moment or time it says, `None` when it says none; anything else as it is."""
    if not isinstance(value, str):
        return value
    for read in (date.fromisoformat, datetime.fromisoformat, *((time.fromisoformat,) if ":" in value else ())):
        try:
            return read(value)
        except ValueError:
            continue
    return None


def _comparable(one: Any, other: Any) -> tuple[Any, Any]:
    if isinstance(one, (int, float, Decimal)) and isinstance(other, (int, float, Decimal)):
        return one, other
    if isinstance(one, datetime) and isinstance(other, datetime):
        return _in_zone(one, other.tzinfo), _in_zone(other, one.tzinfo)
    if isinstance(one, date) and isinstance(other, date):
        return _day(one), _day(other)
    if isinstance(one, time) and isinstance(other, time):
        zone = one.tzinfo or other.tzinfo
        return one.replace(tzinfo=one.tzinfo or zone), other.replace(tzinfo=other.tzinfo or zone)
    raise TypeError(f"{type(one).__name__} and {type(other).__name__} cannot be compared")


def _in_zone(moment: datetime, zone: tzinfo | None) -> datetime:
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _written(value: Any) -> str:
    return value.isoformat() if isinstance(value, (date, time)) else str(value)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def _either(names: tuple[str, ...]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}"
