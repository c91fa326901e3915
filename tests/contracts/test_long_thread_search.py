"""What is summarised can be found at once, and the beginning of a request does not change with what is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from memory.connect import connect
from memory.mailbox import Mailbox
from memory.transcript import AssistantMessage, Item, Note, UserMessage
from tests.fakes.long_thread import ANA, LongThread, text_of
from tests.fakes.valkey import Valkey

PADDING = "and other words nobody will need again " * 12


@pytest.fixture
async def thread(valkey: Valkey) -> AsyncIterator[LongThread]:
    valkey.command("FLUSHALL")
    client = connect(valkey.url, timeout=2.0)
    yield LongThread(Mailbox(client))
    await client.aclose()


def talk(number: int, text: str) -> list[Item]:
    return [
        UserMessage(actor=ANA, name="Ana", ts=f"{1_700_000_000 + number}.000100", text=text),
        AssistantMessage(run_id=f"r{number}", text="Noted."),
    ]


async def grown(thread: LongThread, rounds: int = 60) -> None:
    for start in range(0, rounds, 10):
        await thread.add(*(item for n in range(start, start + 10) for item in talk(n, f"parcel P-{n:04d} went to warehouse {n % 7} {PADDING}")))


@pytest.mark.parametrize(
    ("said", "asked"), [("our door code word is marmalade", "what was the door code word?"), ("门禁口令是橘子酱", "门禁口令是什么？")], ids=["en", "zh"]
)
async def test_words_are_found_as_soon_as_their_message_is_summarised(thread: LongThread, said: str, asked: str) -> None:
    thread.deps = replace(thread.deps, budget=replace(thread.deps.budget, searches=False))  # nothing is ever indexed by its meaning
    await thread.add(*talk(0, f"{said} {PADDING}"))
    await grown(thread)
    assert (await thread.memory()).covered > 2

    context = await thread.turn(asked)
    tail = [item.text for item in context.items if isinstance(item, Note)][-1]
    assert said in tail


async def test_the_summary_is_the_same_to_the_letter_whatever_is_asked(thread: LongThread) -> None:
    await grown(thread)
    first, second = await thread.turn("and now?"), await thread.turn("and what about this? " * 60)

    notes = [next(item for item in context.items if isinstance(item, Note)) for context in (first, second)]
    assert notes[0] == notes[1]
    assert "P-0003" in notes[0].text


async def test_system_prompt_and_tools_that_need_more_than_their_share_leave_the_summary_as_it_was_made(thread: LongThread) -> None:
    thread.deps = replace(thread.deps, fixed=lambda _session, _count: 2_400)
    await grown(thread)
    memory = await thread.memory()
    context = text_of(await thread.turn("and now?"))

    assert all(line in context for line in memory.summary.identifiers)
