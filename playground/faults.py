"""Ordered failures: the next calls of a method answer with an error, a status, late, or not at all.

`status` answers with an HTTP status, `ratelimit` with 429 and Retry-After, `error` with `{"ok": false}`, `drop` closes the line before the call is
processed, `drop_after` after it was, and `delay` processes it late. The first `after` such calls are let through.
"""

from __future__ import annotations

from dataclasses import dataclass

from playground.people import Json

KINDS = ("status", "ratelimit", "error", "drop", "drop_after", "delay")


@dataclass(slots=True)
class Fault:
    """One order: `times` calls of `method` (`*` = any) fail as `kind` says, the next ones after those let through."""

    method: str
    kind: str
    times: int = 1
    status: int = 500
    retry_after: int = 1
    error: str = "internal_error"
    seconds: float = 0.0
    after: int = 0
    """Calls to let through first."""


class Faults:
    """The orders not used up yet, first given first used."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []

    def add(self, body: Json) -> None:
        """Take an order. Raises `ValueError` for an unknown kind or a missing method."""
        kind, method = body.get("kind"), body.get("method")
        if kind not in KINDS:
            raise ValueError(f"unknown kind: {kind}")
        if not isinstance(method, str) or not method:
            raise ValueError("method is missing")
        self._orders.append(
            Fault(
                method,
                kind,
                int(body.get("times", 1)),
                int(body.get("status", 500)),
                int(body.get("retry_after", 1)),
                str(body.get("error", "internal_error")),
                float(body.get("seconds", 0)),
                int(body.get("after", 0)),
            )
        )

    def clear(self) -> None:
        """Drop every order."""
        self._orders.clear()

    def take(self, method: str) -> Fault | None:
        """The fault this call meets, if any; counts it."""
        if not self._orders:
            return None
        for order in self._orders:
            if order.method in ("*", method):
                if order.after > 0:
                    order.after -= 1
                    continue
                order.times -= 1
                if order.times <= 0:
                    self._orders.remove(order)
                return order
        return None
