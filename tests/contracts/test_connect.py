"""What our connections to Redis do that the library's alone do not."""

from __future__ import annotations

import asyncio

from memory.connect import connect
from tests.fakes.valkey import Valkey

ENOUGH = 2_000
"""Calls after which a task that was cancelled long ago has not heard of it."""


async def test_a_task_that_is_cancelled_in_the_middle_of_a_call_ends_and_leaves_no_answer_behind(valkey: Valkey) -> None:
    client = connect(valkey.url, timeout=2.0)
    valkey.command("SET", "mine", "my own")

    async def working() -> str:
        for _ in range(ENOUGH):
            await client.get("somebody's")
        return "never heard of it"

    ended = 0
    for steps in range(60):
        task = asyncio.create_task(working())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            ended += 1
        assert await client.get("mine") == b"my own"
    await client.aclose()
    assert ended == 60
