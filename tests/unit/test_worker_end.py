"""A worker that is told to stop ends, whatever its helpers are doing at that moment."""

from __future__ import annotations

import asyncio

from bot.heartbeat import end_all


async def test_a_task_that_loses_a_cancellation_is_ended_all_the_same() -> None:
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if lost == 2:
                    raise
                lost += 1  # what `asyncio.wait_for` does before Python 3.12 when its work ends at the same moment

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        await end_all([task])
    assert task.cancelled()
    assert lost == 2


async def test_what_has_ended_already_is_left_alone() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    await task
    await end_all([task])
    assert not task.cancelled()
