"""How many tokens a text costs the model, counted rather than guessed.

Budgets are in tokens because that is what a model's window and its bill are made of, and a guess by characters is wrong by a factor of
three between English, Chinese and code. The counter is the byte-pair encoder of current OpenAI models (`o200k_base`); its vocabulary
comes inside the package, so nothing is fetched. Other models split text a little differently, which a budget can bear.

The vocabulary takes a tenth of a second and 70 MB to load. It is loaded by the first count and not by an import; `fits` answers without
it for texts that are short enough whatever they hold, and `load` may be called in a thread beforehand.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, Final, Protocol, cast

ENCODING: Final = "o200k_base"
_PACKAGE = "bpe_openai"


class _Encoder(Protocol):
    def count(self, text: str) -> int: ...
    def count_till_limit(self, text: str, token_limit: int) -> int | None: ...


def count(text: str) -> int:
    """Tokens of `text`; special markers such as `<|endoftext|>` count as the plain text they are, half of an emoji as one character."""
    return load().count(_whole(text)) if text else 0


def count_json(value: Any) -> int:
    """Tokens of a JSON-compatible value as it is sent: on one line, without escapes beyond JSON's own."""
    return count(json.dumps(value, ensure_ascii=False))


def fits(text: str, budget: int) -> bool:
    """Whether `text` has at most `budget` tokens; answered at once when its bytes alone are no more, for no token is shorter than a byte."""
    whole = _whole(text)
    if len(whole.encode()) <= budget:
        return True
    return budget >= 0 and load().count_till_limit(whole, budget) is not None


@lru_cache(maxsize=1)
def load() -> _Encoder:
    """Load the vocabulary now; later calls cost nothing."""
    # Only the compiled encoder: importing the package around it takes ten times as long, for a second copy of the vocabulary in Python.
    package = find_spec(_PACKAGE)
    spec = PathFinder.find_spec("_bindings", package.submodule_search_locations) if package is not None else None
    if spec is None or spec.loader is None:
        raise ImportError(f"{_PACKAGE} is not installed with its compiled encoder", name=_PACKAGE)
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    return cast("_Encoder", compiled.tokenizer_for_encoding(ENCODING))


def _whole(text: str) -> str:
    """`text` with every lone surrogate, which UTF-8 cannot carry, replaced by one character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
