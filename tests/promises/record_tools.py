"""Tools whose effects a test can count from outside: each effect is one file in the data folder.

A name made with O_EXCL happens once whoever does it, so the keyed write honours its key as a good upstream would;
the unkeyed one leaves one more file each time it runs. `wait_here` and the writes called `slow` last until the file
`gate` exists, which is how a test holds a tool in the middle of its work.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from tools import ToolContext, tool

Slow = Annotated[bool, Field(description="Whether it lasts")]
Text = Annotated[str, Field(description="What to note, in one line")]

_numbers = itertools.count()


def _home(ctx: ToolContext) -> Path:
    home: Path = ctx.resources["home"]
    return home


def _note(ctx: ToolContext, kind: str, name: str, text: str) -> bool:
    """Leave a file; False when it was there already."""
    folder = _home(ctx) / kind
    folder.mkdir(exist_ok=True)
    body = json.dumps({"text": text, "key": ctx.idempotency_key, "at": time.time(), "pid": os.getpid()})
    try:
        with (folder / name).open("x", encoding="utf-8") as file:
            file.write(body)
    except FileExistsError:
        return False
    return True


async def _gate(ctx: ToolContext) -> None:
    while not (_home(ctx) / "gate").exists():
        await asyncio.sleep(0.01)


def _attempt(ctx: ToolContext, text: str) -> None:
    _note(ctx, "attempts", f"{ctx.call_id}-{os.getpid()}-{next(_numbers)}", text)


@tool(effect="write", group="record", keyed=True)
async def note_keyed(ctx: ToolContext, text: Text, slow: Slow = False) -> dict[str, Any]:
    """Note one line for good; the same request noted twice stands there once. Use it when told to."""
    _attempt(ctx, text)
    _note(ctx, "keyed", ctx.idempotency_key.replace("/", "_"), text)
    if slow:
        await _gate(ctx)
    return {"noted": text}


@tool(effect="write", group="record")
async def note_unkeyed(ctx: ToolContext, text: Text, slow: Slow = False) -> dict[str, Any]:
    """Note one line; noted twice, it stands there twice. Use it when told to."""
    _attempt(ctx, text)
    _note(ctx, "unkeyed", f"{time.time_ns()}-{os.getpid()}", text)
    if slow:
        await _gate(ctx)
    return {"noted": text}


@tool(effect="write", group="record")
async def note_brief(ctx: ToolContext, text: Text) -> dict[str, Any]:
    """Note one line; a policy may give its card a short life. Use it when told to."""
    _note(ctx, "unkeyed", f"{time.time_ns()}-{os.getpid()}", text)
    return {"noted": text}


@tool(effect="read", group="record", timeout=60)
async def wait_here(ctx: ToolContext, text: Text) -> dict[str, Any]:
    """Look something up that takes a while; returns the text. Use it when told to."""
    _attempt(ctx, text)
    await _gate(ctx)
    return {"found": text}


@tool(effect="read", group="record")
async def end_the_process(ctx: ToolContext, text: Text) -> dict[str, Any]:
    """End the process that runs it, as a crash in a library would. Use it when told to."""
    _attempt(ctx, text)
    os._exit(99)


def _cannot_be_drawn(_: BaseModel) -> list[tuple[str, Any]]:
    raise RuntimeError("this card cannot be drawn")


@tool(effect="write", group="record", render=_cannot_be_drawn)
async def note_undrawable(ctx: ToolContext, text: Text) -> dict[str, Any]:
    """Note one line after an approval whose card cannot be drawn. Use it when told to."""
    _note(ctx, "unkeyed", f"{time.time_ns()}-{os.getpid()}", text)
    return {"noted": text}


def noted(home: Path, kind: str) -> list[dict[str, Any]]:
    """For the test: what was left in `kind` (`keyed`, `unkeyed`, `attempts`), oldest first. A file still being written is not counted yet."""
    found = []
    for path in (home / kind).glob("*"):
        raw = path.read_text(encoding="utf-8")
        if raw:
            found.append(json.loads(raw))
    return sorted(found, key=lambda each: float(each["at"]))
