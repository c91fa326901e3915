"""The embedded engine of the store: `qdrant_edge` in a process of its own, for one bot process on one machine.

    home/lock            held by the process that uses the store
    home/store.json      the form, the embedding model, how many parts, and the folder of the generation in force
    home/g000001/        one generation: see `edge_shard.py`; changing the model over writes the next one

Owners are spread over a fixed number of parts by a hash, so that rewriting what held deleted records is a fraction of the work. The engine's
process starts when the store does, and again by itself should it ever die; what it answered survives that.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

import structlog

from memory.longterm.access import Owner
from memory.longterm.collection import Meta, Tuning, by_owner, narrowed, newest, unpack, vector_text
from memory.longterm.edge_link import ANSWER_WITHIN, Link
from memory.longterm.files import lock, replace_text
from memory.longterm.packed import packed, scored
from memory.longterm.store import Floats, Hit, Record, StoreDown, StoreError, StoreInUse, What, Where

log = structlog.get_logger(__name__)

AT_ONCE: Final = 200
"""Records moved or turned into objects without letting others have their turn."""
COPIED: Final = 100
"""Records copied into a new revision at once."""
BUILT_WITHIN: Final = 600.0
"""Seconds after which a process that writes a part anew, and says nothing, hangs: bringing a large part into its final form takes a while."""
WHATS: Final[tuple[What, ...]] = ("memory", "change", "settings")


class EdgeStore:
    """See `Store`. `home` is its own folder, made when it is not there."""

    def __init__(self, home: Path, *, model: str, size: int, tuning: Tuning | None = None, within: float = ANSWER_WITHIN) -> None:
        """`within`: seconds after which an engine that says nothing hangs and is started again."""
        self.home = home
        self._within = within
        self.model = model
        self.size = size
        self.tuning = tuning or Tuning()
        self.generation = "g000001"
        self._lock: int | None = None
        self._link: Link | None = None
        self._scrubbing = asyncio.Lock()

    # --- opening -----------------------------------------------------------------------------------------------------------

    async def start(self, *, whatever_model: bool = False) -> None:
        """See `Store`. `whatever_model`: take the model that is noted instead of refusing another."""
        if self._link is not None:
            return
        await asyncio.to_thread(self._claim)
        try:
            noted = await asyncio.to_thread(self._noted)
            meta = Meta.read(noted)
            if whatever_model:
                meta.check(meta.model, meta.size)
                self.model, self.size = meta.model, meta.size
            meta.check(self.model, self.size)
            try:
                shards, self.generation = int(noted["shards"]), str(noted["generation"])
            except (KeyError, ValueError) as error:
                raise StoreError(f"{self.home / 'store.json'} cannot be read; restore it from a backup") from error
            await asyncio.to_thread(self._tidy)
            await self.run(shards)
        except BaseException:
            await self._release()
            raise

    async def run(self, shards: int) -> None:
        """Start the engine on the generation. The lock is held already."""
        self._link = Link("shards", str(self.home / self.generation), shards, self.size, self.tuning.engine, within=self._within)
        await self._link.start()

    def _tidy(self) -> None:
        """Remove generations that are neither in force nor in the making: what a crash right after a change of model left behind."""
        following = self._following()
        for path in self.home.glob("g[0-9]*"):
            if path.name not in {self.generation, following.get("generation")}:
                shutil.rmtree(path)

    def _following(self) -> dict[str, Any]:
        """What is noted about a generation in the making."""
        path = self.home / "next.json"
        if not path.exists():
            return {}
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise StoreError(f"{path} cannot be read; remove it, and the change of model begins anew") from error

    def _claim(self) -> None:
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock(self.home / "lock")
        if self._lock is None:
            raise StoreInUse(f"another process uses the memories in {self.home}; end it, or set QDRANT_URL to a server that several can share")

    def _noted(self) -> dict[str, Any]:
        """What is noted about the store; for a new one, what was noted just now."""
        path = self.home / "store.json"
        try:
            noted = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            if any(self.home.glob("g[0-9]*/[0-9]*")):
                raise StoreError(f"{path} is missing although there are memories beside it; restore it from a backup") from None
            noted = Meta(self.model, self.size).noted() | {"shards": self.tuning.shards, "generation": self.generation}
            replace_text(path, json.dumps(noted))
        except ValueError as error:
            raise StoreError(f"{path} cannot be read; restore it from a backup") from error
        if not isinstance(noted, dict):
            raise StoreError(f"{path} cannot be read; restore it from a backup")
        return noted

    async def warm(self) -> None:
        """Open every part now; otherwise each is opened by the first who needs it, which takes them up to a second in a large store."""
        for number in await self._call("numbers"):
            await self._call("warm", number)

    async def close(self) -> None:
        """See `Store`."""
        try:
            if self._link is not None:
                await self._link.close()
        except StoreDown as error:
            log.warning("memory_store_not_closed", reason=str(error))
        finally:
            await self._release()

    async def _release(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close(finish=False)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def pid(self) -> int | None:
        """The engine's process, while there is one."""
        return self._link.pid if self._link is not None else None

    async def _call(self, name: str, *arguments: Any) -> Any:
        if self._link is None:
            raise StoreDown("the store is not open")
        return await self._link.call(name, *arguments)

    # --- writing -----------------------------------------------------------------------------------------------------------

    async def put(self, records: Sequence[Record], *, existing: bool = False) -> None:
        """See `Store`."""
        for owner, own in by_owner(records, self.size).items():
            await self._call("put", owner.tag, own, existing)

    async def delete(self, owner: Owner, ids: Sequence[str]) -> int:
        """See `Store`."""
        count: int = await self._call("delete", owner.tag, list(ids))
        return count

    async def delete_owner(self, owner: Owner, *, keep: Sequence[What] = ()) -> int:
        """See `Store`."""
        count: int = await self._call("delete_owner", owner.tag, list(keep))
        return count

    async def delete_team(self, team_id: str) -> int:
        """See `Store`."""
        return sum([await self._call("delete_team", number, team_id) for number in await self._call("numbers")])

    # --- reading -----------------------------------------------------------------------------------------------------------

    async def get(self, owner: Owner, ids: Sequence[str]) -> list[Record]:
        """See `Store`."""
        return await _records(await self._call("get", owner.tag, list(ids)))

    async def search(self, where: Where, *, dense: Floats | None, words: Mapping[int, float], limit: int) -> list[Hit]:
        """See `Store`."""
        narrows = narrowed(where)
        vector = "" if dense is None or not self.size else vector_text(dense)
        if not narrows or limit <= 0 or not (vector or words):
            return []
        found = await self._call("search", narrows, vector, list(words), list(words.values()), limit)
        return [Hit(unpack(each.record), each.dense, each.words) for each in map(scored, found)]

    async def list(self, where: Where, *, limit: int, before: tuple[float, str] | None = None, vectors: bool = False) -> list[Record]:
        """See `Store`."""
        narrows = narrowed(where)
        if not narrows or limit <= 0:
            return []
        rows = await self._call("page", narrows, limit, before, vectors)
        return await _records(newest(map(packed, rows))[:limit] if len(narrows) > 1 else rows)

    async def count(self, where: Where) -> int:
        """See `Store`."""
        narrows = narrowed(where)
        count: int = await self._call("count", narrows) if narrows else 0
        return count

    async def owners(self, team_id: str | None = None) -> AsyncIterator[Owner]:
        """See `Store`."""
        for number in await self._call("numbers"):
            for tag in await self._call("owners", number, team_id):
                yield Owner.parse(tag)

    async def stats(self) -> dict[str, float]:
        """See `Store`."""
        found: dict[str, float] = dict.fromkeys(WHATS, 0.0)
        disk = 0
        for number in await self._call("numbers"):
            counts, used = await self._call("stats", number, WHATS)
            disk += used
            for what, count in counts.items():
                found[what] += count
        return {**found, "disk_bytes": float(disk)}

    # --- another model -------------------------------------------------------------------------------------------------------

    async def successor(self, model: str, size: int) -> Self:
        """The generation to come, made or, if it was begun with this model, as far as it came; started. See `reembed.py`."""
        fresh = type(self)(self.home, model=model, size=size, tuning=self.tuning)
        fresh.generation = f"g{int(self.generation[1:]) + 1:06}"
        noted = Meta(model, size).noted() | {"shards": self.tuning.shards, "generation": fresh.generation}
        if self._following() != noted:
            await asyncio.to_thread(shutil.rmtree, self.home / fresh.generation, ignore_errors=True)
            await asyncio.to_thread(replace_text, self.home / "next.json", json.dumps(noted))
        await fresh.run(self.tuning.shards)
        return fresh

    async def adopt(self, successor: Self) -> None:
        """Let it take over, in one step, and drop what it follows."""
        noted = self._following()
        await successor.close()
        await asyncio.to_thread(replace_text, self.home / "store.json", json.dumps(noted))
        if self._link is not None:
            await self._link.close(finish=False)
        (self.home / "next.json").unlink()
        await asyncio.to_thread(shutil.rmtree, self.home / self.generation)

    # --- rewriting ---------------------------------------------------------------------------------------------------------

    async def scrub(self) -> None:
        """See `Store`. What is deleted while it runs is for the next time."""
        async with self._scrubbing:
            for number in await self._call("numbers"):
                if await self._call("dirty", number):
                    await self.rewrite(number)

    async def rewrite(self, number: int) -> None:
        """Write one part anew, from what is there, while others read and write."""
        folder = await self._call("copy_begin", number)
        builder = Link("builder", folder, str(self.home / self.generation / "blank"), self.size, self.tuning.engine, within=BUILT_WITHIN)
        try:
            place: Any = None
            while True:
                sealed, place = await self._call("copy_read", number, place, COPIED)
                await builder.call("fill", sealed)
                if place is None:
                    break
            await builder.call("close")
            await builder.close(finish=False)
            await self._call("copy_finish", number)
        except BaseException:
            await builder.close(finish=False)
            with suppress(StoreDown):
                await self._call("copy_abort", number)
            raise


async def _records(rows: Sequence[Sequence[Any]]) -> list[Record]:
    records: list[Record] = []
    for start in range(0, len(rows), AT_ONCE):
        records += [unpack(packed(row)) for row in rows[start : start + AT_ONCE]]
        if start + AT_ONCE < len(rows):
            await asyncio.sleep(0)  # somebody else's turn
    return records
