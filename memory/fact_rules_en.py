"""How people state facts in English: the sentences `memory.facts` knows, as patterns over one clause.

A rule names the kind of fact, its key (or takes it from the clause) and what its value must look like. Rules are tried in order, and what one
has read no later one reads again, so the particular stands before the general. `memory.fact_rules_zh` is the same for Chinese.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from memory.fact_words import openings
from memory.session_memory import FactKind

Check = Literal["when", "number", "id", "name", "place", "words", "any"]


class Rule(NamedTuple):
    """One way of saying a fact. The pattern has a group `value` and, when `key` is empty, a group `key`."""

    kind: FactKind
    key: str
    """Fixed key; empty: from the clause. One that ends in ":" is completed by the value, so that several such facts can stand side by side."""
    check: Check
    """What the value must be: a day or time, a number, an id, a person's name, a place, a few words, or whatever was said."""
    pattern: re.Pattern[str]
    words: tuple[frozenset[str], ...] = ()
    """Of each of these one must be among the clause's words, or the pattern finds nothing."""
    small: bool = False
    """The pattern reads the clause in small letters."""


_IS: Final = (
    "[:=]|is|are|will|has|should|must|stays|remains|was|got|have|been|moved|changed|extended|postponed|pushed|brought|updated|raised|reduced|"
    "increased|went|dropped|rose"
)
"""What the ways of saying "is" begin with."""


def rule(kind: FactKind, key: str, check: Check, pattern: str, *words: str) -> Rule:
    """A rule of a pattern in which `~` stands for the ways of saying "is". `words`: alternatives one of which it cannot do without.

    Patterns are of small letters and read a text in small letters: to ignore case while searching takes three times as long.
    One with a part in which case matters reads the text as it is.
    """
    is_ = (
        r"(?:\s*[:=]\s*|,? (?:is|are|will be|has to be|should be|must be|is now|are now|is set (?:to|for|at)|is still|stays|remains|(?:is |was |"
        "has |got |has been |have |been )*(?:moved|changed|extended|postponed|pushed|brought forward|updated|raised|reduced|"
        "increased|went up|went down|went|dropped|rose)(?: from [^;]{1,20}?)? (?:to|"
        "until))(?: now)? )"
    )
    said = (*words, _IS) if "~" in pattern and "(?:~|" not in pattern else words
    small = "(?-i:" not in pattern
    return Rule(kind, key, check, re.compile(pattern.replace("~", is_), re.NOFLAG if small else re.IGNORECASE), tuple(map(openings, said)), small)


_REST: Final = r"(?P<value>[^;]{1,200})"
_DUE: Final = (
    "deadline|due date|cut-?off(?: date)?|target date|launch date|launch|go-?live(?: date)?|release date|delivery date|end date|start date|"
    "kick-?off|ddl|demo|meeting(?: time| date)?"
)
_SETTING: Final = (
    "ports?|time-?out|environment|env|region|branch|version|host(?:name)?|data ?base|currency|time ?zone|replicas|retries|retry limit|"
    "max retries|threshold|format|log level|model|"
    "batch size|page size|memory limit|cpu limit|repo(?:sitory)?|base url|endpoint|channel|schedule|interval|mode|cluster|namespace|bucket|"
    "table|ttl|concurrency|temperature|language|theme|colou?r|size"
)
_AMOUNT: Final = (
    r"total (?:costs?|price|budget|amount)|budget|prices?|unit price|costs?|total|limit|cap|quantity|discount|fee|salary|deposit|amount|quota|head ?count|"
    r"number of \w+|"
    "invoice total|hourly rate|rate|capacity|guest count|team size"
)
_NOUN: Final = (
    "(?:purchase |sales |work )?order|ticket|invoice|issue|case|incident|pr|pull request|tracking|customer|account|booking|reservation|"
    "reference|ref|sku|contract|bug|job|build|"
    r"project|request|po|flight|transaction|payment|shipment|package|asset|device|employee|user"
)
_ROLE: Final = (
    "(?:project |product |tech |team |account |release )?(?:owner|manager|lead|leader)|pm|contact|contact person|point of contact|reviewer|"
    "approver|assignee|dri|designer|"
    r"on-?call|editor|organi[sz]er|coordinator|sponsor|architect|supplier|vendor"
)
_PLACED: Final = r"customer|client|office|warehouse|meeting|event|server|servers|team|venue|supplier|party|conference|offsite|data ?cent(?:er|re)"
STAGE: Final = r"staging|production|prod|dev(?:elopment)?|test(?:ing)?|uat|sandbox|qa|pre-?prod(?:uction)?|canary"
_PICK: Final = (
    "(?:(?:ok(?:ay)?|then|so|and|no|actually|yes|instead|alright|fine),? )*(?:(?:please |just )?|let'?s |let us |we'?ll |we will |"
    "we are going to |we're going to |i'?ll |i will |i'd like to |"
    r"we(?:'ve| have)? (?:decided|agreed) to |(?:you )?(?:can |should )?(?:please ))(?:just |then )?"
    r"(?:use|go with|go for|take|pick|choose|select|stick with|stick to|switch to|opt for|settle on)"
)
_CHOSEN: Final = "use|go|take|pick|choose|select|stick|switch|opt|settle"
_DO_NOT: Final = (
    "(?:touch|change|delete|remove|use|deploy|send|share|e-?mail|contact|tell|modify|exceed|spend|restart|merge|push|invite|mention|include|"
    "overwrite|book|buy|order|"
    "call|message|ping|notify|post|publish|release|go over|edit|close|cancel|drop|run|schedule|charge|migrate|upgrade|store|log|copy|"
    "disclose|put|add|copy)"
)

RULES: Final[tuple[Rule, ...]] = (
    # preferences of the speaker
    rule("preference", "name", "name", r"\b(?:my name is|my name's|please call me|^call me|i go by) (?P<value>[^,;]{1,60})", "name|call|go"),
    rule(
        "preference",
        "language",
        "any",
        "^(?:please )?(?:answer|reply|respond|write|speak|talk)(?: to me| back)? in (?P<value>english|chinese|mandarin|german|french|spanish|"
        r"japanese|korean)\b",
    ),
    rule("preference", "language", "any", r"^in (?P<value>english|chinese|mandarin|german|french|spanish|japanese|korean),? please$"),
    rule(
        "preference",
        "answer style",
        "any",
        "^(?:(?:please|from now on|in future|next time|always|you should|i want you to),? )*"
        "(?P<value>(?:keep (?:it|your answers?|answers?|replies|your replies) (?:short|brief|"
        "concise|simple)|"
        "(?:answer|reply|respond)(?: more)? (?:briefly|concisely|shortly|in detail|in bullet points|with bullet points|in one sentence|"
        "with a table)|be (?:brief|concise|more concise|more detailed)|"
        r"(?:short|brief|concise|shorter|detailed) (?:answers|replies)|use bullet points|no emojis?|don't use emojis?))(?: from now on)?(?:,? please)?$",
    ),
    rule("preference", "allergy:", "any", r"\bi(?:'m| am) (?:\w+ )?allergic to (?P<value>[\w ]{2,60})", "allergic"),
    rule(
        "preference",
        "diet",
        "any",
        r"\bi(?:'m| am) (?:a )?(?P<value>vegetarian|vegan|pescatarian|lactose intolerant|gluten[- ]free|diabetic|coeliac|celiac)\b",
        "vegetarian|vegan|pescatarian|lactose|gluten|diabetic|coeliac|celiac",
    ),
    rule("preference", "dislike:", "any", r"^i (?:don'?t|do not) (?:eat|drink|like) (?P<value>[\w ]{2,60})$"),
    rule("preference", "preference:", "any", r"^i (?:always |really )?prefer (?P<value>[\w -]{2,80})$"),
    rule("preference", "location", "place", r"\bi(?:'m| am) based in (?P<value>[\w ]{2,40})|\bi live in (?P<value2>[\w ]{2,40})", "based|live"),
    rule(
        "preference",
        "",
        "any",
        r"\bmy (?P<key>time ?zone|e-?mail(?: address)?|phone(?: number)?|birthday|favou?rite [\w ]{2,20}|job title|team|address|seat|dress size|"
        "shoe size)~(?P<value>[^,;]{1,100})",
        "my",
    ),
    # dates by which something must be
    rule("deadline", "", "when", rf"\b(?P<key>{_DUE})(?: (?:for|of) [\w ./'#-]{{1,30}}?)?~(?:on |by |at |until )?{_REST}", _DUE),
    rule("deadline", "deadline", "when", rf"\b(?:due|no later than|at the latest by|latest by)(?: (?:by|on|before|at|in))? {_REST}", "due|later|latest"),
    rule(
        "deadline",
        "deadline",
        "when",
        rf"\b(?:needs?|must|has to|have to|want) [^;]{{0,60}}?\b(?:by|before|until) {_REST}",
        "needs?|must|has|have|want",
        "by|before|until",
    ),
    rule("deadline", "", "when", rf"^(?P<value>[^;]{{1,40}}?) is (?:the|our) (?:hard |final |new )?(?P<key>{_DUE})$", _DUE),
    rule("deadline", "deadline", "when", r"\b(?:by|before) (?P<value>[^;]{1,60}?),? at the latest", "latest"),
    # what was chosen
    rule(
        "choice",
        "environment",
        "any",
        rf"^{_PICK} (?:the )?(?P<value>{STAGE})(?: env(?:ironment)?)?"
        rf"(?:,? (?:not|instead of|rather than|and not) (?:the )?[\w-]{{1,20}})?(?: for now| instead| then| again|,? please)*$",
        _CHOSEN,
    ),
    rule(
        "choice",
        "choice",
        "any",
        f"^{_PICK} (?:the )?(?P<value>(?:first|second|third|fourth|fifth|last|other|middle|cheap(?:er|est)|larger|smaller|former|"
        "latter)(?: (?:one|option|slot|of them|plan|version|hotel))?)(?:,? please)?$",
        _CHOSEN,
    ),
    rule(
        "choice",
        "",
        "any",
        f"^{_PICK} (?P<value>(?P<key>plan|option|variant|template|design|version|region|model|route|proposal|branch|"
        r"package) [\w.-]{1,20})\b(?:,? please| then| instead| for now)?$",
        _CHOSEN,
    ),
    rule("choice", "", "any", rf"^{_PICK} (?:the )?(?P<value>[\w.&' -]{{1,40}}) (?:for|as) (?:the |our )?(?P<key>[\w -]{{2,30}})$", _CHOSEN),
    rule(
        "choice",
        "choice:",
        "words",
        rf"^{_PICK} (?:the )?(?P<value>(?-i:[\w.&'/-]*[A-Z0-9][\w.&'/-]*)(?: [\w.&'/-]+){{0,2}})(?:,? please| then| instead)?$",
        _CHOSEN,
    ),
    rule(
        "choice",
        "choice:",
        "words",
        r"^(?:(?:ok(?:ay)?|then|so|and|no|actually|yes|instead|alright|fine),? )*(?:let'?s|we'?ll|we will|we(?:'ve| have)? (?:decided|agreed) to) "
        r"(?:use|go with|go for|pick|choose|select|stick with|switch to|opt for|settle on) (?:the )?(?P<value>[\w.&'/-]+(?: (?!to\b|of\b|in\b|"
        r"on\b|as\b|when\b|well\b)[\w.&'/-]+){0,2})$",
        _CHOSEN,
    ),
    # what was set
    rule("setting", "", "number", r"\b(?:the |our )?(?P<key>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)~(?P<value>[^,;]{1,60})", "_"),
    rule(
        "setting",
        "",
        "words",
        "^(?:(?:please|and|then|so|ok|no|let's),? )*(?:set|change|increase|reduce|raise|lower|bump|update|switch|move|push|postpone|extend) (?:the |"
        r"our )?(?P<key>[\w -]{2,40}?)(?: from [\w.]{1,20})? (?:to|at) (?P<value>(?:[^,;]|,(?=\d{3})){1,60})",
        "set|change|increase|reduce|raise|lower|bump|update|switch|move|push|postpone|extend",
    ),
    rule(
        "amount",
        "",
        "number",
        rf"\b(?P<key>{_AMOUNT})(?: for [\w .-]{{1,30}}?)?(?:~| of | is | )(?:fixed at |limited to |capped at |at most |up to |max(?:imum)? |"
        f"about |around |roughly |exactly )*{_REST}",
        _AMOUNT,
    ),
    rule("amount", "", "number", rf"^(?P<value>[^;]{{1,40}}?) is (?:the|our) (?:total |final |new )?(?P<key>{_AMOUNT})$", _AMOUNT),
    rule("amount", "budget", "number", r"\bwe (?:have|can spend)(?: up to| at most| a budget of)? (?P<value>[¥$€£]\s?\d[^;]{0,40})", "[¥$€£]"),
    # people, places
    rule("entity", "", "name", rf"\b(?:the |our |your |new ){{0,3}}(?P<key>{_ROLE})(?: (?:for|of|on) [\w ./'#-]{{1,30}}?)?~{_REST}", _ROLE),
    rule(
        "entity",
        "",
        "name",
        rf"^(?:(?:and|so|also|fyi),? )*(?P<value>(?:<@\w+>|@\w+|[\w.-]+(?: [\w.-]+)?)) (?:is|will be) (?:the|our|my|your) (?:new )?(?P<key>{_ROLE})\b",
        _ROLE,
    ),
    rule("entity", "", "any", rf"\b(?P<key>(?:shipping|delivery|billing|office|home|postal)? ?address)~{_REST}", "address"),
    rule(
        "entity",
        "",
        "place",
        rf"\b(?:the |our )(?P<key>{_PLACED}) (?:is|are|will be|takes place|is held)(?: located| based| hosted)? (?:in|at) (?P<value>[^;,]{{2,60}})",
        _PLACED,
    ),
    # ids with their noun
    rule("entity", "", "id", rf"\b(?P<key>{_NOUN})(?: (?:number|no\.?|id|code|key))?(?: is |\s*[:=]\s*| |(?=#))(?P<value>[#a-z0-9][^;]{{0,60}})", _NOUN),
    rule("setting", "", "words", rf"\b(?:the |our )?(?P<key>{_SETTING})~(?P<value>[^,;]{{1,60}})", _SETTING),
    # what must not or must be, and what was decided
    rule(
        "other",
        "constraint:",
        "any",
        "^(?:(?:please|and|but|also|just),? )*(?P<value>(?:don'?t|do not|never|we (?:must not|mustn't|can'?t|cannot|may not)|you (?:must not|"
        rf"mustn't|may not)) (?:ever )?{_DO_NOT}\b[^;]{{0,120}})",
    ),
    rule(
        "other",
        "constraint:",
        "any",
        r"(?<![\w' ])(?P<value>(?:[\w' ]{1,40} )?(?:must not|mustn't|must never|may not|must stay|must remain|must be (?:under|below|within|at least|"
        "at most)|no more than|at most) [^;]{2,120})",
        "must|mustn|may|more|most",
    ),
    rule(
        "other",
        "decision:",
        "any",
        r"\b(?:we(?:'ve| have)?(?: all)? (?:decided|agreed)(?: to| on| that| not to)?|it'?s decided:?|decision:|decided:) (?P<value>[^;]{3,160})",
        "decided|agreed|decision",
    ),
)

_SKIP: Final = (
    r"if|suppose|supposing|assuming|assume|unless|imagine|in case|whether|would|could|might|may be|maybe|perhaps|probably|possibly|"
    "presumably|i think|i guess|i believe|i suppose|"
    "not sure|unsure|don't know|dunno|no idea|wonder(?:ing)?|seems?|apparently|rumou?r|supposedly|hopefully|ideally|i wish|i hope|"
    r"for example|for instance|e\.g\.|such as|"
    "used to be|last year|last time|back then|what about|how about|or something|tbd|to be decided|to be confirmed|i doubt|doubt it|"
    r"should we|shall we|what if|once upon|let's say|say we|thinking about|considering"
)
SKIP: Final = re.compile(rf"\b(?:{_SKIP})\b")
"""Words, in small letters, that make a clause a guess, a case or an example instead of a statement."""
SKIP_WORDS: Final = openings(_SKIP)
ASKS: Final = re.compile(
    r"^(?:(?:so|and|but|hey|hi|ok|well|or|also|sorry|wait|<@\w+>,|@\w+,),? )*(?:is|are|was|were|am|do|does|did|can|could|should|shall|will|"
    "would|may|have|has|isn't|aren't|doesn't|don't we|what|what's|when|when's|"
    r"where|where's|who|who's|whose|which|why|how|any|anybody|anyone) ",
    re.IGNORECASE,
)
TAGS: Final = re.compile(
    r"^(?:right|ok|okay|correct|yes|no|true|isn't it|is it|is that right|is that correct|agreed|or|or not|or what|yeah|huh|or [\w ]+)$", re.IGNORECASE
)
"""A last word that asks whether what was said before is so."""
NEGATED: Final = re.compile(r"\b(?:is|are|was|were|will|does|do|did|has|have)(?: not|n't)\b|\bno longer\b", re.IGNORECASE)
EMPTY: Final = re.compile(
    "^(?:not|no|none|unknown|unclear|open|it|that|this|them|these|those|fine|good|ok|okay|wrong|right|correct|too|very|so|still|what|tight|"
    "late|broken|down|up|important|there|here|gone|empty|missing|"
    "failing|ready|done|full|busy|slow|high|low|big|small|in|on|at|being|the same|a|an|over|something|anything|whatever|either|both|one|my|"
    r"your|his|her|their|care|place|advantage|look|time|note|nothing|later|yet|dead|great|tough|hard|fun|easy|"
    r"cool|nice|amazing|awesome|beautiful|wisely|carefully|common|caution|cancelled|canceled|postponed|off)\b(?!@)",
    re.IGNORECASE,
)
"""Beginnings of a value that says nothing."""

CORRECTS: Final = re.compile(
    "^(?:(?P<cue>(?:no|nope|actually|sorry|correction|wait|oops|i mean|i meant|my mistake|my bad|scratch that|hold on|hmm|ok|"
    "okay|oh|i was wrong|that'?s wrong|wrong)[,:.!]* (?:(?:no|actually|sorry|wait|i meant|i mean)[,:.]* )*)?"
    "(?P<strong>it'?s back to|(?:go |switch |change )?back to|(?:it |that |we )?(?:stays?|remains?)(?: with| at)?|it'?s still|it is still|"
    "it'?s now|it is now|make (?:it|that)|change (?:it|that) to|(?:it )?should be|"
    "it (?:was |got |has been |is )?(?:moved|"
    "changed|postponed|pushed) to|(?:use|take|go with|let'?s (?:use|take|go with)))?"
    r"(?P<weak>it'?s|it is|that'?s|that is|they'?re)?) ?(?:on |the )?(?P<value>(?:[^;,?]|,(?=\d{3})){1,60}?)(?: instead|,? please|"
    ",? not (?P<old>[^;,?]{1,40}))?$",
    re.IGNORECASE,
)
NOT_BUT: Final = re.compile(
    r"^(?:it'?s |it is )?not (?:on |at |by )?(?P<old>(?:[^;,?]|,(?=\d{3})){1,40}?)"
    r"(?:,? (?:but|it'?s|it is|rather|instead)|,) (?:on |at |by |it'?s )*(?P<value>(?:[^;,?]|,(?=\d{3})){1,60})$",
    re.IGNORECASE,
)
INSTEAD: Final = re.compile(
    r"^(?:(?:it'?s|it is|that'?s|on|at|by|the) )*(?P<value>(?:[^;,?]|,(?=\d{3})){1,40}?),? (?:and )?(?:not|instead of|rather than) (?:on |at |by |the )?"
    r"(?P<old>(?:[^;,?]|,(?=\d{3})){1,40})$",
    re.IGNORECASE,
)
"""A new value and the one it replaces: "Thursday, not Friday"."""
CORRECTS_WORDS: Final = openings(
    "no|nope|actually|sorry|correction|wait|oops|i|my|scratch|hold|hmm|ok|okay|it|make|change|should|use|take|go|let|not|"
    "oh|wrong|that|we|stay|stays|remain|remains|back|switch"
)
"""What corrects begins with one of these."""

WITHDRAWS: Final = re.compile(
    r"\b(?:(?:forget|ignore|drop|scrap|never ?mind|disregard)(?: about)? (?:the |our |my |that )?(?P<a>[\w -]{2,40}?)(?: (?:any ?more|"
    "for now|please|limit|constraint|i mentioned|i gave))?|"
    r"(?:there(?:'s| is) )?no (?:more )?(?P<b>[\w -]{2,40}?)(?: limit)? (?:any ?more|any longer)|"
    r"(?<![\w -])(?:the |our |my )?(?P<c>[\w -]{2,40}?) (?:no longer (?:applies|matters|counts|holds)|"
    r"doesn't (?:matter|apply|hold|stand|exist|count)(?: any ?more| any longer)?|is off the table)|"
    r"(?<![\w -])(?:(?:and|but|so|sorry|update|note|the|our|my) )*(?P<e>[\w -]{2,40}?)(?:'s| is| was| has been| got| are) (?:now )?(?:cancell?ed|called off|"
    r"dropped|scrapped|void|"
    r"obsolete|not valid any ?more|no longer valid|gone|removed|lifted|withdrawn|off|not needed any ?more|unlimited|open-ended)(?: now| altogether)?|"
    r"^(?:(?:and|but|so|sorry|actually),? )*(?:there(?:'s| is) |we have |we've got )?"
    r"no (?:more |hard |fixed |real )?(?P<g>[\w-]{2,20}(?: [\w-]{2,20})?)|"
    r"(?:cancel|remove|lift) (?:the |our )?(?P<d>[\w -]{2,40}?)(?: limit| constraint| restriction| cap)?)$",
    re.IGNORECASE,
)
"""Saying that a fact holds no longer; group d is weak: of an order, "cancel" is a request."""
WITHDRAWS_WORDS: Final = openings(
    "forget|ignore|drop|scrap|never|nevermind|disregard|no|doesn|off|cancel|remove|lift|cancelled|canceled|called|dropped|scrapped|void|obsolete|not|gone|"
    "removed|lifted|withdrawn|unlimited|open"
)
"""Without one of these nothing is taken back."""
