"""One way to keep memories, in a process of its own, with the same memories, questions and vectors as the others: what a recall and an addition take.

    python -m evals.bench_longterm_peers edge|local|mem0 COUNT FOLDER

`edge` is Steward's recall on its embedded engine, `local` the same on the in-process mode of `qdrant-client`, `mem0` that library's own search and
`add` without a language model. Vectors are made up in all three, so that only their own work is measured. Prints one line of figures; ends with 3 where
something is not installed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from typing import Any, Final

import structlog

from evals.bench_longterm import TOKENS, milliseconds, resident
from evals.bench_longterm_data import APART, BEGAN, SIZE, Talk, Vectors
from evals.bench_process import Json, rss
from memory.longterm.collection import Tuning
from memory.longterm.edge import EdgeStore
from memory.longterm.memories import Memories
from memory.longterm.memory import Memory
from memory.longterm.question import Question
from memory.longterm.server import ServerStore
from memory.longterm.writing import Step

PEOPLE: Final = 20
ROUNDS: Final = 100
BEST: Final = 8


def kept(count: int) -> list[Memory]:
    """Memories of all people in turns."""
    talk = Talk(1)
    own = [list(talk.memories(number, 0, count // PEOPLE)) for number in range(PEOPLE)]
    return [memory for row in zip(*own, strict=True) for memory in row]


def asked(count: int) -> list[Question]:
    """One question after the other."""
    talk, now = Talk(3), BEGAN + APART * (count // PEOPLE + 10)
    return [talk.question(number * 7 % PEOPLE, now) for number in range(ROUNDS)]


def on_disk(folder: Path) -> int:
    """Bytes that a folder takes."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


async def steward(store: EdgeStore | ServerStore, memories: Sequence[Memory], questions: Sequence[Question]) -> Json:
    """Steward's recall on a store."""
    await store.start()
    it, adding, recalling = Memories(store, Vectors()), [], []
    for memory in memories:
        began = time.perf_counter()
        await it.writer.write([Step("added", None, memory)], "bench")
        adding.append(time.perf_counter() - began)
    for question in questions:
        recalled = await it.recall(question, tokens=TOKENS, count=lambda text: len(text) // 3, limit=60.0)
        recalling.append(recalled.took)
    held = rss() + (resident(store.pid)["own"] if isinstance(store, EdgeStore) else 0)
    await store.close()
    return {"add": milliseconds(adding), "recall": milliseconds(recalling[1:]), "rss": held}


class _Embedding:
    """An embedder as mem0 wants it."""

    def __init__(self) -> None:
        self._vectors = Vectors()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - its signature
        vector: list[float] = self._vectors.made([text])[0].tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:  # noqa: ARG002
        rows: list[list[float]] = self._vectors.made(texts).tolist()
        return rows


def mem0(folder: Path, memories: Sequence[Memory], questions: Sequence[Question]) -> Json:
    """mem0's own search and addition, the texts as they are."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
    logging.getLogger("mem0").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="qdrant_client")
    from mem0 import Memory as Mem0  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy, and reads the environment when it is imported

    store = {"path": str(folder / "vectors"), "embedding_model_dims": SIZE, "collection_name": "memories", "on_disk": True}
    none = {"provider": "openai", "config": {"api_key": "none"}}  # made, never called
    paths = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
    it: Any = Mem0.from_config({**paths, "llm": none, "embedder": none})
    it.embedding_model = _Embedding()
    it.vector_store._bm25_encoder = False  # noqa: SLF001 - what it sets itself when its word model cannot be downloaded, after a minute
    adding, recalling = [], []
    for memory in memories:
        began = time.perf_counter()
        it.add(memory.text, user_id=memory.owner.id, metadata={"ours": memory.id}, infer=False)
        adding.append(time.perf_counter() - began)
    for question in questions:
        began = time.perf_counter()
        it.search(question.text, filters={"user_id": question.reader.actor.user_id}, top_k=BEST)
        recalling.append(time.perf_counter() - began)
    held = rss()
    it.vector_store.client.close()
    it.close()
    return {"add": milliseconds(adding), "recall": milliseconds(recalling[1:]), "rss": float(held)}


def main(name: str, count: int, folder: Path) -> None:
    """Measure one of them, print its figures."""
    memories, questions = kept(count), asked(count)
    if name == "mem0":
        if find_spec("mem0") is None:
            sys.exit(3)
        figures = mem0(folder, memories, questions)
    elif name == "edge":
        figures = asyncio.run(steward(EdgeStore(folder / "store", model=Vectors.name, size=SIZE, tuning=Tuning()), memories, questions))
    else:
        warnings.filterwarnings("ignore", module="qdrant_client")
        from qdrant_client import AsyncQdrantClient  # noqa: PLC0415 - half a second that the others need not wait for

        local = ServerStore(AsyncQdrantClient(path=str(folder / "store")), model=Vectors.name, size=SIZE, local=True)
        figures = asyncio.run(steward(local, memories, questions))
    print(dumps(figures | {"disk": on_disk(folder) / len(memories), "people": PEOPLE}))


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
