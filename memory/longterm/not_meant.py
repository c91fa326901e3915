"""What is said and not meant as a lasting statement of the person's own. Pure.

The same checks guard what rules find and what a model extracted: secrets, words that are not the person's, guesses, jokes, questions, texts to
be written or translated, what concerns somebody else's private life, what is sensitive and was not asked to be kept, and what would allow
something. "Why not" is one `Refusal`; None means that nothing speaks against it.
"""

from __future__ import annotations

import re
from typing import Final

from memory.longterm.candidate import Refusal, Said
from memory.longterm.halves import asks_for_good
from memory.longterm.own_words import Sentence, own_words, sentences
from memory.longterm.rule_form import NAME, NAME_ZH, SURNAMES
from memory.longterm.secrets_found import secret
from memory.longterm.wishes import asked

_FLAGS: Final = re.IGNORECASE
_SUPPOSED: Final = re.compile(
    r"\b(?:if i (?:were|was|had|am|could|would|ever|lived|worked|moved|liked|loved|hated|ate|drank|became|spoke|got|won|quit|didn't|weren't)|if only|were i|had i|if we (?:were|had|lived|moved)|suppose|supposing|imagine|pretend|let'?s say|what if|hypothetically|assume|assuming|in theory|"
    r"i wish i|would be|might (?:be|become|like)|maybe i(?:'m| am)?|perhaps i|i could be|i guess i might|act as|role-?play|you are now|say that you)\b"
    r"|假如|假设|如果我(?:是|有|不|变|成|当|能|住|去|搬|喜欢|会|对|吃)(?!.{0,12}(?:的话|的时候|时)?[，,]\s*(?:请|就|都|只|直接|先|别|不要|给我|告诉我|用))|就好了$|该多好|要是我|万一我|倘若|设想|想象一?下|扮演|装作|假装|或许我|也许我|可能我|我可能|说不定|打个比方",
    _FLAGS,
)
_JOKE: Final = re.compile(
    r"\b(?:just kidding|kidding|jk|joking|just a joke|/s|lol jk|haha not really|sarcasm)\b|开玩笑|逗你|说笑|骗你的|哈哈不是|才怪|玩笑话|反话",
    _FLAGS,
)
_SARCASM: Final = re.compile(
    r"\b(?:yeah,? right|as if i|said no one ever|oh (?:sure|great|joy|yeah|wonderful|fantastic|perfect)\b[,.!]* (?:i|my|we)|just what i (?:needed|wanted)|not like i|how i (?:just )?love)\b|🙄|"
    r"呵呵|真是太(?:好|棒|爽|开心|喜欢|爱)了呢|可太(?:喜欢|爱|想|开心)|谁不(?:喜欢|爱)",
    _FLAGS,
)
"""Within the sentence itself: "Oh great, thanks." before another one is nothing but thanks."""
_TO_WRITE: Final = re.compile(
    r"\b(?:translate|translation|write|draft|compose|rewrite|rephrase|proofread|correct|summari[sz]e|post|send|tell (?:him|her|them|bob|everyone)|reply to|say in|how do (?:i|you|we) say|"
    r"how to say|what does|spell|example|e\.g\.|for instance|such as the sentence|lyrics|quote|poem|story|joke about|in the style)\b[^.!?]{0,60}$"
    r"|(?:翻译|写(?:一?封|一?个|一?段|一?条|一?首|一?篇|成|道)|起草|改写|润色|总结|发(?:一条|给|送)|告诉他|告诉她|告诉大家|怎么说|什么意思|例如|比如说|举个?例|造句|歌词|台词|故事|剧本)[^。！？]{0,30}$",
    _FLAGS,
)
_ANOTHER: Final = re.compile(
    r"^(?:and |but |so |remember |note |that |please )*(?:my (?:wife|husband|mother|father|mom|mum|dad|son|daughter|brother|sister|boss|manager|colleague|friend|girlfriend|boyfriend|"
    r"partner|roommate|flatmate|housemate|neighbou?r|kid|child|children|aunt|uncle|cousin|nephew|niece|grandmother|grandfather|grandma|grandpa|teammate|co-?worker|spouse|fianc[ée]e?|ex|in-law|supervisor|client|customer|landlord)s?(?:'s)?\b|(?:he|she|they)\b|(?:his|her|their) |"
    r"(?!(?-i:It|That|This|There|What|Here|Who|Everything|Nothing|Let|Today|Everyone|Everybody|Someone|We|You|My|Our|I)\b)(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?(?:'s|\s+(?:is|was|has|had|likes?|hates?|loves?|lives?|earns?|got|will|wants?|suffers?|never|always|doesn't|isn't|can't|told|said|thinks?))\b|<@\w+>)"
    r"|^(?:记住|记得|请|还有|而且|但是?)*(?:我(?:的)?(?:老婆|老公|妻子|丈夫|妈妈?|爸爸?|母亲|父亲|儿子|女儿|哥哥|弟弟|姐姐|妹妹|老板|经理|领导|同事|朋友|女朋友|男朋友|室友|邻居|孩子|奶奶|爷爷|外公|外婆|爱人|对象|媳妇|前任|同学|客户|上司|上级|主管|下属|组长|侄子|侄女|宝宝|女婿|房东)"
    r"|他|她|他们|她们|小[\u4e00-\u9fff](?![\u4e00-\u9fff]*(?:我|吃|心))|老[王李张刘陈杨赵黄周吴](?=.)|[王李张刘陈杨赵黄周吴徐孙马朱胡林郭何高罗](?:经理|总|工|老师|哥|姐|先生|女士|小姐)|<@\w+>)",
    _FLAGS,
)
_PRIVATE: Final = re.compile(
    r"^(?:and |but |so |remember |note |that |please )*(?!(?-i:It|That|This|There|What|Here|Who|Everything|Nothing|Everyone|Everybody|Someone|We|You|My|Our|Write|Show|Use|Keep|List|Add|Send|Give|Include|Ignore|Skip|Count|Hide|Sort|Make|Avoid|Mark|Put|No|All|Any|Most|Some)\b)(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?(?: (?:really|often|always|secretly|still|probably))? (?:drinks?|drank|smokes?|gambles?|cheats?|cheated|sleeps? (?:with|around)|takes? (?:drugs|pills|antidepressants)|uses? drugs|dated|is dating|fancies|"
    r"flirts?|lies?|lied|steals?|stole|snores?|owes?|beats?|hits?|(?:broke|split) up|divorced|married|fell in love|cries|cried|drives? drunk|goes? to (?:therapy|church|rehab|aa)|weighs?|dyes?|sees? (?:a|his|her) (?:therapist|shrink))\b"
    r"|^(?:记住|记得|请|还有|而且|但是?)*(?:小[\u4e00-\u9fff]|老[\u4e00-\u9fff]|(?-i:[A-Z])[a-z]+|["
    + SURNAMES
    + r"][\u4e00-\u9fff]{1,2}?)(?:经常|总是|老是|偷偷|一直|常常|又|最近)*(?:喝酒|喝太多|酗酒|抽烟|赌博?|出轨|劈腿|吸毒|偷|撒谎|打(?:老婆|孩子)|离婚|恋爱|相亲|欠)",
    _FLAGS,
)
"""What somebody does outside work, or what is only said about them."""
_COMPANY: Final = re.compile(
    r"^(?:and |but |so |remember |note |that |please )*(?!(?:He|She|They|My|His|Her)\b)(?-i:[A-Z][A-Za-z]+)(?: (?-i:[A-Z][A-Za-z]+))? (?:only |always |now |never )?(?:wants?|prefers?|needs?|requires?|expects?|pays?|accepts?|likes?|uses?|bills?|orders?)\b(?![^.]*\b(?:his|her)\b)[^.]*"
    r"\b(?:invoices?|invoiced|bills?|billed|contracts?|purchase orders?|quotes?|payments?|paid|reports?|deliver(?:y|ies|ed)|shipments?|dollars|euros|pounds|usd|eur|gbp|net \d+|receipts?|statements?|specs?|tickets?)\b",
    _FLAGS,
)
"""How a business wants its business done concerns nobody's private life."""
_WORK: Final = re.compile(
    r"\b(?:owns?|is on call|on-?call|is responsible for|is in charge of|reviews?|approves? the|leads?|handles?|maintains?|is the (?:owner|contact|lead))\b|负责|值班|牵头|维护|是.{0,8}(?:负责人|接口人|联系人)",
    _FLAGS,
)
"""What a colleague does at work is no private matter."""
_WORK_TIE: Final = re.compile(
    rf"^(?:and |but |so |also |btw |remember (?:that )?|note (?:that )?|now |actually )*my (?:line |direct |new )?(?:manager|boss|supervisor|team lead)(?: is|'s)(?: now)? {NAME}(?: now)?[.! ]*$"
    rf"|^(?:记住|记得|另外|还有|现在)*[，,]?我的?(?:直属|新)*(?:经理|领导|老板|主管|上级|上司)(?:现在)?(?:是|叫)(?:{NAME_ZH})了?[。！ ]*$",
    _FLAGS,
)
"""Whom one reports to is one's own work: a name, and nothing else about them."""
_SENSITIVE: Final = re.compile(
    r"\b(?:depress\w*|anxiety|bipolar|adhd|autis\w*|cancer|tumou?r|hiv|aids|pregnan\w*|miscarriage|diabet\w*|epilep\w*|asthma|insomnia|migraines?|surgery|chemo\w*|medication|antidepressants?|"
    r"therap(?:y|ist)|psychiatr\w*|disab(?:led|ility)|diagnosed|blood pressure|hepatitis|religio\w*|muslim|christian|catholic|jewish|hindu|buddhist|atheist|church|mosque|temple|synagogue|pray\w*|(?:go(?:ing)?|went) to mass|sertraline|prozac|insulin|zoloft|xanax|ritalin|lithium|statins?|"
    r"vot(?:e|ed|es|ing) for|democrat|republican|communist party|party member|left-wing|right-wing|political\w*|gay|lesbian|bisexual|transgender|queer|sexual\w*|union member|(?:in|of|joined) (?:the|a) union|trade union|labou?r union|"
    r"halal|kosher|ramadan|rehab|alcoholic|hospitali[sz]ed|ivf|criminal record|convicted|arrested|salary|my income|i earn|bankrupt\w*|in debt|divorc\w*|ethnic\w*|immigration status|undocumented)\b"
    r"|抑郁|焦虑症|双相|自闭|癌|肿瘤|艾滋|怀孕|流产|糖尿病|癫痫|哮喘|失眠|偏头痛|手术|化疗|吃药|服药|舍曲林|胰岛素|心理医生|精神科|残疾|确诊|高血压|乙肝|宗教|信教|信仰|穆斯林|基督|天主教|佛教徒|无神论|教堂|祷告|"
    r"投票给|党员|政治立场|左派|右派|清真|斋月|做礼拜|(?<!相)信佛(?!山)|(?<!相)信基督|(?<!相)信主(?!管)|佛教|道教|伊斯兰(?!堡)|戒毒|酗酒|住院|试管婴儿|同性恋|双性恋|跨性别|性取向|工会会员|加入(?:了)?工会|我是工会|做弥撒|前科|犯罪记录|被捕|工资|月薪|年薪|收入|负债|欠债|离婚|民族是",
    _FLAGS,
)
_AUTHORITY: Final = re.compile(
    r"\b(?:always|automatically|auto-?)\s*(?:approve|accept|allow|execute|run|confirm|delete|send|pay|transfer|cancel|click)\b|\bwithout (?:asking|approval|confirmation|permission|a (?:click|card))\b|"
    r"\b(?:approve|execute|run|do) (?:everything|anything|all (?:actions|requests|calls|orders|tools?))\b|\bno (?:need|longer need) (?:to|for) (?:ask|approval|confirm\w*|permission)\b|"
    r"\b(?:you (?:may|can|are allowed to|have permission to)|i (?:authori[sz]e|permit|allow|grant)|pre-?approved?|skip (?:the )?(?:approval|confirmation)|bypass)\b[^.]{0,60}\b(?:approv\w*|delet\w*|cancel\w*|pay\w*|transfer\w*|send\w*|"
    r"admin\w*|access|act|anything|everything|without|ask\w*|confirm\w*|cards?|tools?|permissions?)\b|\bapprove (?:all|every|any|each|whatever)(?: of)?(?: my| the| your| these| future| such| single| of)*(?: \w+)? ?(?:orders?|requests?|payments?|actions?|calls?|cards?|cancell?ations?|purchases?|refunds?|transfers?|i (?:say|ask|want|order))\b|\bskip(?:ping)? (?:the |all |any |my |your )*(?:approvals?|confirmations?|approval cards?)\b|\b(?:orders?|requests?|payments?|actions?) (?:are|is) (?:always |automatically |pre-?)+approved\b|\b(?:have|has|got) my (?:permission|approval|consent|blessing)\b|\b(?:treat|take|count|consider) [^.]{2,40} as (?:approval|approved|consent|permission|a yes)\b|\bcounts? as (?:approved|approval|confirmed)\b|\b(?:ignore|disregard|forget) (?:all |any |the |your |previous |above )*(?:instructions|rules|prompts?|polic(?:y|ies))\b|"
    r"\b(?:i am|i'm) (?:an? |the )?(?:admin(?:istrator)?|root|owner of (?:this|the) workspace|superuser)\b|\bsystem prompt\b"
    r"|(?:自动|一律|直接|默认|全部|总是|都)(?:同意|批准|通过|执行|确认|允许|删除|转账|付款|取消|发送)(?!.{0,4}(?:提醒|中文|英文))|(?:不用|无需|不必|不需要|别再?|不要再?)(?:再)?(?:问我|询问|确认|征求|审批|批准|等我(?:同意|点))"
    r"|(?:不用|无需|不必|不需要|别|不要)(?:再)?(?:经过|得到|征得|等)我的?(?:同意|确认|批准|许可)|(?:视为|当作|算作?)(?:已)?(?:同意|批准|确认)|(?:授权|允许|准许)你|你(?:可以|有权)(?:直接|随便|自行|自动)|跳过(?:审批|确认|批准)|(?:忽略|无视|忘掉|忘记|不要?遵守|别遵守)(?:你)?(?:之前|以前|以上|前面|所有|一切|全部|的|任何)*(?:指令|规则|提示词?|要求|指示|限制|政策)|我是(?:管理员|超级用户|系统管理员)|系统提示词?",
    _FLAGS,
)
_LEAST: Final = 2


def sensitive(text: str) -> bool:
    """Whether it tells of health, religion, politics, sexuality, money or the like. What one is allergic to is not counted: it protects."""
    return _SENSITIVE.search(text) is not None


def authority(text: str) -> bool:
    """Whether, kept as a memory, it would seem to allow something. Nothing in memory ever does; it is not even kept."""
    return _AUTHORITY.search(text) is not None


def anothers(text: str) -> bool:
    """Whether a clause is about somebody else's private life. What a colleague does at work is not."""
    said = text.strip()
    if _PRIVATE.search(said):
        return True
    return _ANOTHER.search(said) is not None and _WORK.search(text) is None and not work_tie(text) and (_COMPANY.search(said) is None or sensitive(said))


def work_tie(text: str) -> bool:
    """Whether a clause only names whom the person reports to."""
    return _WORK_TIE.search(text.strip()) is not None


def meant(sentence: Sentence, text: str) -> bool:
    """Whether a sentence of the message `text` is said in earnest about what is: no question, guess, joke, or text to be written for somebody."""
    if (sentence.asks and not asks_for_good(sentence.text)) or _SUPPOSED.search(sentence.text) or _SARCASM.search(sentence.text):
        return False
    if _JOKE.search(text[max(0, sentence.start - 40) : sentence.start + len(sentence.text) + 60]):
        return False
    before = text[max(0, sentence.start - 80) : sentence.start].rstrip(" \n")
    leads_in = before.endswith((":", "：", ",", "，", '"', "“")) or "\n" not in text[: sentence.start][-3:]
    return not (_TO_WRITE.search(before.rstrip(':：,， \n"“')) and leads_in and before.endswith((":", "：", '"', "“", "\n", ",", "，")))


def refusal(quote: str, said: Said) -> Refusal | None:
    """Why a quote of a message is not to be kept; None when nothing speaks against it."""
    plain = quote.strip()
    if len(plain) < _LEAST:
        return Refusal.NOTHING
    if secret(plain):
        return Refusal.SECRET
    if authority(plain):
        return Refusal.AUTHORITY
    own = own_words(said.text).replace("’", "'")
    at = own.find(plain.replace("’", "'"))
    if at < 0 and " ".join(plain.split()) not in " ".join(own.split()):
        return Refusal.NOT_SAID
    around = next((each for each in sentences(said.text) if at >= 0 and each.start <= at < each.start + len(each.text) + 1), None)
    if around is not None and not meant(around, own):
        return Refusal.NOT_MEANT
    if _TO_WRITE.search(own[:at].rstrip(' :：,，\n"“')[-100:]) if at > 0 and own[:at].rstrip().endswith((":", "：")) else False:
        return Refusal.NOT_MEANT
    if anothers(plain):
        return Refusal.ANOTHERS
    explicit = around is not None and asked(around) is not None
    return Refusal.SENSITIVE if sensitive(plain) and not explicit else None
