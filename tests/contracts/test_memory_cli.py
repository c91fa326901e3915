"""`steward memory history` and `undo`, on the real embedded store, as an operator uses them while the bot is stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.memory_cli import history_command, undo_command
from bot.settings import Settings, load_settings
from memory.keys import Actor, Thread
from memory.longterm.access import Reader
from memory.longterm.memories import Memories
from memory.longterm.opening import open_store
from memory.longterm.store import WORDS_ONLY

ANA = Actor(team_id="T1", user_id="U0ANA")
READER = Reader(actor=ANA, thread=Thread(team_id="T1", channel_id="D1"), room_type="im")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({"STEWARD_HOME": str(tmp_path), "STEWARD_EMBEDDER": "none"})


def told(settings: Settings, *texts: str) -> None:
    """The person types these into their memory, one after the other, while a bot runs."""

    async def add() -> None:
        store = open_store(settings.home, None, model=WORDS_ONLY, size=0)
        await store.start()
        memories = Memories(store)
        for text in texts:
            await memories.add(READER, text, language="en")
        await store.close()

    asyncio.run(add())


def live(settings: Settings) -> list[str]:
    async def read() -> list[str]:
        store = open_store(settings.home, None, model=WORDS_ONLY, size=0)
        await store.start()
        page = await Memories(store).listed(ANA)
        await store.close()
        return [memory.text for memory in page.memories]

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [("my favourite colour is blue", "my favourite colour is green", "blue"), ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色", "蓝")],
)
def test_an_operator_sees_what_changed_without_the_words_and_takes_it_back(settings: Settings, before: str, after: str, word: str) -> None:
    told(settings, before, after)
    assert live(settings) == [after]
    lines: list[str] = []
    assert history_command(settings, "U0ANA", limit=10, write=lines.append) == 0
    assert sorted(line.split()[4] for line in lines) == ["added", "added", "superseded"]
    assert not any(word in line for line in lines)
    added = next(line.split()[2] for line in lines if "added" in line)
    lines.clear()
    assert undo_command(settings, "T1:U0ANA", added, write=lines.append) == 0
    assert lines == ["Taken back."]
    assert live(settings) == [before]
    lines.clear()
    assert history_command(settings, "U0ANA", limit=1, write=lines.append) == 0
    assert "by operator" in lines[0], "nobody else is said to have done it"


def test_what_is_not_there_and_whoever_has_nothing_is_told(settings: Settings) -> None:
    told(settings, "I live in Lyon")
    lines: list[str] = []
    assert history_command(settings, "U0BOB", limit=10, write=lines.append) == 1
    assert history_command(settings, "T2:U0ANA", limit=10, write=lines.append) == 1
    assert lines == ["Nothing is noted of U0BOB.", "Nothing is noted of T2:U0ANA."]
    assert undo_command(settings, "U0ANA", "ffffffff", write=lines.append) == 1
    assert undo_command(settings, "U0ANA", "", write=lines.append) == 1, "an id that fits every change is none"
    assert live(settings) == ["I live in Lyon"]


def test_while_the_bot_runs_it_says_so_in_one_line(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> int:
        store = open_store(settings.home, None, model=WORDS_ONLY, size=0)
        await store.start()
        try:
            return await asyncio.to_thread(history_command, settings, "U0ANA", limit=1)
        finally:
            await store.close()

    assert asyncio.run(run()) == 2
    assert "QDRANT_URL" in capsys.readouterr().err
