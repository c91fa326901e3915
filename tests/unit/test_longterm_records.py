"""From memories to what the store keeps of them."""

from __future__ import annotations

import json

from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, person
from memory.longterm.indexed import words_of
from memory.longterm.memory import Change, Kind, Memory, Source
from memory.longterm.records import change_of, memory_of, of_change, of_memory
from memory.longterm.sparse import query_words

ANA = Actor(team_id="T1", user_id="U1")
HEARD = "You told me about zanzibarfish"


def answer() -> Memory:
    source = Source(thread=Thread(team_id="T1", channel_id="D1"), ts="1.5", said_by=ANA)
    return Memory(
        id="00000000-0000-4000-8000-000000000001",
        owner=person(ANA),
        kind=Kind.FACT,
        key="home",
        text="I live in Lyon",
        context=HEARD,
        audience=PRIVATE,
        source=source,
        created=1.5,
    )


def test_what_was_said_before_a_memory_is_in_its_terms_and_nowhere_in_writing() -> None:
    record = of_memory(answer(), dense=None, words=words_of(answer()))
    assert set(query_words([("zanzibarfish", 1.0)])) <= set(record.words)
    assert "zanzibarfish" not in json.dumps(dict(record.payload))
    read = memory_of(record)
    assert read is not None
    assert read == answer().model_copy(update={"context": ""})


def test_a_history_keeps_nothing_of_what_was_said_before_either() -> None:
    change = Change(id="c1", owner=person(ANA), at=2.0, done="updated", by="message", memory_id=answer().id, before=answer(), after=answer())
    record = of_change(change)
    assert "zanzibarfish" not in json.dumps(dict(record.payload))
    read = change_of(record)
    assert read is not None
    assert read.after is not None
    assert read.after.text == "I live in Lyon"


def test_what_a_wish_is_about_is_worked_out_when_it_is_written() -> None:
    wish = answer().model_copy(update={"kind": Kind.PREFERENCE, "key": "dislike:rain", "text": "我讨厌下雨天"})
    assert of_memory(wish, dense=None, words={}).payload["topics"] == ["weather"]
    assert memory_of(of_memory(wish, dense=None, words={})) == wish.model_copy(update={"context": ""})
