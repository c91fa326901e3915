"""A message too long to be shown whole, shown in part: the passage around the words that were asked for, else its beginning and its end.

Search finds a contract of thirty thousand characters by one clause in it. What is shown then is that clause with what stands around it, in as
many tokens as there are, and a word about how much is left out on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from memory.terms import terms
from memory.transcript import AssistantMessage, Item, UserMessage

STEP = 160
"""Characters of the pieces in which the words are looked for."""
_WORD = 24
"""Characters by which they overlap, so that no word is parted in both."""
READ = 200_000
"""Characters of a text that are looked through."""
_LEFT_OUT = "(… {n} characters left out)"


def in_part(item: Item, words: Collection[str], *, most: int, count: Callable[[str], int]) -> Item:
    """`item` with texts that have about `most` tokens together, most of them from around `words` (terms of `memory.terms`); as it is when it is short."""
    match item:
        case UserMessage():
            texts = [item.text, item.quoted]
        case AssistantMessage():
            texts = [item.text, ""]
        case _:
            return item
    if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= most:  # there are no more tokens than bytes
        return item
    sizes = [count(text) if text else 0 for text in texts]
    if sum(sizes) <= most:
        return item
    room = max(most - min(sizes), most // 2)  # the shorter one stays whole as long as it takes no more than half
    texts = [text if size <= room else passage(text, words, most=room, count=count) for text, size in zip(texts, sizes, strict=True)]
    return item.model_copy(update={"text": texts[0]} | ({"quoted": texts[1]} if isinstance(item, UserMessage) else {}))


def passage(text: str, words: Collection[str], *, most: int, count: Callable[[str], int]) -> str:
    """At most `most` tokens of a longer `text`, on one line; empty when not even the word about what is left out has room."""
    flat = " ".join(text.split())
    at = _place(flat[:READ], frozenset(words))
    characters = len(flat) * most // max(count(flat), 1)
    while characters > 0:
        shown = _ends(flat, characters) if at is None else _around(flat, at, characters)
        size = count(shown)
        if size <= most:
            return shown
        characters = min(characters * most // size, characters - 8)
    return ""


def _place(text: str, words: frozenset[str]) -> int | None:
    """Where the rarest of the words stand together; None when none of them does."""
    pieces = [frozenset(terms(text[start : start + STEP + _WORD])) & words for start in range(0, len(text), STEP)] if words else []
    in_pieces = Counter(word for piece in pieces for word in piece)
    if not in_pieces:
        return None
    weights = [sum(1 / in_pieces[word] for word in piece) for piece in pieces]
    # What stands just beside counts too: a clause does not end where a piece does.
    near = [weight and weight + sum(weights[max(at - 1, 0) : at + 2]) for at, weight in enumerate(weights)]
    return near.index(max(near)) * STEP + STEP // 2


def _around(text: str, at: int, characters: int) -> str:
    start = max(min(at - characters // 2, len(text) - characters), 0)
    return _joined(text, _word_start(text, start), _word_end(text, start + characters))


def _ends(text: str, characters: int) -> str:
    first, last = _word_end(text, characters * 2 // 3), _word_start(text, len(text) - characters // 3)
    return f"{text[:first].rstrip()} {_LEFT_OUT.format(n=last - first)} {text[last:].lstrip()}"


def _joined(text: str, start: int, end: int) -> str:
    before = [_LEFT_OUT.format(n=start)] if start else []
    after = [_LEFT_OUT.format(n=len(text) - end)] if end < len(text) else []
    return " ".join([*before, text[start:end].strip(), *after])


def _word_start(text: str, at: int) -> int:
    """`at`, or the next beginning of a word a little further on: half a number would be another number."""
    place = text.find(" ", max(at - 1, 0), at + 40) if at > 0 else -1
    return at if place < 0 else place + 1


def _word_end(text: str, at: int) -> int:
    place = text.rfind(" ", max(at - 40, 0), at + 1) if at < len(text) else -1
    return at if place < 0 else place
