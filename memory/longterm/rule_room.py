"""What a room agreed on, and wishes for one sort of case ("when I check orders, just tell me where it is")."""

from __future__ import annotations

import re
from typing import Final

from memory.longterm.memory import Kind
from memory.longterm.rule_form import END, END_ZH, LEAD, LEAD_ZH, Rule, en, zh

ROOM: Final[tuple[Rule, ...]] = (
    Rule(
        "agreement",
        en(
            rf"(?:(?:the team|everyone|we(?:'ve| have)?)(?: all)? (?:have )?(?:agreed|decided)(?: (?:that|to|on))?|our (?:team )?(?:rule|policy|convention|agreement)(?:'s| is)(?: that| to)?|team (?:rule|agreement)[:,]?) (?P<o>.{{4,160}}?){END}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.7,
    ),
    Rule(
        "agreement",
        en(
            rf"we (?:always |never |usually |only )?(?P<o>(?:deploy|release|ship|meet|review|merge|rotate|have (?:our )?(?:stand-?up|retro|planning|sync)|do (?:stand-?ups?|retros?|releases|deployments)|use|freeze)\b.{{2,120}}?){END}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.65,
    ),
    Rule(
        "agreement",
        zh(
            rf"(?:(?:我们|团队|大家|咱们|本组|组里)(?:已经|都|一致)?(?:约定|决定|商定|同意|规定|说好)(?:了|好)?(?:，|,|：|:)?|团队(?:规定|约定)(?:是)?[：:，,]?)(?P<o>[^。]{{3,80}}?){END_ZH}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.7,
    ),
    Rule(
        "agreement",
        zh(
            rf"(?:我们|咱们|团队)(?P<o>(?:(?:每(?:周|天|月|个)|只在|一般在|固定在|都在|统一)[^。]{{2,60}}?|用[^。]{{2,40}}?(?:管理|跟踪|部署|协作)))(?P<v>){END_ZH}"
        ),
        Kind.AGREEMENT,
        rooms=True,
        importance=0.65,
    ),
)

CASES: Final[tuple[re.Pattern[str], ...]] = (
    re.compile(
        rf"^{LEAD}(?P<c>(?:when|whenever|every time|each time|any time|if) (?:i|you|we|somebody|someone|there)\b[^,，]{{3,80}}?)(?:\s*[,，]\s*|\s+(?=(?:please|just|only|always|never|don't|do not|skip|show|tell|give|use|start|begin|answer|leave|lead|put|you (?:should|must|can|could))\b))(?P<o>.{{4,200}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{LEAD}(?:for|in|on) (?P<c>(?:my |all |every )?[\w -]{{3,30}}?)\s*[,，]\s*(?P<o>(?:please |just |always |only )*(?:tell|show|give|use|skip|leave|start|lead|put|answer|write)\b.{{3,160}})$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^{LEAD_ZH}(?P<c>(?:以后|今后|每次|每当|当|凡是|只要|如果)?(?:我|你|帮我|给我|有人)?[^，,。]{{2,24}}?(?:的时候|时|的话|时候))[，, ]*(?P<o>(?:请|就|都|只|直接|先|别|不要|不用|给我|告诉我|用|跳过|务必|一定)[^。]{{2,80}})$"
    ),
    re.compile(
        rf"^{LEAD_ZH}(?P<c>(?:以后|今后|每次|凡是)(?:我|帮我|给我)?(?:查|看|问|写|做|订|发|约|改|翻译|总结|汇报|部署|开|点)[^，,。]{{1,8}}?)(?P<o>(?:都|就|请|只|直接|先|别|不要|不用|跳过)[^。]{{2,80}})$"
    ),
    re.compile(
        rf"^{LEAD_ZH}(?P<c>(?:以后|今后|每次|凡是|只要)(?:我|帮我|给我)?[^，,。]{{2,16}}?)(?:[，,] *|(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff]))(?P<o>(?:请|就|都|只|直接|先|别|不要|不用|给我|告诉我|用|跳过)[^。]{{2,80}})$"
    ),
)
"""A wish for one sort of case: "when I check orders, just tell me where it is"."""
