"""Messages edited or deleted long after they were said: in a thread that has grown past them they hold as their authors left them."""

from __future__ import annotations

import pytest

from memory.mailbox import Mailbox
from memory.session_memory import SessionMemory
from memory.transcript import AssistantMessage, Correction, Item, UserMessage
from tests.fakes.long_thread import ANA, LongThread, text_of

WORDS = "and then some more words that nobody will need again, as people write them. " * 12


def said(number: int, text: str) -> UserMessage:
    return UserMessage(actor=ANA, name="Ana", ts=f"{1_700_000_000 + number}.000100", text=text)


def rounds(first: int, number: int) -> list[Item]:
    return [each for n in range(first, first + number) for each in (said(n, f"Note {n} {WORDS}"), AssistantMessage(run_id=f"r{n}", text="Noted."))]


# The word that is asked for stands behind so many others that no summary line holds it: only recall can bring it.
DOOR = said(0, f"{WORDS} The marmalade cupboard in Reykjavik opens with the word {{}}.")


async def grown(mailbox: Mailbox) -> LongThread:
    thread = LongThread(mailbox)
    await thread.add(said(0, DOOR.text.format("heliotrope")), AssistantMessage(run_id="r0", text="Noted."))
    await thread.add(*rounds(1, 30))
    assert "heliotrope" in text_of(await thread.turn("which word opens the marmalade cupboard in Reykjavik?"))
    return thread


@pytest.mark.parametrize(("more", "restarted"), [(0, False), (30, False), (30, True)], ids=["verbatim", "summarised", "summarised and restarted"])
@pytest.mark.parametrize("text", [None, DOOR.text.format("vermilion")], ids=["deleted", "edited"])
async def test_a_message_corrected_after_it_was_summarised_is_never_recalled_as_it_was(
    mailbox: Mailbox, more: int, text: str | None, *, restarted: bool
) -> None:
    thread = await grown(mailbox)
    before = (await thread.memory()).covered
    await thread.add(Correction(ts=DOOR.ts, text=text))
    await thread.add(*rounds(100, more))
    memory = await thread.memory()
    assert (DOOR.ts in memory.corrected) == (memory.covered > before) == bool(more)
    if restarted:
        thread.forget_process()
    context = text_of(await thread.turn("which word opens the marmalade cupboard in Reykjavik?"))
    assert "heliotrope" not in context
    assert ("vermilion" in context) == (text is not None)


@pytest.mark.parametrize("more", [0, 30], ids=["verbatim", "summarised"])
async def test_a_fact_leaves_with_the_message_that_stated_it(mailbox: Mailbox, more: int) -> None:
    thread = LongThread(mailbox)
    stated = said(0, "The deadline is 2027-03-04.")
    await thread.add(stated, AssistantMessage(run_id="r0", text="Noted."))
    await thread.add(*rounds(1, 30))
    assert "deadline: 2027-03-04" in text_of(await thread.turn("go on"))
    await thread.add(Correction(ts=stated.ts, text=None))
    await thread.add(*rounds(100, more))
    assert "deadline: 2027-03-04" not in text_of(await thread.turn("go on"))


async def pinned(mailbox: Mailbox, first: str, *after: str) -> tuple[LongThread, UserMessage]:
    """A thread whose last rounds are old: `first` opens one of them, and so much was said among people since that it is carried whole from before."""
    thread = LongThread(mailbox)
    stated = said(0, first)
    await thread.add(stated, AssistantMessage(run_id="r0", text="Noted."))
    await thread.add(*(said(n, f"Note {n} {WORDS}").model_copy(update={"addressed": False}) for n in range(1, 25)))
    await thread.add(*(said(100 + n, text).model_copy(update={"addressed": False}) for n, text in enumerate(after)))
    await thread.add(*(said(200 + n, f"Note {n} {WORDS}").model_copy(update={"addressed": False}) for n in range(40)))
    memory = await thread.memory()
    assert 0 in memory.pins
    assert memory.covered > 26
    return thread, stated


def facts(memory: SessionMemory) -> list[tuple[str, str, str]]:
    return [(fact.key, fact.value, fact.before) for fact in memory.facts]


async def test_what_a_message_states_that_is_carried_whole_is_known_and_is_not_said_after_what_followed(mailbox: Mailbox) -> None:
    thread, _ = await pinned(mailbox, "The deadline is Friday. The budget is 5,000 USD.", "The deadline is Thursday now.")
    wanted = [("deadline", "Thursday", "Friday"), ("budget", "5,000 USD", "")]
    assert facts(await thread.memory()) == wanted
    assert "deadline: Thursday" in text_of(await thread.turn("go on"))
    await thread.add(*rounds(300, 30))
    memory = await thread.memory()
    assert 0 not in memory.pins
    assert facts(memory) == wanted


async def test_what_a_message_stated_that_is_carried_whole_stays_taken_back(mailbox: Mailbox) -> None:
    thread, _ = await pinned(mailbox, "The budget is 5,000 USD.", "Forget the budget.")
    assert facts(await thread.memory()) == []
    assert "budget: 5,000" not in text_of(await thread.turn("go on"))
    await thread.add(*rounds(300, 30))
    assert facts(await thread.memory()) == []


@pytest.mark.parametrize(("text", "left"), [(None, []), ("The deadline is Monday.", [("deadline", "Monday", "")])], ids=["deleted", "edited"])
async def test_a_correction_of_a_message_that_is_carried_whole_holds_for_its_facts(
    mailbox: Mailbox, text: str | None, left: list[tuple[str, str, str]]
) -> None:
    thread, stated = await pinned(mailbox, "The deadline is Friday.")
    await thread.add(Correction(ts=stated.ts, text=text))
    assert "deadline: Friday" not in text_of(await thread.turn("go on"))
    await thread.add(*rounds(300, 30))
    assert facts(await thread.memory()) == left


async def test_a_value_that_was_deleted_and_corrected_is_not_known_any_more(mailbox: Mailbox) -> None:
    thread = LongThread(mailbox)
    first, second = said(0, "The deadline is 2027-03-04."), said(1, "No, the deadline is 2027-05-06.")
    await thread.add(first, second, AssistantMessage(run_id="r0", text="Noted."))
    await thread.add(*rounds(2, 30))
    assert facts(await thread.memory()) == [("deadline", "2027-05-06", "2027-03-04")]
    await thread.add(Correction(ts=first.ts, text=None))
    shown = text_of(await thread.turn("go on"))
    assert "deadline: 2027-05-06 (Ana, 2023-11-14)" in shown
    assert "corrected from" not in shown
    await thread.add(Correction(ts=second.ts, text=None))
    assert "deadline: 2027" not in text_of(await thread.turn("go on"))
