"""What every maker of vectors shares: texts made plain, asked for in small batches, each computed once, and every answer looked at.

A vector is remembered by the hash of its text and by what the text is, a question or a passage, for models see the two differently. What
an engine answers is believed only when it has the promised shape and direction; it comes out with unit length, as a fresh array.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memory.transcript import storable

Floats = npt.NDArray[np.float32]

BATCH: Final = 4
"""Texts given to an engine of this process at once: about a second of work, after which somebody else's question may come in between."""
MAX_TEXT: Final = 1_000
"""Characters of a text that are read: about the 512 tokens a small model takes at once. What a longer one is about stands at its beginning."""
KEPT: Final = 4_096
"""Vectors remembered by their text, 1.5 KB each at 384 numbers."""
NOTHING: Final = "…"
"""Stands for a text in which nothing is left: some engines refuse an empty one."""


class NoVectorsError(Exception):
    """The engine cannot make vectors now; go on without. Its text is one line, with the remedy where there is one."""


class Batched(ABC):
    """An `Embedder` but for the computing itself, which is `_make`."""

    name: str
    size: int
    """How many numbers a vector has; 0 until the first answer of an engine that does not tell it before."""

    def __init__(self, *, batch: int = BATCH, longest: int = MAX_TEXT, kept: int = KEPT) -> None:
        """`batch` texts are computed at once, `longest` characters of each are read, `kept` vectors are remembered."""
        self._batch = batch
        self._longest = longest
        self._kept = kept
        self._cache: OrderedDict[bytes, Floats] = OrderedDict()

    @abstractmethod
    async def _make(self, texts: list[str], *, is_query: bool) -> Any:
        """The vectors of at most a batch of texts, in their order and of any length, as rows. Raises `NoVectorsError`; never blocks the event loop."""

    async def passages(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts that are searched: shape (len(texts), size), unit length. Raises `NoVectorsError`."""
        return await self._vectors(texts, is_query=False)

    async def query(self, text: str) -> Floats:
        """The vector of a question: shape (size,), unit length. Raises `NoVectorsError`."""
        vector: Floats = (await self._vectors([text], is_query=True))[0]
        return vector

    async def queries(self, texts: Sequence[str]) -> Floats:
        """The vectors of questions: shape (len(texts), size), unit length. Raises `NoVectorsError`."""
        return await self._vectors(texts, is_query=True)

    async def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        plain = [self._plain(text) for text in texts]
        keys = [hashlib.blake2b(text.encode(), digest_size=16, person=b"query" if is_query else b"passage").digest() for text in plain]
        found = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: text for key, text in zip(keys, plain, strict=True) if key not in found}
        order = list(missing)
        for start in range(0, len(order), self._batch):
            batch = order[start : start + self._batch]
            made = self._looked_at(await self._make([missing[key] for key in batch], is_query=is_query), len(batch))
            found |= zip(batch, made, strict=True)
            self._cache |= zip(batch, made, strict=True)  # kept even if somebody's request interrupts what this is for
        for key in keys:
            self._cache[key] = found[key]
            self._cache.move_to_end(key)
        while len(self._cache) > self._kept:
            self._cache.popitem(last=False)
        return np.stack([found[key] for key in keys]) if keys else np.empty((0, self.size), np.float32)

    def _plain(self, text: str) -> str:
        return " ".join(str(storable(text[: self._longest])).split()) or NOTHING

    def _looked_at(self, answer: Any, wanted: int) -> list[Floats]:
        try:
            made = np.asarray(answer, np.float32)
        except (TypeError, ValueError) as error:  # rows of different lengths, or no numbers at all
            raise NoVectorsError(f"{self.name} gave an answer that is not made of vectors") from error
        if made.ndim != 2 or len(made) != wanted or made.shape[1] != (self.size or made.shape[1]) or not made.shape[1]:
            raise NoVectorsError(f"{self.name} gave an answer of the wrong shape")
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise NoVectorsError(f"{self.name} gave a vector without a direction")
        self.size = made.shape[1]
        return list(made / lengths)
