"""Whatever is put together of what people say, what is read of it is theirs: quoted exactly, without secrets, the same each time."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from evals.extraction import cases
from memory.longterm.candidate import Said
from memory.longterm.halves import halves
from memory.longterm.memory import LONGEST
from memory.longterm.mixed import unmixed
from memory.longterm.own_words import own_words
from memory.longterm.rules import MOST, read
from memory.longterm.secrets_found import masked, secret
from memory.longterm.values_of import NORMAL
from memory.longterm.wishes import wish

SAID = sorted({case.text for case in cases()})
JOINS = [". ", ", ", " and ", " but ", "。", "，", "，但是", "\n", " ", "; ", "? ", "“", "”", "> ", "remember that ", "记住", "not ", "不是", "now ", "现在"]
MESSAGES = st.lists(st.one_of(st.sampled_from(SAID), st.sampled_from(JOINS)), min_size=1, max_size=6).map("".join)


@settings(max_examples=250, deadline=None)
@given(text=MESSAGES, earlier=st.sampled_from(SAID))
def test_each_candidate_quotes_the_persons_own_words_and_holds_no_secret(text: str, earlier: str) -> None:
    found = read(Said(text=text, ts="1.0", at=1_764_547_200.0, earlier=earlier))
    own = own_words(text).replace("’", "'")
    assert len(found.candidates) <= MOST
    for each in found.candidates:
        assert each.quote
        assert each.quote in own
        assert each.key
        assert 1 < len(each.text) <= LONGEST
        assert not any(secret(part) for part in (each.text, each.value, each.key, each.condition))


@settings(max_examples=150, deadline=None)
@given(text=MESSAGES)
def test_the_same_message_gives_the_same_candidates(text: str) -> None:
    said = Said(text=text, ts="1.0", at=1_764_547_200.0)
    assert read(said) == read(said)
    assert wish(text) == wish(text)


@settings(max_examples=150, deadline=None)
@given(text=MESSAGES)
def test_what_stands_in_quotation_marks_is_nobodys_statement(text: str) -> None:
    bare = re.sub(r"[“”\"\n`>?？!！.。;；:：…]", " ", text).strip()
    quoted = Said(text=f"he wrote: “{bare} and more words than a name has” yesterday", ts="1.0", at=1_764_547_200.0)
    assert not [each for each in read(quoted).candidates if not each.explicit and bare and bare in each.text]


@settings(max_examples=200, deadline=None)
@given(text=MESSAGES)
def test_what_is_masked_shows_no_secret(text: str) -> None:
    assert not secret(masked(text))


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=120))
def test_no_text_breaks_the_reading(text: str) -> None:
    assert len(read(Said(text=text, ts="1.0", at=1.0, earlier=text)).candidates) <= MOST
    assert halves(text)
    assert isinstance(unmixed(text), tuple)
    assert all(isinstance(normal(text), str) for normal in NORMAL.values())
