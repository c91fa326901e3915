"""How many tokens a text costs the model, counted rather than guessed.

Budgets are in tokens because that is what a model's window and its bill are made of, and a guess by characters is wrong by a factor of
three between English, Chinese and code. `counter_for` gives the counter that fits a model: for OpenAI's the byte-pair encoder with its own
vocabulary, which comes inside the package, so nothing is fetched; for all others the dearer of that count and the estimator of
memory/estimate.py. The functions that name no model count with the vocabulary of OpenAI's current ones (`o200k_base`); others split text a little differently.

A vocabulary takes a tenth of a second and 70 MB to load. It is loaded by the first count and not by an import; `fits` answers without
it for texts that are short enough whatever they hold, `at_most` never needs it, and `load` may be called in a thread beforehand.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any, Final, Protocol, cast

from memory.estimate import CHINESE_AT_HOME, estimate
from memory.windows import family

__all__ = ["ENCODING", "Counter", "at_most", "count", "count_json", "counter_for", "encoding_of", "estimate", "fits", "load"]

ENCODING: Final = "o200k_base"
_PACKAGE = "bpe_openai"

_ENCODINGS: Final = (
    *(("o200k_base", prefix) for prefix in ("gpt5", "gpt4o", "gpt4.1", "gpt4.5", "chatgpt4o", "gpt-oss", "codex-mini", "o1", "o3", "o4")),
    *(("cl100k_base", prefix) for prefix in ("gpt4", "gpt3.5", "gpt35", "text-embedding3", "text-embedding-ada")),
)
"""The vocabulary by the beginning of a model's name, as `family` writes it; the first that fits."""

_READ_CHINESE: Final = ("qwen", "qwq", "deepseek", "glm", "chatglm", "kimi", "minimax", "doubao", "hunyuan", "yi", "internlm")
"""Families, not OpenAI's, whose vocabularies were made with Chinese in mind."""

REMEMBERED: Final = 2_000_000
"""Characters of text whose counts a counter remembers at most."""


class Counter(Protocol):
    """Tells how many tokens a text is."""

    def __call__(self, text: str) -> int:
        """Tokens of `text`; the same text always gives the same number."""
        ...


class _Encoder(Protocol):
    def count(self, text: str) -> int: ...
    def count_till_limit(self, text: str, token_limit: int) -> int | None: ...


def count(text: str) -> int:
    """Tokens of `text`; special markers such as `<|endoftext|>` count as the plain text they are, half of an emoji as one character."""
    return load(ENCODING).count(_whole(text)) if text else 0


def count_json(value: Any) -> int:
    """Tokens of a JSON-compatible value as it is sent: on one line, without escapes beyond JSON's own."""
    return count(json.dumps(value, ensure_ascii=False))


def fits(text: str, budget: int) -> bool:
    """Whether `text` has at most `budget` tokens; answered at once when its bytes alone are no more, for no token is shorter than a byte."""
    whole = _whole(text)
    if len(whole.encode()) <= budget:
        return True
    return budget >= 0 and load(ENCODING).count_till_limit(whole, budget) is not None


def at_most(text: str) -> int:
    """A number of tokens that no byte-level encoder exceeds for `text`: its bytes. Costs nothing."""
    return len(text) if text.isascii() else len(_whole(text).encode())


def encoding_of(model: str) -> str | None:
    """The name of the vocabulary that `model` is known to use; None when it is not known."""
    name = family(model)
    return next((encoding for encoding, prefix in _ENCODINGS if name.startswith(prefix)), None)


def counter_for(model: str) -> Counter:
    """The counter for `model`. It remembers what it has counted; asking again for the same vocabulary gives the same counter. Loads nothing yet."""
    return _remembering(encoding_of(model), family(model).startswith(_READ_CHINESE))


@lru_cache(maxsize=4)
def _remembering(encoding: str | None, reads_chinese: bool) -> Counter:  # noqa: FBT001 - a key of the cache
    if encoding is None:
        guess = partial(estimate, chinese=CHINESE_AT_HOME) if reads_chinese else estimate
        # Names, rare signs and many languages are dearer than any rule by kinds of signs says: the common vocabulary is the least to expect.
        return _Remembering(lambda text: max(guess(text), load().count(_whole(text))))
    return _Remembering(lambda text: load(encoding).count(_whole(text)))


class _Remembering:
    """A counter that remembers its latest texts, up to `room` characters of them. One text may be half of it; longer ones are counted each time."""

    def __init__(self, counted: Callable[[str], int], room: int = REMEMBERED) -> None:
        self._counted = counted
        self._room = room
        self._known: OrderedDict[str, int] = OrderedDict()
        self._held = 0
        self._lock = Lock()  # counts are also asked for by threads

    def __call__(self, text: str) -> int:
        if not text:
            return 0
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
        tokens = self._counted(text)
        if 2 * len(text) <= self._room:
            with self._lock:
                self._keep(text, tokens)
        return tokens

    def _keep(self, text: str, tokens: int) -> None:
        if text not in self._known:
            self._known[text] = tokens
            self._held += len(text)
        while self._held > self._room:
            oldest, _ = self._known.popitem(last=False)
            self._held -= len(oldest)


@lru_cache(maxsize=2)
def load(encoding: str = ENCODING) -> _Encoder:
    """Load a vocabulary now; later calls cost nothing."""
    return cast("_Encoder", _compiled().tokenizer_for_encoding(encoding))


@lru_cache(maxsize=1)
def _compiled() -> Any:
    # Only the compiled encoder: importing the package around it takes ten times as long, for a second copy of the vocabulary in Python.
    package = find_spec(_PACKAGE)
    spec = PathFinder.find_spec("_bindings", package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None:
        raise ImportError(f"{_PACKAGE} is not installed with its compiled encoder", name=_PACKAGE)
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    return compiled


def _whole(text: str) -> str:
    """`text` with every lone surrogate, which UTF-8 cannot carry, replaced by one character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
