"""What a tool must say about itself before a model may choose it.

A model picks tools by their descriptions and fills them in by their parameters' descriptions; one that says "get data" is called at
the wrong time with the wrong values, and two that say the same are confused with each other. `lint` looks at one tool, `lint_set` at
tools beside each other; both are pure and answer with findings that say what to write. `@tool` refuses a tool with findings, the
registry a set with findings. English and Chinese descriptions are read alike.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.tool import Tool

ALIKE: Final = 0.84
"""Share of content words from which two descriptions cannot be told apart (1: the same words)."""

_LEAST_WEIGHT = 20
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W_]+")
_DIRECTED = re.compile(r"\bfrom\b|从|由", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_singular(word) for word in text.split())


_WHAT_TO_WRITE = (
    "Give the function a docstring that tells the model what it does, what it takes, what it returns, when to use it and when not; for example: "
    '"""Cancel one order that has not shipped; returns the refund. Use only when the person asks to cancel; not for returns."""'
)

_SMALL_WORDS = _words_of(
    "a an and any are as at be been by can do each every for from has have if in into is it its of one or our s single so some such t that the their them "
    "then there these they this those to up us using via was we were what when where which will with you your"
)
"""Words that carry no meaning of their own here. Those that turn a sentence round (not, no, on, off, all, before, after) are not among them."""
_VAGUE_WORDS = _words_of(
    "access action arg argument array backend bool boolean call compute custom data dict do does doing entity execute fetch field float function general "
    "generic get getting give given handle handling help helper id identifier info information input integer item list main make manage managing method "
    "misc name needed number object operation option output param parameter perform performing process processing provide relevant request requested "
    "required result retrieve return run simple something specified string stuff system task text thing tool use used useful user using utility value "
    "variable various work working"
)
_VAGUE_CHINESE = re.compile(
    "获取|得到|取得|查询|查看|返回|处理|执行|进行|操作|管理|提供|使用|调用|运行|实现|完成|支持|数据|信息|内容|东西|结果|功能|函数|工具|方法|接口|参数|变量|字段|输入|输出|"
    "相关|各种|一些|某些|任何|所有|需要|指定|对应|用户|系统|通用|字符串|数字|整数|列表|对象|名称|名字|编号|标识|取值|的值|值|用于|用来|这个|该|此|一个|的|了|和|与|或|为|是|在|及|等|所|并|对|将|把|请|从|到|由|可以|能"
)
_SAME_CHINESE = (
    (re.compile("获取|得到|取得|查询|查看|查找|读取|检索|返回|显示|列出"), "查"),
    (re.compile("更新|修改|更改|变更|编辑|调整"), "改"),
    (re.compile("删除|移除|去掉|清除"), "删"),
    (re.compile("创建|新建|新增|添加|增加|建立"), "建"),
    (re.compile("发送|发出|发布"), "发"),
    (re.compile("一个|一条|一份|一项|指定|某个|该|此|的|了|请|将|把|所有|详细|相关|信息|数据|内容"), ""),
)
_SAME_ENGLISH = {
    word: meaning
    for meaning, words in {
        "get": "fetch find give lookup look obtain read retrieve return returns show tell display view see query",
        "change": "update modify edit alter amend set",
        "delete": "remove erase drop",
        "create": "add make new insert register",
        "send": "post publish deliver",
        "person": "user customer people someone",
    }.items()
    for word in words.split()
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a tool's author must mend."""

    tool: str
    """The tool's name."""
    message: str
    """What is wrong and what to write instead, as whole sentences."""
    parameter: str = ""
    """The parameter concerned; empty when it is the tool itself."""


def lint(tool: Tool) -> list[Finding]:
    """What is wrong with what `tool` says about itself and its parameters; empty when a model can work with it."""
    problem = _description_problem(tool)
    findings = [Finding(tool.name, f"Tool {tool.name!r} {problem}. {_WHAT_TO_WRITE}")] if problem else []
    schema = tool.parameters()
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict):
        needed = required if isinstance(required, list) else []
        for name, about in properties.items():
            findings += _parameter_findings(tool.name, name, about if isinstance(about, dict) else {}, required=name in needed)
    return findings


def lint_set(tools: Iterable[Tool]) -> list[Finding]:
    """The pairs among `tools` whose descriptions cannot be told apart, one finding each under the later tool's name."""
    known = [(tool, _own_words(tool.name), _content(tool.description)) for tool in tools]
    findings = []
    for (one, one_name, one_words), (other, other_name, other_words) in itertools.combinations(known, 2):
        if one is not other and _alike(one_words, other_words, one_name ^ other_name, directed=bool(_DIRECTED.search(one.description))):
            message = (
                f"Tools {one.name!r} and {other.name!r} have descriptions that cannot be told apart. Say in each what the other does not do: "
                f'what it works on, what it returns, when to use it and when to use the other instead, for example "... For the other case use {one.name}."'
            )
            findings.append(Finding(other.name, message))
    return findings


def _description_problem(tool: Tool) -> str:
    text = unicodedata.normalize("NFKC", tool.description).strip()
    # One Chinese or Japanese character says about as much as two Latin letters.
    if len(text) + sum(len(run) for run in _CJK.findall(text)) < _LEAST_WEIGHT:
        return "has no real description"
    if _repeats(text, tool.name):
        return "has no real description: it only repeats the name"
    if not _meaning(text):
        return f"has a vague description ({_short(text)!r} would fit any tool)"
    return ""


def _parameter_findings(tool: str, name: str, about: Mapping[str, Any], *, required: bool) -> list[Finding]:
    where = f"Tool {tool!r}: parameter {name!r}"
    write = 'Say what it stands for, in which form or unit, with an example: Annotated[str, Field(description="Full order number, e.g. ABC-20240520-001")].'
    found = []
    description = about.get("description")
    text = unicodedata.normalize("NFKC", description).strip() if isinstance(description, str) else ""
    if not text:
        found.append(Finding(tool, f"{where} has no description. {write}", name))
    elif _repeats(text, name):
        found.append(Finding(tool, f"{where} has a description that only repeats its name ({_short(text)!r}). {write}", name))
    elif not _meaning(text):
        found.append(Finding(tool, f"{where} has a vague description ({_short(text)!r}). {write}", name))
    if required and _takes_null(about):
        remedy = f"Give it the default that was meant, for example {name}: ... | None = None; or remove None from its type."
        found.append(Finding(tool, f"{where} may be null, yet the model must always send it. {remedy}", name))
    return found


def _takes_null(about: Mapping[str, Any]) -> bool:
    kinds = about.get("type")
    choices = about.get("anyOf")
    return (isinstance(kinds, list) and "null" in kinds) or (isinstance(choices, list) and {"type": "null"} in choices)


def _repeats(text: str, name: str) -> bool:
    # In Latin letters only: a Chinese description of a Latin name cannot repeat it.
    own = _own_words(name)
    return not _CJK.search(text) and not any(word not in own and word not in _SMALL_WORDS for word in _words(text))


def _meaning(text: str) -> bool:
    """Whether anything is left of `text` without the words that fit everything."""
    if any(word not in _SMALL_WORDS and word not in _VAGUE_WORDS for word in _words(text)):
        return True
    return any(_VAGUE_CHINESE.sub("", run) for run in _CJK.findall(text))


def _words(text: str) -> list[str]:
    """The words in Latin (or other alphabetic) letters, folded to lower case and singular."""
    plain = _CJK.sub(" ", unicodedata.normalize("NFKC", text))
    return [_singular(word) for word in _WORD.findall(plain.casefold())]


def _own_words(name: str) -> set[str]:
    words = {_singular(word) for part in re.split(r"[_\-.]+", name) for word in _CAMEL.sub(" ", part).casefold().split()}
    return words | {name.casefold()}


def _content(description: str) -> list[str]:
    """What a description says, as comparable tokens: words without the small ones, Chinese as pairs of characters; equal meanings folded."""
    text = unicodedata.normalize("NFKC", description)
    tokens = [_SAME_ENGLISH.get(word, word) for word in _words(text) if word not in _SMALL_WORDS]
    for run in _CJK.findall(text):
        plain = run
        for pattern, meaning in _SAME_CHINESE:
            plain = pattern.sub(meaning, plain)
        tokens += [plain[at : at + 2] for at in range(len(plain) - 1)] or ([plain] if plain else [])
    return tokens


def _alike(one: list[str], other: list[str], telling: set[str], *, directed: bool) -> bool:
    """Whether two descriptions say the same; a word of one only that is also in one name only tells them apart."""
    ones, others = set(one), set(other)
    differing = ones ^ others
    if not differing:
        # The same words may still say two things: "move from A to B", "move from B to A".
        return not directed or one == other
    if differing & telling:
        return False
    return 1 - len(differing) / len(ones | others) >= ALIKE


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
