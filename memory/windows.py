"""How much a model can read at once, by its name: the figure every budget of the context starts from.

Endpoints do not say how large their model's window is, so it is looked up here by the beginning of the name, the longest that fits. Where
a family's members differ, the smaller one counts: a window thought too small costs a little memory, one thought too large costs an error in
the middle of a conversation. What is not known is taken for a small model of today. An operator who knows better says so in a setting.
"""

from __future__ import annotations

import re
from typing import Final

UNKNOWN_WINDOW: Final = 32_000
"""Tokens, for a model nobody has told us about."""

DEFAULT_CAP: Final = 128_000
"""Tokens used at most when nothing was chosen: more is slow and dear, and a model finds less in it."""

WINDOWS: Final[dict[str, int]] = {
    "gpt5": 400_000,
    "gpt5-chat": 128_000,
    "gpt4.1": 1_047_576,
    "gpt4.5": 128_000,
    "gpt4o": 128_000,
    "chatgpt4o": 128_000,
    "gpt4-turbo": 128_000,
    "gpt4-1106": 128_000,
    "gpt4-0125": 128_000,
    "gpt4": 8_192,
    "gpt3.5": 16_385,
    "gpt3.5-turbo-instruct": 4_096,
    "gpt35": 16_385,
    "gpt-oss": 131_072,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "codex-mini": 200_000,
    "claude": 200_000,
    "gemini": 1_048_576,
    "gemma": 8_192,
    "gemma3": 131_072,
    "gemma3-1b": 32_768,
    "gemma3:1b": 32_768,
    "qwen": 32_768,
    "qwen-plus": 131_072,
    "qwen-turbo": 131_072,
    "qwen3-coder": 262_144,
    "qwen3-max": 262_144,
    "qwen3-next": 262_144,
    "qwq": 32_768,
    "llama": 4_096,
    "llama2": 4_096,
    "llama3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "llama3p1": 131_072,
    "llama3p2": 131_072,
    "llama3p3": 131_072,
    "llama4": 1_048_576,
    "mistral": 32_768,
    "mistral-nemo": 131_072,
    "mistral-medium": 131_072,
    "mistral-large": 131_072,
    "ministral": 131_072,
    "mixtral": 32_768,
    "mixtral8x22b": 65_536,
    "codestral": 32_768,
    "devstral": 131_072,
    "magistral": 40_960,
    "deepseek": 65_536,
    "deepseek3": 131_072,
    "deepseek-r1": 131_072,
    "deepseek-llm": 4_096,
    "deepseek-coder": 16_384,
    "glm4": 131_072,
    "glm4.6": 200_000,
    "glm5": 200_000,
    "chatglm": 8_192,
    "kimi": 131_072,
    "minimax": 196_608,
    "phi3": 4_096,
    "phi4": 16_384,
    "command-r": 131_072,
    "command-a": 131_072,
    "granite3": 131_072,
    "granite4": 131_072,
    "grok": 131_072,
    "grok4": 256_000,
    "nemotron": 131_072,
    "yi": 4_096,
    "internlm": 32_768,
    "smollm": 8_192,
    "doubao": 32_768,
    "hunyuan": 32_768,
}
"""Tokens of context by the beginning of the name, written as `family` writes it."""

_LONGEST_FIRST: Final = sorted(WINDOWS, key=lambda prefix: (-len(prefix), prefix))
_SAID = re.compile(r"(?:^|[-_:])(\d{1,4})(k|m)(?=$|[-_:])")


def _last(model: str) -> str:
    return model.strip().lower().rsplit("/", 1)[-1]


def family(model: str) -> str:
    """A model's name without what does not tell the model: `openai/gpt-4o` and `ft:gpt-4o:us` begin with `gpt4o`, `meta-llama/Llama-3.1` with `llama3.1`."""
    name = _last(model).removeprefix("ft:")
    name = re.sub(r"^(?:meta|openai|azure|google|mistralai|deepseek-ai|anthropic)[-_.](?=[a-z])", "", name)
    return re.sub(r"(?<=[a-z])(?:[-_ ]v?|v)(?=\d)", "", name)


def window_of(model: str) -> int:
    """The tokens `model` can hold, question and answer together. A size in the name itself (`-32k`, `-1m`) wins over its family's."""
    name = family(model)
    said = _SAID.search(_last(model))
    if said is not None and int(said[1]) > 0:
        return int(said[1]) * (1_000 if said[2] == "k" else 1_000_000)
    return next((WINDOWS[prefix] for prefix in _LONGEST_FIRST if name.startswith(prefix)), UNKNOWN_WINDOW)
