"""Tools of the promises' tests: writes and a read whose upstream is an HTTP server of the test, which counts what really happened."""

from __future__ import annotations

from typing import Annotated, Any

import aiohttp
from pydantic import Field

from tools.decorator import tool
from tools.tool import ToolContext

Number = Annotated[int, Field(description="The number printed on the thing")]
Note = Annotated[str, Field(description="Anything to be written beside it", max_length=4000)]


async def _send(ctx: ToolContext, path: str, body: dict[str, Any]) -> dict[str, Any]:
    url = f"{ctx.resources['upstream']}/{path}"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session, session.post(url, json=body) as answer:
        answer.raise_for_status()
        found: dict[str, Any] = await answer.json()
        return found


@tool(effect="write", keyed=True, timeout=6, title="Book")
async def book(ctx: ToolContext, n: Number, note: Note = "") -> dict[str, Any]:
    """Book one thing by its number; the upstream honours the idempotency key. Returns its number."""
    return await _send(ctx, "book", {"n": n, "note": note, "key": ctx.idempotency_key})


@tool(effect="write", timeout=6, title="Ship")
async def ship(ctx: ToolContext, n: Number, note: Note = "") -> dict[str, Any]:
    """Ship one thing by its number; the upstream knows no idempotency key. Returns its number."""
    return await _send(ctx, "ship", {"n": n, "note": note})


@tool(effect="write", timeout=6, title="Ship soon")
async def ship_soon(ctx: ToolContext, n: Number, note: Note = "") -> dict[str, Any]:
    """Ship one thing by its number, like ship, but with an approval that ends soon. Returns its number."""
    return await _send(ctx, "ship", {"n": n, "note": note})


@tool(effect="read", title="Look up")
async def look_up(ctx: ToolContext, n: Number) -> dict[str, Any]:
    """Look up the text that stands beside the thing with this number. Returns the text."""
    return await _send(ctx, "look_up", {"n": n})
