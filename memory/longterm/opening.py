"""Which engine keeps the memories: the embedded one in the data folder, or a Qdrant server where its address is given."""

from __future__ import annotations

from pathlib import Path

from memory.longterm.collection import NAME, Tuning
from memory.longterm.edge import EdgeStore
from memory.longterm.reembed import Successive
from memory.longterm.store import StoreError


def open_store(home: Path | None, url: str | None, api_key: str | None = None, *, model: str, size: int, tuning: Tuning | None = None) -> Successive:
    """A store, not started yet. `home` is the data folder. `model` and `size` are the embedder's; `WORDS_ONLY` and 0 without one.

    Raises `StoreError` when neither a folder nor a server is given.
    """
    if url:
        from memory.longterm.server import ServerStore  # noqa: PLC0415 - the client takes half a second to import

        return ServerStore.at(url, api_key, model=model, size=size, tuning=tuning)
    if home is None:
        raise StoreError("memories need a place: set QDRANT_URL, or a data folder")
    return EdgeStore(home / NAME, model=model, size=size, tuning=tuning)
