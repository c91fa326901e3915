"""Made-up memories of a thousand people for the benchmark, the same in every run: what people tell about their work and themselves, in two languages.

Sentences come from patterns whose gaps are filled from long lists and with numbers, so that few are alike and words are as rare as words are;
some say again what was said before, for the job that merges them. Vectors are made up too, near each other where the topic is the same: making
real ones takes a small model longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from memory.embedder import Embedder
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, Audience, Owner, Reader, person
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.question import Question
from memory.longterm.store import Floats

TEAM: Final = "T1"
SIZE: Final = 384
BEGAN: Final = 1_735_700_000.0
"""When the first memory was said, in seconds since the epoch."""
APART: Final = 9_000.0
"""Seconds between one memory of a person and the next."""
AGAIN: Final = 12
"""One memory in so many says again what one before it said."""

EN: Final = (
    "I would rather get the {thing} report on {day} than at the end of the month",
    "my {thing} review for the {place} site is at {hour} every {day}",
    "when I ask about order {code} I only want to know where it is, not what was paid",
    "we agreed that the {thing} for {place} needs {number} days of notice",
    "I keep the {adjective} {thing} in the folder {code}",
    "the budget of the {adjective} {thing} project in {place} is {number},000",
    "I am responsible for {thing} in {place} since last {day}",
    "please never book a {adjective} hotel in {place}, the {thing} there kept me awake",
    "I learned to {verb} the {thing} with script {code}",
    "my favourite place for lunch near the {place} office has {adjective} {food}",
    "I do not like {food} in the evening, {food2} is fine",
    "the {thing} contract {code} ends on the {number}th and I have to {verb} it before",
    "I usually {verb} the {thing} on {day}, right after the stand-up",
    "for {place} I need the {thing} numbers in euros, rounded to {number}",
    "I am flying to {place} on {day} to {verb} the {adjective} {thing}",
)
ZH: Final = (
    "我每个{day}都要核对{place}的{thing}，编号是{code}",
    "查订单{code}的时候我只想知道包裹到哪了",
    "{place}分公司的{thing}预算是{number}万，由我负责",
    "我不喜欢{food}，{food2}可以",
    "{thing}合同{code}到{number}号到期，我得提前{verb}",
    "我下个{day}去{place}出差，要{verb}{thing}",
    "我习惯{day}早上先{verb}{thing}，再开例会",
    "{place}那边的{thing}要{adjective}一点的版本，保留{number}位",
    "我常去的那家店在{place}，{food}做得很{adjective}",
    "请把{thing}的资料放到{code}文件夹里",
    "我们说好{thing}上线前要等{number}天",
    "我学会用{code}脚本来{verb}{thing}了",
)
GAPS: Final[dict[str, dict[str, str]]] = {
    "en": {
        "thing": "invoice payroll shipping onboarding inventory pricing migration audit newsletter warranty forecast returns backup catalogue tender"
        " customs recruiting training roadmap incident telemetry packaging localisation compliance dashboard webinar prototype retention churn"
        " licence subscription refund survey benchmark gateway firewall handbook branding storefront freight insurance calibration",
        "place": "Lisbon Guangzhou Hamburg Chengdu Dublin Osaka Toronto Nairobi Utrecht Kraków Seville Hanoi Antwerp Tampere Montevideo Leipzig Bergen Suzhou"
        " Nagoya Porto Lyon Graz Malmö Galway Busan Tallinn Valencia Trieste Aarhus Perth",
        "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
        "adjective": "quiet short detailed early cheap spicy weekly provisional compact signed draft regional printed encrypted modest steady narrow bright",
        "verb": "check renew export rename archive compare translate approve rehearse reorder measure simplify publish reconcile split forward",
        "food": "noodles sushi lentils porridge dumplings curry salad pancakes risotto tofu herring couscous pho stew omelette burritos",
    },
    "zh": {
        "thing": "发票 工资 物流 入职 库存 报价 迁移 审计 周刊 保修 预测 退货 备份 落地页 目录 招标 报关 招聘 培训 路线图 故障 遥测 包装 采购 本地化"
        " 合规 看板 直播 样机 留存 流失 授权 订阅 退款 问卷 基准 存储 网关 防火墙 手册 品牌 门店 货运 保险 校准 维护",
        "place": "广州 成都 苏州 汉堡 里斯本 大阪 多伦多 杭州 厦门 青岛 长沙 西安 名古屋 釜山 河内 重庆 宁波 昆明 福州 大连",
        "day": "周一 周二 周三 周四 周五 周六 周日",
        "adjective": "安静 简短 详细 便宜 辣 临时 紧凑 正式 加密 打印 稳妥 明亮",
        "verb": "检查 续签 导出 改名 归档 对比 翻译 审批 演练 补货 测量 简化 发布 对账 拆分 转发",
        "food": "面条 寿司 扁豆 粥 饺子 咖喱 沙拉 煎饼 豆腐 鲱鱼 米粉 炖菜 火锅 烧麦 凉皮",
    },
}
QUESTIONS: Final = (
    "how do I usually handle the {thing} for {place}?",
    "what did I say about {thing} and {food}?",
    "can you prepare my {day} in {place}, with the {adjective} {thing}?",
    "where is order {code}?",
    "我{place}的{thing}一般怎么处理？",
    "上次说的{thing}和{food}是怎么回事？",
    "帮我安排{day}去{place}，还要{verb}{thing}",
    "订单{code}到哪了？",
)
KINDS: Final = (Kind.FACT, Kind.PREFERENCE, Kind.FACT, Kind.PLAN)
AUDIENCES: Final = (Audience(scope="workspace"), PRIVATE, Audience(scope="channel", channel_id="C1"), Audience(scope="channel", channel_id="C2"))


def owner(number: int) -> Owner:
    """One of the people."""
    return person(Actor(team_id=TEAM, user_id=f"U{number:05}"))


def reader(number: int) -> Reader:
    """That person in their direct conversation, where all of theirs may be recalled."""
    return Reader(actor=Actor(team_id=TEAM, user_id=f"U{number:05}"), thread=Thread(team_id=TEAM, channel_id=f"D{number:05}"), room_type="im")


class Talk:
    """Sentences and questions, from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._gaps = {language: {name: words.split() for name, words in gaps.items()} for language, gaps in GAPS.items()}

    def sentence(self, patterns: Sequence[str]) -> str:
        """One of the patterns, filled."""
        draws = self._random.integers(0, 1 << 30, 12).tolist()
        pattern = patterns[draws[0] % len(patterns)]
        gaps = self._gaps["en" if pattern.isascii() else "zh"]
        words = {name: options[draws[place] % len(options)] for place, (name, options) in enumerate(gaps.items(), 1)}
        words["food2"] = gaps["food"][draws[8] % len(gaps["food"])]
        return pattern.format(**words, number=1 + draws[9] % 97, hour=f"{8 + draws[10] % 10}:{draws[10] % 4 * 15:02}", code=f"{_code(draws[11])}")

    def memories(self, number: int, start: int, count: int) -> Iterator[Memory]:
        """Of one person those from `start` on, in the order they were said."""
        whose, text = owner(number), ""
        for place in range(start, start + count):
            text = text if text and place % AGAIN == AGAIN - 1 else self.sentence(EN if (number + place) % 3 else ZH)
            at = BEGAN + APART * place + number
            thread = Thread(team_id=TEAM, channel_id=f"C{place % 40}", thread_ts=f"{at - 60:.6f}")
            yield Memory(
                id=memory_id(whose, str(place)),
                owner=whose,
                kind=KINDS[place % len(KINDS)],
                key=f"subject:{place % 211}",
                text=text,
                audience=AUDIENCES[place % len(AUDIENCES)],
                source=Source(thread=thread, ts=f"{at:.6f}", said_by=Actor(team_id=TEAM, user_id=whose.id)),
                created=at,
                updated=at,
                language="en" if text.isascii() else "zh",
            )

    def question(self, number: int, now: float) -> Question:
        """Something that person may ask."""
        return Question(reader=reader(number), text=self.sentence(QUESTIONS), now=now)


def _code(draw: int) -> str:
    return f"{chr(65 + draw % 26)}{chr(65 + draw // 26 % 26)}{chr(65 + draw // 676 % 26)}-{draw // 17_576 % 100_000:05}"


class Vectors:
    """An `Embedder` whose vectors are made up at once; `real` makes those of questions, where the time that takes is to be counted."""

    name = "made-up"
    size = SIZE

    def __init__(self, real: Embedder | None = None) -> None:
        self._real = real
        random = np.random.default_rng(7)
        self._topics = random.normal(size=(64, SIZE)).astype(np.float32)
        self._noise = random.normal(size=(4_096, SIZE)).astype(np.float32)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return self.made(texts)

    async def query(self, text: str) -> Floats:
        """See `Embedder`."""
        return self.made([text])[0] if self._real is None else await self._real.query(text)

    async def queries(self, texts: Sequence[str]) -> Floats:
        """See `Embedder`."""
        return self.made(texts) if self._real is None else await self._real.queries(texts)

    def made(self, texts: Sequence[str]) -> Floats:
        """Vectors of unit length by the hash of each text: shape (len(texts), SIZE)."""
        draws = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") for text in texts]
        raw = self._topics[[draw % 64 for draw in draws]] + 1.5 * self._noise[[draw // 64 % 4_096 for draw in draws]]
        return np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32)
