"""Whether a message may hold something lasting that a model should read: most messages do not, and each reading costs. Pure and cheap."""

from __future__ import annotations

import re
from typing import Final

from memory.longterm.candidate import Said
from memory.longterm.own_words import sentences

_OWN: Final = re.compile(r"\b(?:i|i'm|i've|i'd|my|mine|me|we|we're|our|us)\b|我|咱|俺|本人", re.IGNORECASE)
_LASTING: Final = re.compile(
    r"\b(?:always|never|usually|prefer\w*|favou?rite|like|love|hate|allergic|allerg\w*|live|work|born|birthday|call me|name is|moved?|no longer|any ?more|stopped|started|from now on|every|"
    r"remember|note that|keep in mind|fyi|team|decided|agreed|policy|rule|default|deadline|vacation|holiday|trip|next (?:week|month|year)|tomorrow|plan\w*|going to|can't|cannot|don't|"
    r"mainly|mostly|currently|these days|responsible|based in|speak|learn\w*|study\w*|own|use|used to|sit|desk|pronouns?|time ?zone|hours|join\w*|report to|working on|degree|pet|dog|cat)\b"
    r"|总是|从不|一般|通常|习惯|喜欢|讨厌|最爱|过敏|住在|工作|负责|出生|生日|叫我|我叫|搬|不再|以后|今后|每|记住|记得|别忘|约定|决定|规定|默认|截止|休假|请假|出差|旅行|下周|下个?月|明天|计划|打算|不能|不吃|不喝|正在|目前|会说|在学|养了|用的是|以前|工位|座位|时区|上班|下班|汇报|入职|毕业|团队|部门|擅长|爱好|怕",
    re.IGNORECASE,
)
_SHORT: Final = 6
"""Characters below which nothing lasting is said (Chinese says much in few)."""


def worth_asking(said: Said) -> bool:
    """True when some sentence states something of the person's own with words of what lasts. Questions, thanks, commands and pasted text do not count."""
    return any(
        not sentence.asks and len(sentence.text) >= _SHORT and _OWN.search(sentence.text) and _LASTING.search(sentence.text)
        for sentence in sentences(said.text)
    )
