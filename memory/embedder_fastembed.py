"""Vectors by fastembed: any text model it knows by name, or one from a folder without any network.

A known model is downloaded once, into the folder for models, and found there from then on. A folder needs `model.onnx`, `tokenizer.json`
and `tokenizer_config.json`, as model repositories offer them; two more files are followed when they lie there, because fastembed does not
look at them: `1_Pooling/config.json` (how the token vectors become one; without it, their mean) and `config_sentence_transformers.json`
(what stands before a question and a passage). Where neither folder nor library say anything about the latter, models of the e5 family, told
by the word "e5" in their name, get the "query: " and "passage: " they were trained with; others get nothing. Loading the library takes more
than a second and the model longer: both happen in a thread, at first use.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal, Protocol

from memory.embedder_cache import Batched, NoVectorsError

NEEDED: Final = ("model.onnx", "tokenizer.json", "tokenizer_config.json")
"""What a folder must hold."""
THREADS: Final = 1
"""Of the machine's cores: the rest is for answering people."""
REST: Final = 60.0
"""Seconds after a failed load in which nothing is tried: a download that cannot be made takes fastembed most of a minute to give up."""
PEEK: Final = 1 << 20
"""Bytes at either end of the weights that go into a folder's name."""

_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])", re.IGNORECASE)

Pooling = Literal["CLS", "MEAN", "LAST_TOKEN"]
_POOLING: Final[dict[str, Pooling]] = {"pooling_mode_cls_token": "CLS", "pooling_mode_mean_tokens": "MEAN", "pooling_mode_lasttoken": "LAST_TOKEN"}


class _Model(Protocol):
    """What is used of a `TextEmbedding`."""

    @property
    def embedding_size(self) -> int: ...

    def query_embed(self, query: list[str]) -> Iterable[Any]: ...

    def passage_embed(self, texts: list[str]) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What stands before the text of a question and of a passage."""

    query: str = ""
    passage: str = ""

    @classmethod
    def by_name(cls, name: str) -> Prefixes:
        """Those of the e5 family for its members, else none."""
        return cls("query: ", "passage: ") if _E5.search(name) else cls()


class FastEmbed(Batched):
    """A model that fastembed runs. `size` is 0 until it was loaded."""

    def __init__(self, name: str, load: Callable[[], _Model], prefixes: Prefixes, *, clock: Callable[[], float] = monotonic) -> None:
        """Made by `known_model` or `local_model`. `load` is called in a thread and may raise anything; `clock` gives seconds."""
        super().__init__()
        self.name = name
        self.size = 0
        self._load = load
        self._prefixes = prefixes
        self._clock = clock
        self._model: _Model | None = None
        self._failed: tuple[float, str] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fastembed")

    async def _make(self, texts: list[str], *, is_query: bool) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, texts, is_query)

    def _embed(self, texts: list[str], is_query: bool) -> list[Any]:  # noqa: FBT001 - called by position, in the thread
        if self._model is None:
            self._model = self._loaded()
        try:
            if is_query:
                return list(self._model.query_embed([self._prefixes.query + text for text in texts]))
            return list(self._model.passage_embed([self._prefixes.passage + text for text in texts]))
        except Exception as error:  # the runtime's own exceptions have no common base
            raise NoVectorsError(f"{self.name} failed: {_line(error)}") from error

    def _loaded(self) -> _Model:
        if self._failed is not None and self._clock() < self._failed[0] + REST:
            raise NoVectorsError(self._failed[1])
        try:
            return self._load()
        except Exception as error:  # a download, a file or the runtime: whatever it is, there are no vectors
            reason = str(error) if isinstance(error, NoVectorsError) else f"{self.name} cannot be loaded: {_line(error)}"
            self._failed = (self._clock(), reason)
            raise NoVectorsError(reason) from error


def known_model(model: str, folder: Path | None = None) -> FastEmbed:
    """A model fastembed knows by this name, kept in `folder` (None: where fastembed keeps them). Nothing is loaded yet, nor is the name looked at."""

    def load() -> _Model:
        library = _library()
        known = {str(each["model"]).lower() for each in library.TextEmbedding.list_supported_models()}
        if model.lower() not in known:
            raise NoVectorsError(f"fastembed knows no model {model!r}: set STEWARD_EMBEDDER to one of its {len(known)} text models, or to a local folder")
        try:
            return _opened(library, model, cache_dir=None if folder is None else str(folder))
        except Exception as error:  # whatever of the download, the files or the runtime it was, the remedy is the same
            raise NoVectorsError(
                f"fastembed cannot download or open {model!r} ({_line(error)}): let this machine reach huggingface.co once (a proxy, or a mirror in"
                " HF_ENDPOINT), or copy the model's files here and set STEWARD_EMBEDDER=fastembed:<their folder>"
            ) from error

    return FastEmbed(f"fastembed:{model}", load, Prefixes.by_name(model))


def lacking(folder: Path) -> list[str]:
    """Which of the files a model's folder must hold are not there."""
    return [name for name in NEEDED if not (folder / name).is_file()]


def local_model(folder: Path) -> FastEmbed:
    """The model in `folder`; no network is used. Its name follows from the files, wherever they lie. Raises `NoVectorsError` when they are not all there."""
    if missing := lacking(folder):
        raise NoVectorsError(f"the model's folder {folder} lacks {', '.join(missing)}")
    try:
        pooling, prefixes = _pooling(folder), _prefixes(folder)
        name = f"fastembed:{folder.resolve().name}/{_digest(folder, pooling, prefixes)}"
    except (OSError, ValueError) as error:
        raise NoVectorsError(f"the model's folder {folder} cannot be read: {_line(error)}") from error

    def load() -> _Model:
        library, description = _library(), import_module("fastembed.common.model_description")
        if name not in {each["model"] for each in library.TextEmbedding.list_supported_models()}:
            library.TextEmbedding.add_custom_model(
                model=name,
                pooling=description.PoolingType[pooling],
                normalization=True,
                sources=description.ModelSource(hf="none/none"),
                dim=1,  # it is told by the first answer: the library only repeats this number
                model_file="model.onnx",
            )
        return _opened(library, name, specific_model_path=str(folder))

    return FastEmbed(name, load, prefixes)


def _library() -> Any:
    library = import_module("fastembed")
    import_module("loguru").logger.disable("fastembed")  # it writes to the terminal what we tell in one line
    return library


def _opened(library: Any, model: str, **where: Any) -> _Model:
    opened: _Model = library.TextEmbedding(model, threads=THREADS, cuda=False, **where)
    return opened


def _pooling(folder: Path) -> Pooling:
    told = _read(folder / "1_Pooling" / "config.json")
    chosen = [pooling for field, pooling in _POOLING.items() if told.get(field) is True]
    if len(chosen) > 1 or (told and not chosen):
        raise ValueError("1_Pooling/config.json asks for a pooling that is not made here (one of CLS, mean and last token is)")
    return chosen[0] if chosen else "MEAN"


def _prefixes(folder: Path) -> Prefixes:
    prompts = _read(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and prompts:
        passage = prompts.get("passage") or prompts.get("document") or ""
        return Prefixes(str(prompts.get("query") or ""), str(passage))
    return Prefixes.by_name(f"{folder.resolve().name} {_read(folder / 'config.json').get('_name_or_path', '')}")


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    told = json.loads(path.read_text(encoding="utf-8"))
    return told if isinstance(told, dict) else {}


def _digest(folder: Path, *settings: object) -> str:
    """Twelve letters that are others for other weights, another tokenizer or other settings; the weights' ends and length stand for the whole."""
    weights = folder / "model.onnx"
    size = weights.stat().st_size
    told = hashlib.blake2b(f"{size} {settings}".encode(), digest_size=6)
    with weights.open("rb") as file:
        told.update(file.read(PEEK))
        file.seek(max(0, size - PEEK))
        told.update(file.read(PEEK))
    told.update((folder / "tokenizer.json").read_bytes())
    return told.hexdigest()


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]
