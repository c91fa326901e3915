"""The list of an installation's jobs."""

from __future__ import annotations

import pytest

from bot.job_list import Needs, standing_jobs
from bot.scheduled import Scheduled
from memory.connect import connect
from memory.handover import Handovers
from memory.mailbox import Mailbox
from memory.slots import Slots


async def test_the_jobs_of_an_installation_have_names_of_their_own_and_say_what_they_do() -> None:
    client = connect("redis://127.0.0.1:1", timeout=0.1)
    jobs = standing_jobs(Needs(Mailbox(client), Handovers(client), 86_400.0, lambda: 0.0))
    assert "idle-sessions" in Scheduled(jobs, Slots(client)).jobs
    assert all(job.about for job in jobs)
    with pytest.raises(ValueError, match="same name"):
        Scheduled([*jobs, *jobs], Slots(client))
    await client.aclose()
