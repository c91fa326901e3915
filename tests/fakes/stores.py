"""The engines of the store of memories, for tests: a small embedded one, the server's client on its in-memory stand-in, and a real server if there is one."""

from __future__ import annotations

import atexit
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import NAMESPACE_OID, uuid4, uuid5

import numpy as np
from qdrant_client import AsyncQdrantClient

from memory.longterm.access import Owner
from memory.longterm.collection import Tuning
from memory.longterm.edge import EdgeStore
from memory.longterm.edge_shard import config, create
from memory.longterm.files import copy_folder
from memory.longterm.server import ServerStore
from memory.longterm.store import Floats, Record, What

MODEL, SIZE = "small/4", 4
SERVER = os.environ.get("TEST_QDRANT_URL", "")
"""A real server to run the contract on as well."""
ENGINES = ["edge", "memory", *(["server"] if SERVER else [])]

Engine = EdgeStore | ServerStore


def edge(home: Path, *, model: str = MODEL, size: int = SIZE, shards: int = 2) -> EdgeStore:
    """An embedded store. A new one is given its empty part by copy: the library takes up to a second to make one."""
    store = EdgeStore(home, model=model, size=size, tuning=Tuning(shards=shards))
    if not home.exists():
        (home / store.generation).mkdir(parents=True)
        copy_folder(blank(size), home / store.generation / "blank")
    return store


@cache
def blank(size: int) -> Path:
    """An empty part of a usual store, made once."""
    folder = TemporaryDirectory(prefix="steward-blank-")
    atexit.register(folder.cleanup)
    create(Path(folder.name) / "blank", config(size, **Tuning().engine)).close()
    return Path(folder.name) / "blank"


def in_memory(client: AsyncQdrantClient, *, model: str = MODEL, size: int = SIZE) -> ServerStore:
    """A store on the client's stand-in for a server."""
    return ServerStore(client, model=model, size=size, local=True, borrowed=True)


@asynccontextmanager
async def opened(engine: str, home: Path, *, model: str = MODEL, size: int = SIZE) -> AsyncIterator[Engine]:
    """An empty store of this kind, started."""
    store: Engine
    if engine == "edge":
        store = edge(home, model=model, size=size)
    elif engine == "memory":
        store = ServerStore(AsyncQdrantClient(":memory:"), model=model, size=size, local=True)
    else:
        store = ServerStore(AsyncQdrantClient(url=SERVER), model=model, size=size, name=f"test_{uuid4().hex}")
    await store.start()
    try:
        yield store
    finally:
        if engine == "server" and isinstance(store, ServerStore):
            await store.client.delete_collection(store.name)
        await store.close()


def person(user: str = "U1", team: str = "T1") -> Owner:
    """Somebody."""
    return Owner(team_id=team, kind="person", id=user)


def one_id(name: str) -> str:
    """A UUID for a name."""
    return str(uuid5(NAMESPACE_OID, name))


def vector(*values: float) -> Floats:
    """A vector of unit length."""
    raw = np.array(values, np.float32)
    return np.asarray(raw / np.linalg.norm(raw), np.float32)


def record(
    name: str,
    owner: Owner | None = None,
    *,
    what: What = "memory",
    text: str = "",
    dense: Floats | None = None,
    words: dict[int, float] | None = None,
    at: float = 0.0,
    audience: str = "private",
    kind: str = "fact",
    key: str = "",
    live: bool = True,
) -> Record:
    """A record with a readable name."""
    payload = {"text": text or name}
    return Record(one_id(name), owner or person(), what, payload, audience, kind, key, live, at, dense, words or {})


def texts(records: list[Record]) -> list[str]:
    """What the records say."""
    return [str(each.payload["text"]) for each in records]
