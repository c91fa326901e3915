"""The search index over a thread's own older messages: built block by block as messages leave the context, read as a whole when needed.

A block holds what search needs of a few messages and not their texts: hashes of their terms, a small vector of their meaning, who spoke and
when. Blocks are bytes with a checksum, so they can be kept in any store; one that is damaged or of another version is skipped and its
messages are simply not found. A message is indexed together with the one it answers, because an answer seldom repeats its question.
Searching adds up two legs, the rare words in common (BM25, with the rarity of words in this thread) and the likeness of meaning; either
works alone where the other is missing, and neither outvotes what is exact: an identifier, or a word that hardly any message holds. The
figures behind the numbers here are printed by `python -m evals.locomo`.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from memory.ranking import Floats, products, relevant, smoothed, spread, top, with_neighbours
from memory.terms import hashed, identifiers, is_pair, parts, telling, terms, whole_identifiers

BLOCK: Final = 128
"""Positions of the transcript in one block: block number = position // BLOCK."""
VERSION: Final = 2

Kind = Literal["user", "assistant", "tool"]
Why = Literal["identifier", "date", "speaker", "words", "meaning"]
# Parameters of the ranking, chosen on five conversations of months (2,760 messages, 760 questions). Shares are of the messages a question
# needs that are at hand in a context of a quarter of the thread, most of it filled by search.
OWN_WEIGHT: Final = 2
"""A message's own words count this often; those of the message before it once."""
MOST_TERMS: Final = 400
"""Different terms kept of one message; a long one is found by its beginning, and by each of as many identifiers."""
K1: Final = 1.2
B: Final = 0.75
"""The usual two of BM25."""
WORDS_PART: Final = 0.5
"""Words against meaning: 0.4 to 0.6 are alike; words alone find 6 % less among the first 80."""
SPEAKER_BONUS: Final = 0.3
"""For a message of somebody the question names; without it 3.5 % less is found among the first 80."""
DATE_BONUS: Final = 0.3
"""For a message of a day the question names."""
IDENTIFIER_BONUS: Final = 3.0
"""More than everything else together can be."""
RARE: Final = 3
"""So many messages may themselves hold a word for it to single them out: whoever says it, an answer that takes it up, and once more."""
SHARE_OF_ONE: Final = 0.25
SHARE_OF_FEW: Final = 0.33
"""The part of a question's telling words a message so singled out must hold, if by a word of its alone, or of a few. Any word of a long question
is somewhere in a long thread: without this 36 % of the questions about another conversation find nothing, with it 61 %."""
PAIR_PART: Final = 0.5
"""What a pair of characters counts among the telling words: pairs overlap, and half of them are no words."""
CANDIDATES: Final = 300
"""Messages each leg brings in; neither ever shuts out what the other found."""
_OWN: Final = 0x80
"""In the count of a term: the message itself holds it, not only the one before."""
_COUNT: Final = 0x7F

_HEAD: Final = struct.Struct("<4sBBHHHII")
_MAGIC: Final = b"STIX"
_KINDS: Final[tuple[Kind, ...]] = ("user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Entry:
    """One older message as it is to be found."""

    position: int
    """Its absolute item number in the transcript."""
    text: str
    speaker: str
    """How the model sees the speaker."""
    ts: str
    """Seconds since the epoch, as Slack writes them; empty when not known."""
    kind: Kind
    context: str = ""
    """The message before it, whose words find this one too."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for."""

    words: Mapping[str, float] = field(default_factory=dict)
    """Search terms (of `memory.terms`) and their weights."""
    identifiers: frozenset[str] = frozenset()
    """What it names exactly, with the parts of it (`memory.terms.identifiers`): a message that holds one comes first."""
    speakers: frozenset[str] = frozenset()
    """Speakers it names, as they are written in the entries."""
    spans: tuple[tuple[float, float], ...] = ()
    """Times it names: from, to (excluded), in seconds since the epoch."""
    vector: Floats | None = None
    """Its meaning, of unit length."""
    embedder: str = ""
    """Who made the vector; vectors of another make are not compared with it."""
    stands_out: float = 0.0
    """How far the closest messages must stand out from the rest for anything to be relevant, on this make's scale; 0: not known."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that was found."""

    position: int
    score: float
    """Higher is better; comparable within one search only."""
    why: tuple[Why, ...]


def encode(entries: Sequence[Entry], vectors: Floats | None, embedder: str = "") -> bytes:
    """One block of at most 65,535 entries in the order of their positions.

    `vectors`: shape (len(entries), size), float32; a row of zeros is a message without one. `embedder`: the name of what made them.
    """
    hashes: list[int] = []
    counts: list[int] = []
    named: list[int] = []
    lengths: list[int] = []
    names: list[int] = []
    for entry in entries:
        found: Counter[int] = Counter()
        own_terms = [hashed(term) for term in terms(entry.text)]
        for key in own_terms:
            found[key] += OWN_WEIGHT
        flags = dict.fromkeys(own_terms, _OWN)
        for term in terms(entry.context):
            found[hashed(term)] += 1
        kept = found.most_common(MOST_TERMS) if len(found) > MOST_TERMS else found.items()
        hashes += (key for key, _ in kept)
        counts += (min(count, _COUNT) | flags.get(key, 0) for key, count in kept)
        lengths.append(len(kept))
        exact = _exact(entry.text)
        named += exact
        names.append(len(exact))
    size = 0 if vectors is None else int(vectors.shape[1])
    parts = [
        np.array([entry.position for entry in entries], "<u4"),
        np.array([_seconds(entry.ts) for entry in entries], "<u4"),
        np.array([speaker_hash(entry.speaker) for entry in entries], "<u4"),
        np.array([_KINDS.index(entry.kind) for entry in entries], "u1"),
        np.array(lengths, "<u2"),
        np.array(names, "<u2"),
        np.array(hashes, "<u4"),
        np.array(counts, "u1"),
        np.array(named, "<u4"),
    ]
    if vectors is not None:
        largest = np.abs(vectors).max(axis=1, initial=0.0).astype("<f4")
        steps = np.divide(127.0, largest, out=np.zeros_like(largest), where=largest > 0)
        parts += [largest / np.float32(127), np.rint(vectors * steps[:, None]).astype("i1")]
    payload = b"".join(part.tobytes() for part in parts)
    return _HEAD.pack(_MAGIC, VERSION, 0, len(entries), size, 0, zlib.crc32(embedder.encode()), zlib.crc32(payload)) + payload


def _exact(text: str) -> list[int]:
    """Its identifiers as the index keeps them: those written as a whole before parts of them, should there be too many."""
    whole = {hashed(each) for each in whole_identifiers(text)}
    rest = {hashed(each) for each in identifiers(text)} - whole
    return [*sorted(whole), *sorted(rest)][:MOST_TERMS]


class ThreadIndex:
    """The joined blocks of one thread, ready to search. Read only; make a new one when a block was written."""

    def __init__(self, blocks: Sequence[_Block], skipped: int) -> None:
        self.skipped = skipped
        """Blocks that could not be read."""
        self.positions = _joined([block.positions for block in blocks], np.dtype("<u4")).astype(np.int64)
        self._times = _joined([block.times for block in blocks], np.dtype("<u4")).astype(np.float64)
        self._speakers = _joined([block.speakers for block in blocks], np.dtype("<u4"))
        self._kinds = _joined([block.kinds for block in blocks], np.dtype("u1"))
        lengths = _joined([block.lengths for block in blocks], np.dtype("<u2"))
        names = _joined([block.names for block in blocks], np.dtype("<u2"))
        rows = np.arange(len(self.positions), dtype=np.int32)
        self._hashes = _joined([block.hashes for block in blocks], np.dtype("<u4"))
        self._low = self._hashes.astype(np.uint16)
        self._counts = _joined([block.counts for block in blocks], np.dtype("u1"))
        self._rows = np.repeat(rows, lengths)
        self._named = _joined([block.named for block in blocks], np.dtype("<u4"))
        self._named_rows = np.repeat(rows, names)
        total = np.zeros(len(rows), np.float32)
        if len(self._rows):
            ends = np.cumsum(lengths, dtype=np.int64)
            sums = np.concatenate([[0], np.cumsum(self._counts & _COUNT, dtype=np.int64)])
            total = (sums[ends] - sums[ends - lengths]).astype(np.float32)
        average = float(total.mean()) if len(total) else 1.0
        self._norms = (K1 * (1 - B + B * total / max(average, 1.0))).astype(np.float32)
        self._vectors = _vectors(blocks)

    @classmethod
    def of(cls, blocks: Mapping[int, bytes]) -> ThreadIndex:
        """Join blocks by their numbers; those that are damaged or of another version are left out and counted in `skipped`."""
        read = [_read(blocks[number]) for number in sorted(blocks)]
        sound = [block for block in read if block is not None]
        return cls(sound, len(read) - len(sound))

    def __len__(self) -> int:
        return len(self.positions)

    def search(self, question: Question, *, limit: int, exclude_from: int | None = None) -> list[Hit]:
        """The messages that fit best, best first, at most `limit`; empty when nothing here has to do with the question.

        `exclude_from`: messages at this position or later are not wanted (they are in the context word by word).
        """
        end = len(self) if exclude_from is None else int(np.searchsorted(self.positions, exclude_from))
        if end == 0 or limit < 1:
            return []
        words, coverage, rare = self._words(question, end)
        words = with_neighbours(words[:end])
        alike = self._alike(question)
        exact = self._exactness(question.identifiers, end)
        named = exact > 0
        dated = self._within(question.spans)[:end]
        candidates = named | dated | rare[:end]
        spoke = np.isin(self._speakers[:end], [speaker_hash(each) for each in question.speakers]) if question.speakers else np.zeros(end, bool)
        meaning = None if alike is None else smoothed(alike)[:end]
        if named.any() or dated.any() or relevant(coverage[:end], None if alike is None else alike[:end], question.stands_out):
            candidates[top(words, CANDIDATES, above=0.0)] = True
            if meaning is not None:
                candidates[top(meaning, CANDIDATES, above=-1.0)] = True
        rows = np.flatnonzero(candidates)
        if not len(rows):
            return []
        score = word_score = spread(words[rows])
        if meaning is not None and not np.isnan(meaning[rows]).all():
            known = ~np.isnan(meaning[rows])
            like = spread(np.where(known, meaning[rows], np.nanmin(meaning[rows])))
            score = np.where(known, WORDS_PART * word_score + (1 - WORDS_PART) * like, word_score)
        score = score + SPEAKER_BONUS * spoke[rows] + DATE_BONUS * dated[rows] + IDENTIFIER_BONUS * (named[rows] + exact[rows])
        order = np.lexsort((-rows, -score))[:limit]
        best = rows[order]
        close = np.zeros(len(best), bool) if meaning is None else ~np.isnan(meaning[best])
        reasons: list[tuple[Why, npt.NDArray[np.bool_]]] = [
            ("identifier", named[best]),
            ("date", dated[best]),
            ("speaker", spoke[best]),
            ("words", words[best] > 0),
            ("meaning", close),
        ]
        flags = np.stack([flag for _, flag in reasons], axis=1).tolist()
        return [
            Hit(position, value, tuple(why for (why, _), holds in zip(reasons, held, strict=True) if holds))
            for position, value, held in zip(self.positions[best].tolist(), score[order].tolist(), flags, strict=True)
        ]

    def holding(self, identifier: str) -> list[int]:
        """Positions of the messages that hold an identifier as a whole, or every term of it, newest first."""
        wanted = {hashed(term) for term in terms(identifier)}
        if not wanted:
            return []
        found = np.isin(self._hashes, list(wanted))
        rows = np.bincount(self._rows[found], minlength=len(self)) == len(wanted)
        rows |= self._holding(frozenset(whole_identifiers(identifier)))
        return [int(self.positions[row]) for row in np.flatnonzero(rows)[::-1]]

    def kind(self, position: int) -> Kind | None:
        """What kind of message stands at a position; None when none is indexed there."""
        row = int(np.searchsorted(self.positions, position))
        return _KINDS[int(self._kinds[row])] if row < len(self) and self.positions[row] == position else None

    def newest(self, kind: Kind, count: int, exclude_from: int | None = None) -> list[int]:
        """Positions of the newest messages of a kind, newest first, before `exclude_from`."""
        end = len(self) if exclude_from is None else int(np.searchsorted(self.positions, exclude_from))
        rows = np.flatnonzero(self._kinds[:end] == _KINDS.index(kind))
        return [int(self.positions[row]) for row in rows[::-1][:count]]

    def _words(self, question: Question, end: int) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        """Of every message: its BM25; which part of the question's words it holds, by their rarity (0 to 1); whether a word of it is rare before `end`."""
        score, rare = np.zeros(len(self), np.float32), np.zeros(len(self), bool)
        weights = {hashed(term): weight for term, weight in question.words.items()}
        if not weights or not len(self._rows):
            return score, score, rare
        keys = np.array(sorted(weights), np.uint32)
        # Half of each hash is looked up in a table first: one pass over the terms however many words are asked for.
        table = np.zeros(65_536, bool)
        table[keys.astype(np.uint16)] = True
        near = np.flatnonzero(table.take(self._low))
        at = np.minimum(np.searchsorted(keys, self._hashes[near]), len(keys) - 1)
        exact = keys[at] == self._hashes[near]
        near, at = near[exact], at[exact]
        held = np.bincount(at, minlength=len(keys))
        rarity = _rarity(held, len(self)) * np.array([weights[int(key)] for key in keys])
        flagged, rows = self._counts[near], self._rows[near]
        counts = (flagged & _COUNT).astype(np.float32)
        each = rarity[at] * counts * (K1 + 1) / (counts + self._norms[rows])
        score = np.bincount(rows, weights=each, minlength=len(self)).astype(np.float32)
        coverage = np.bincount(rows, weights=rarity[at], minlength=len(self)).astype(np.float32) / np.float32(rarity.sum())
        own = (flagged >= _OWN) & (rows < end)
        at, rows = at[own], rows[own]
        said = np.bincount(at, minlength=len(keys))[at]
        tells = _telling(question)
        part = np.array([tells.get(int(key), 0.0) for key in keys])[at]
        share = np.bincount(rows, weights=part, minlength=len(self))[rows]
        rare[rows[(part > 0) & ((said == 1) & (share >= SHARE_OF_ONE) | (said <= RARE) & (share >= SHARE_OF_FEW))]] = True
        return score, coverage, rare

    def _exactness(self, wanted: frozenset[str], end: int) -> Floats:
        """Of every message before `end`: how much of the identifiers that stand here it holds, by their rarity: 1 the most, 0 none.

        What is asked for as a whole is not also looked for in its parts when the whole is here; when it is not, only by parts that few messages hold.
        """
        total = np.zeros(end, np.float32)
        if not wanted or not len(self._named):
            return total
        keys = np.array(sorted({hashed(each) for each in wanted}), np.uint32)
        at = np.minimum(np.searchsorted(keys, self._named), len(keys) - 1)
        holds = (keys[at] == self._named) & (self._named_rows < end)
        at, rows = at[holds], self._named_rows[holds]
        held = np.bincount(at, minlength=len(keys))
        most_held = np.full(len(keys), end)
        for each in wanted:
            most_of_parts = 0 if held[np.searchsorted(keys, hashed(each))] else RARE
            of_parts = np.isin(keys, [hashed(part) for part in parts(each)])
            most_held[of_parts] = np.minimum(most_held[of_parts], most_of_parts)
        weights = np.where(held <= most_held, _rarity(held, end), 0.0)
        total += np.bincount(rows, weights=weights[at], minlength=end).astype(np.float32)
        most = float(total.max())
        return total / np.float32(most) if most > 0 else total

    def _alike(self, question: Question) -> Floats | None:
        """How like each message's meaning is; NaN where it is not known."""
        if question.vector is None:
            return None
        matrix, scales = self._vectors.get(zlib.crc32(question.embedder.encode()), (None, None))
        if matrix is None or scales is None or matrix.shape[1] != len(question.vector):
            return None
        result: Floats = np.where(scales > 0, products(matrix, question.vector.astype(np.float32)) * scales, np.float32(np.nan))
        return result

    def _holding(self, wanted: frozenset[str]) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self), bool)
        if wanted and len(self._named):
            found[self._named_rows[np.isin(self._named, [hashed(each) for each in wanted])]] = True
        return found

    def _within(self, spans: Sequence[tuple[float, float]]) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(self), bool)
        for start, end in spans:
            found |= (self._times >= start) & (self._times < end)
        return found


@dataclass(frozen=True, slots=True)
class _Block:
    """One block as it lies in its bytes."""

    positions: npt.NDArray[np.uint32]
    times: npt.NDArray[np.uint32]
    speakers: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.uint16]
    names: npt.NDArray[np.uint16]
    hashes: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]
    named: npt.NDArray[np.uint32]
    embedder: int
    scales: npt.NDArray[np.float32] | None
    vectors: npt.NDArray[np.int8] | None


def _read(data: bytes) -> _Block | None:
    """A stored block; None when it is damaged or of another version."""
    if len(data) < _HEAD.size:
        return None
    magic, version, _, length, size, _, embedder, check = _HEAD.unpack_from(data)
    if magic != _MAGIC or version != VERSION or zlib.crc32(memoryview(data)[_HEAD.size :]) != check:
        return None
    at = _HEAD.size

    def take(kind: str, count: int) -> npt.NDArray[Any]:
        nonlocal at
        part = np.frombuffer(data, kind, count, at)
        at += part.nbytes
        return part

    try:
        positions, times, speakers = (take("<u4", length) for _ in range(3))
        kinds, lengths, names = take("u1", length), take("<u2", length), take("<u2", length)
        total = int(lengths.sum(dtype=np.int64))
        hashes, counts, named = take("<u4", total), take("u1", total), take("<u4", int(names.sum(dtype=np.int64)))
        scales, vectors = (take("<f4", length), take("i1", length * size).reshape(length, size)) if size else (None, None)
    except ValueError:  # shorter than it says: written by something else, for the checksum holds
        return None
    return _Block(positions, times, speakers, kinds, lengths, names, hashes, counts, named, embedder, scales, vectors)


def _joined(parts: Sequence[npt.NDArray[Any]], kind: np.dtype[Any]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _vectors(blocks: Sequence[_Block]) -> dict[int, tuple[npt.NDArray[np.int8], Floats]]:
    """By make: a row of small numbers of each message, and what to multiply it by: 0 where it has no vector of that make."""
    total = sum(len(block.positions) for block in blocks)
    found: dict[int, tuple[npt.NDArray[np.int8], Floats]] = {}
    start = 0
    for block in blocks:
        end = start + len(block.positions)
        if block.vectors is not None and block.scales is not None:
            if block.embedder not in found:
                found[block.embedder] = np.zeros((total, block.vectors.shape[1]), np.int8), np.zeros(total, np.float32)
            matrix, scales = found[block.embedder]
            if matrix.shape[1] == block.vectors.shape[1]:
                matrix[start:end] = block.vectors
                scales[start:end] = block.scales
        start = end
    return found


def _rarity(held: npt.NDArray[np.int64], among: int) -> npt.NDArray[np.float64]:
    """How much it tells that a message holds something, by how many of all hold it; always above 0."""
    result: npt.NDArray[np.float64] = np.log(1 + (np.maximum(among - held, 0) + 0.5) / (held + 0.5))
    return result


def _telling(question: Question) -> dict[int, float]:
    """The words of the question itself that tell one message from another, hashed, with the part of all that each is.

    A piece of an identifier is none: not every ABC is ABC-1. Pairs of characters overlap: only half of them can be words.
    """
    pieces = {piece for each in question.identifiers for piece in terms(each)}
    found = [term for term, weight in question.words.items() if weight >= 1 and term not in pieces and telling(term)]
    total = sum(PAIR_PART if is_pair(term) else 1.0 for term in found)
    return {hashed(term): 1.0 / total for term in found}


def speaker_hash(name: str) -> int:
    """A speaker as the index keeps them."""
    return hashed(name.casefold())


def _seconds(ts: str) -> int:
    """Whole seconds of a Slack timestamp, 0 for none."""
    try:
        value = float(ts)
    except ValueError:
        return 0
    return int(value) if 0 <= value < 2**32 else 0
