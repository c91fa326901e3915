"""An embedder that remembers its vectors in a folder, because computing those of five long conversations takes minutes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory.embedder import Embedder, Floats


class Stored:
    """Asks `engine` for a text only once, also across runs when a folder is given."""

    def __init__(self, engine: Embedder, folder: Path | None) -> None:
        self._engine = engine
        self.name, self.size = engine.name, engine.size
        self._path = folder / f"{hashlib.sha256(engine.name.encode()).hexdigest()[:12]}.npz" if folder is not None else None
        self._known: dict[str, Floats] = {}
        self._saved = 0
        if self._path is not None and self._path.is_file():
            with np.load(self._path, allow_pickle=False) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
            self._saved = len(self._known)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        keys = [_key("passage", text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            self._known |= zip(missing, await self._engine.passages(list(missing.values())), strict=True)
        return np.stack([self._known[key] for key in keys]) if keys else np.empty((0, self.size), np.float32)

    async def query(self, text: str) -> Floats:
        """See `Embedder`."""
        key = _key("query", text)
        if key not in self._known:
            self._known[key] = await self._engine.query(text)
        return self._known[key]

    async def queries(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return np.stack([await self.query(text) for text in texts])

    def save(self) -> None:
        """Write what is new to the folder."""
        if self._path is None or len(self._known) == self._saved:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self._path, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        self._saved = len(self._known)


def _key(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
