"""Reading much of an owner's records: in pages, so that whoever else asks the store meanwhile waits for one page and not for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from memory.longterm.store import Record, Store, Where

AT_ONCE: Final = 500
"""Records asked of the store in one call."""


async def pages(store: Store, where: Where, *, most: int | None = None, vectors: bool = False) -> AsyncIterator[list[Record]]:
    """What there is, newest first, page by page; `most` records at most. Raises `StoreDown`."""
    before: tuple[float, str] | None = None
    left = most
    while left is None or left > 0:
        limit = AT_ONCE if left is None else min(AT_ONCE, left)
        page = await store.list(where, limit=limit, before=before, vectors=vectors)
        if page:
            yield page
        if len(page) < limit:
            return
        before, left = (page[-1].at, page[-1].id), None if left is None else left - limit
        await asyncio.sleep(0)  # somebody else's turn


async def read_all(store: Store, where: Where, *, most: int | None = None) -> list[Record]:
    """All of it in one list. Raises `StoreDown`."""
    return [record async for page in pages(store, where, most=most) for record in page]
