"""`steward memory …`: what an operator does to the store of memories. It shows numbers, never contents.

`reembed` gives every memory vectors of the model that is set now, with a bar that shows how far it is; broken off, it goes on where it stopped.
`history` shows what changed in a person's memory, by kind and without the words, and `undo` takes one change back, as the person can with
`/memory history` and `/memory undo`. The embedded store belongs to one process, so the bot has to be stopped meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import time
from typing import Any, Final

import typer

from bot.embedder_choice import Chosen
from bot.memory_store import memory_store
from bot.settings import Settings
from memory.connect import PATIENCE, connect
from memory.embedder import Embedder
from memory.embedder_cache import NoVectorsError
from memory.longterm.access import Owner
from memory.longterm.history import History
from memory.longterm.indexed import embed_text
from memory.longterm.locks import LocalLocks, Locks
from memory.longterm.memory import Change
from memory.longterm.records import memory_of
from memory.longterm.reembed import reembed
from memory.longterm.store import Record, Store, StoreDown, StoreError
from memory.longterm.writing import Writer
from memory.owner_locks import OwnerLocks

SHORT: Final = 8
"""Characters of a change's id that are shown; as many or more find it again."""
MOST: Final = 1_000
"""Changes of a person among which one is looked for."""


def reembed_command(settings: Settings) -> int:
    """Make all vectors anew with the model of the settings. 0, or 2 with one line that says what is in the way."""
    return _told(_reembed(settings))


def stats_command(settings: Settings) -> int:
    """Print the numbers of the store. 0, or 2 with one line that says what is in the way."""
    return _told(_stats(settings))


def history_command(settings: Settings, person: str, *, limit: int, write: Callable[[str], object] = typer.echo) -> int:
    """Print the newest changes of a person's memory. 0, 1 when they have none, or 2 with one line that says what is in the way."""
    return _told(_history(settings, person, limit, write))


def undo_command(settings: Settings, person: str, change: str, *, write: Callable[[str], object] = typer.echo) -> int:
    """Take one change back. 0, 1 when it cannot be, or 2 with one line that says what is in the way."""
    return _told(_undo(settings, person, change, write))


def _told(work: Coroutine[Any, Any, int]) -> int:
    try:
        return asyncio.run(work)
    except StoreError as error:
        typer.echo(f"steward: {error}", err=True)
    except (StoreDown, NoVectorsError) as error:
        typer.echo(f"steward: the store or the model does not answer ({error}): start it, or mend QDRANT_URL or STEWARD_EMBEDDER.", err=True)
    return 2


async def _reembed(settings: Settings) -> int:
    embedder = Chosen(settings)
    try:
        store = await memory_store(settings, embedder)
        if store is None:
            typer.echo("steward: STEWARD_MEMORY is off: there is nothing to make anew.", err=True)
            return 2
        with typer.progressbar(length=1, label="Memories") as bar:

            def progress(done: int, total: int) -> None:
                bar.length = max(total, 1)
                bar.update(done - bar.pos if total else 1)

            count = await reembed(store, embedder(), text_of, progress)
        typer.echo(f"{count} memories now have vectors of {store.model}.")
        return 0
    finally:
        await embedder.close()


async def _stats(settings: Settings) -> int:
    async with _opened(settings, whatever_model=True) as (store, _):
        if store is None:
            return _is_off()
        for name, value in sorted((await store.stats()).items()):
            typer.echo(f"{name}  {value:,.0f}")
    return 0


async def _history(settings: Settings, person: str, limit: int, write: Callable[[str], object]) -> int:
    async with _opened(settings, whatever_model=True) as (store, embedder):
        if store is None:
            return _is_off()
        history = History(store, Writer(store, embedder, time), LocalLocks())
        found = [change for owner in await owners(store, person) for change in await history.of(owner, limit)]
        for change in sorted(found, key=lambda each: -each.at)[:limit]:
            write(row(change))
        if not found:
            write(f"Nothing is noted of {person}.")
    return 0 if found else 1


async def _undo(settings: Settings, person: str, change: str, write: Callable[[str], object]) -> int:
    async with _opened(settings) as (store, embedder):
        if store is None:
            return _is_off()
        reading = History(store, Writer(store, embedder, time), LocalLocks())
        found = [(owner, each.id) for owner in await owners(store, person) for each in await reading.of(owner, MOST) if each.id.startswith(change)]
        undone = None
        if len(found) == 1 and len(change) >= SHORT:
            async with _locks(settings, found[0][0].team_id) as locks:
                undone = await History(store, Writer(store, embedder, time), locks).undo(*found[0], by="operator")
    write("Taken back." if undone is not None else "Not taken back: there is no such change, or something changed since. Forgetting is for good.")
    return 0 if undone is not None else 1


async def owners(store: Store, person: str) -> list[Owner]:
    """The person of that user id (`U…`), in each workspace, or in the one that is named before it (`T…:U…`)."""
    team, _, user = person.rpartition(":")
    return [owner async for owner in store.owners(team or None) if owner.kind == "person" and owner.id == user]


def row(change: Change) -> str:
    """One change as a line, without what the memory says."""
    memory = change.after or change.before
    about = f"{memory.kind.value} {memory.key.partition(':')[0]}" if memory is not None and not memory.sensitive else "-"
    return (
        f"{datetime.fromtimestamp(change.at, UTC):%Y-%m-%d %H:%M}  {change.id[:SHORT]}  {change.owner.team_id}  {change.done:<10}  by {change.by:<8}  {about}"
    )


@asynccontextmanager
async def _locks(settings: Settings, team_id: str) -> AsyncIterator[Locks]:
    """The locks that the running program uses as well. Without a Redis of one's own nobody else has the embedded store either."""
    if settings.redis_url is None:
        yield LocalLocks()
        return
    client = connect(settings.redis_url.get_secret_value(), timeout=PATIENCE)
    try:
        yield OwnerLocks(client, space=team_id)
    finally:
        await client.aclose()


@asynccontextmanager
async def _opened(settings: Settings, *, whatever_model: bool = False) -> AsyncIterator[tuple[Store | None, Embedder | None]]:
    """The store and the engine of the settings. `whatever_model`: also when the store was made with another one, for looking only."""
    embedder = Chosen(settings)
    try:
        store = await memory_store(settings, embedder)
        if store is None:
            yield None, None
            return
        engine = embedder()
        await store.start(whatever_model=whatever_model)
        try:
            yield store, engine
        finally:
            await store.close()
    finally:
        await embedder.close()


def _is_off() -> int:
    typer.echo("steward: STEWARD_MEMORY is off.", err=True)
    return 2


def text_of(record: Record) -> str | None:
    """What a record is found by in meaning; None for what is no memory."""
    memory = memory_of(record) if record.what == "memory" else None
    return embed_text(memory) if memory is not None else None
