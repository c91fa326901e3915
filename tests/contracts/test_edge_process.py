"""The process that holds the embedded store: what it was asked together it answers at once, in order, and only then looks after its log."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from memory.longterm.edge_link import ROOT
from memory.longterm.packed import from_text, to_text

SPY = """
from memory.longterm.edge_process import serve

class Spy:
    def __init__(self):
        self.calls = []
    def note(self, words):
        self.calls.append(words[:5])
    def ahead(self):
        self.calls.append("ahead")
        return True
    def idle(self):
        self.calls.append("idle")
    def told(self):
        return self.calls

serve({"spy": Spy})
"""


def request(number: int, name: str, *arguments: Any) -> bytes:
    """One request as it goes through the pipe."""
    text = to_text((number, name, arguments))
    return len(text).to_bytes(4, "big") + text


async def answers(requests: bytes) -> list[Any]:
    """What the process says to these, all of them in its pipe before it reads the first."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-P", "-c", SPY, stdin=pipe, stdout=pipe, env={"PYTHONPATH": str(ROOT)})
    given, _ = await process.communicate(requests)
    found = []
    while given:
        size = int.from_bytes(given[:4], "big")
        found.append(from_text(given[4 : 4 + size]))
        given = given[4 + size :]
    return found


async def test_requests_that_came_together_are_answered_without_a_pause_between_them() -> None:
    asked = request(0, "spy") + b"".join(request(n, "note", f"note{n}") for n in range(1, 6)) + request(6, "told")
    found = await answers(asked)
    assert [each[0] for each in found] == list(range(7))
    assert found[-1][2] == [f"note{n}" for n in range(1, 6)]  # no "ahead" or "idle" among them: they come when nobody asks for anything


async def test_a_request_longer_than_the_pipe_is_read_to_its_end_and_half_a_one_ends_the_process() -> None:
    asked = request(0, "spy") + request(1, "note", "long " * 500_000) + request(2, "told") + request(3, "told")[:7]
    found = await answers(asked)
    assert [(each[0], each[1]) for each in found] == [(0, ""), (1, ""), (2, "")]
    assert [each for each in found[2][2] if each != "ahead"] == ["long "]  # the rest of it may have let the process wait
