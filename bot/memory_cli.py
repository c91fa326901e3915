"""`steward memory …`: what an operator does to the store of memories. It shows numbers, never contents.

`reembed` gives every memory vectors of the model that is set now, with a bar that shows how far it is; broken off, it goes on where it stopped.
The embedded store belongs to one process, so the bot has to be stopped meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import typer

from bot.embedder_choice import Chosen
from bot.memory_store import memory_store
from bot.settings import Settings
from memory.embedder_cache import NoVectorsError
from memory.longterm.indexed import embed_text
from memory.longterm.records import memory_of
from memory.longterm.reembed import reembed
from memory.longterm.store import Record, StoreDown, StoreError


def reembed_command(settings: Settings) -> int:
    """Make all vectors anew with the model of the settings. 0, or 2 with one line that says what is in the way."""
    return _told(_reembed(settings))


def stats_command(settings: Settings) -> int:
    """Print the numbers of the store. 0, or 2 with one line that says what is in the way."""
    return _told(_stats(settings))


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
    embedder = Chosen(settings)
    try:
        store = await memory_store(settings, embedder)
        if store is None:
            typer.echo("steward: STEWARD_MEMORY is off.", err=True)
            return 2
        await store.start(whatever_model=True)
        try:
            for name, value in sorted((await store.stats()).items()):
                typer.echo(f"{name}  {value:,.0f}")
        finally:
            await store.close()
        return 0
    finally:
        await embedder.close()


def text_of(record: Record) -> str | None:
    """What a record is found by in meaning; None for what is no memory."""
    memory = memory_of(record) if record.what == "memory" else None
    return embed_text(memory) if memory is not None else None
