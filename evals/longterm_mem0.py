"""mem0 on the same memories and questions, where it is installed: its own store and search, the texts as they are, vectors from the same model.

Nothing is asked of a language model (`infer=False`), and nothing leaves the machine: its telemetry is off and its files are in a folder of their own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evals.longterm_data import Case
from memory.embedder import Embedder

DEEPEST = 20
"""Results asked for."""


def installed() -> bool:
    """Whether it can be compared with."""
    return find_spec("mem0") is not None


class Vectors:
    """An embedder as mem0 wants it: called from a thread, answered by ours on the event loop."""

    def __init__(self, embedder: Embedder, loop: asyncio.AbstractEventLoop) -> None:
        self._embedder, self._loop = embedder, loop

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text's vector."""
        work = self._embedder.query(text) if memory_action == "search" else self._first(text)
        vector: list[float] = asyncio.run_coroutine_threadsafe(work, self._loop).result().tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        """Several texts' vectors."""
        return [self.embed(text, memory_action) for text in texts]

    async def _first(self, text: str) -> Any:
        return (await self._embedder.passages([text]))[0]


class Mem0:
    """One case in a store of its own."""

    def __init__(self, case: Case, embedder: Embedder, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        """Blocks; call it in a thread."""
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
        logging.getLogger("mem0").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module="qdrant_client")
        from mem0 import Memory  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy, and reads the environment when it is imported

        self._user = case.name
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / case.name), "embedding_model_dims": embedder.size, "collection_name": "memories", "on_disk": True},
                },
                "llm": {"provider": "openai", "config": {"api_key": "none"}},  # made, never called
                "embedder": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": str(folder / f"{case.name}.db"),
            }
        )
        self._memory.embedding_model = Vectors(embedder, loop)
        self._memory.vector_store._bm25_encoder = False  # noqa: SLF001 - what it sets itself when its word model cannot be downloaded, after a minute
        for memory, text in zip(case.memories, case.plain, strict=True):
            self._memory.add(text, user_id=self._user, metadata={"ours": memory.id}, infer=False)

    def found(self, text: str) -> list[str]:
        """Ids, the best first. Blocks."""
        results = self._memory.search(text, filters={"user_id": self._user}, top_k=DEEPEST)["results"]
        return [result["metadata"]["ours"] for result in results]

    def close(self) -> None:
        """Let its files go."""
        self._memory.vector_store.client.close()
        self._memory.close()
