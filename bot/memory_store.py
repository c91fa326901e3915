"""From the settings to the store for memories of people, not opened yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bot.settings import Settings

if TYPE_CHECKING:
    from memory.embedder import Embedder

MEMORY_TOOLS = "tools.memories"
"""The module of tools that comes with it."""


async def memory_store(settings: Settings, embedder: Callable[[], Embedder | None]) -> Any:
    """The store, None when nothing is to be remembered. Raises `memory.embedder.NoVectorsError` when the model's vectors cannot be measured."""
    if settings.memory == "off":
        return None
    from memory.embedder import size_of  # noqa: PLC0415 - loads numpy
    from memory.longterm.collection import Tuning  # noqa: PLC0415
    from memory.longterm.opening import open_store  # noqa: PLC0415
    from memory.longterm.store import WORDS_ONLY  # noqa: PLC0415

    engine = embedder()
    return open_store(
        settings.home,
        settings.qdrant_url,
        settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None,
        model=engine.name if engine is not None else WORDS_ONLY,
        size=await size_of(engine) if engine is not None else 0,
        tuning=Tuning(quantization=settings.memory_quantization),
    )
