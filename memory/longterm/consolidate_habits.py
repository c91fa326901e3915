"""From episodes to habits: what a person asked for in the same way at least three times is what they usually ask for. Pure plans.

A habit is one memory per topic, in the person's language and told with their own newest words. It never reaches more people than the episodes
it is made of: it is recalled in the widest place in which enough of them may be.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from memory.identifiers import identifiers
from memory.longterm.access import PRIVATE, WORKSPACE, Audience
from memory.longterm.alike import content, dice
from memory.longterm.consolidate import LIMIT, Planned
from memory.longterm.episodes import first_tool, request_of
from memory.longterm.memory import Kind, Memory, memory_id

LEAST: Final = 3
"""Episodes that make a habit."""
WINDOW: Final = 12
"""Episodes of a topic that are looked at, the newest."""
MOSTLY: Final = 0.6
"""Share of those that must be alike: two ways used as often as each other are no habit."""
IMPORTANCE: Final = 0.6
_ALIKE: Final = 0.6
"""Share of words from which two requests are alike, apart from the things they name."""
_WORDS: Final = 160
"""Characters of the request that a habit is told with."""

_TEXTS: Final = {"en": "About {topic} I usually ask first for: {words}", "zh": "关于{topic}，我通常先问：{words}"}
_TOPICS_ZH: Final = {"order": "订单", "orders": "订单", "logistics": "物流", "weather": "天气", "calendar": "日程", "reminder": "提醒", "project": "项目"}


def plan_habits(memories: Sequence[Memory], *, now: float, limit: int = LIMIT, least: int = LEAST) -> list[Planned]:
    """Make or renew the habit of each topic of one owner's episodes. At most `limit` steps. A habit that was ended stays ended until newer episodes make it."""
    topics: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        if memory.kind is Kind.EPISODE and memory.live and memory.created <= now and first_tool(memory):
            topics[memory.owner.tag, memory.key].append(memory)
    known = {memory.id: memory for memory in memories}
    steps = []
    for _, episodes in sorted(topics.items()):
        step = _habit(sorted(episodes, key=lambda memory: (memory.created, memory.id)), known, least)
        if step is not None:
            steps.append(step)
    return steps[:limit]


def _habit(episodes: Sequence[Memory], known: dict[str, Memory], least: int) -> Planned | None:
    owner, topic = episodes[0].owner, episodes[0].key
    old = known.get(memory_id(owner, "habit", topic))
    if old is not None and old.superseded_by:  # the person said that it is over: only what they did since counts
        episodes = [each for each in episodes if each.created > (old.valid_until or old.updated)]
    for audience in _widest_first(episodes):
        usual = _usual([each for each in episodes if _reaches(each.audience, audience)][-WINDOW:], least)
        if usual:
            return _renewed(old, usual, audience)
    return None


def _widest_first(episodes: Sequence[Memory]) -> list[Audience]:
    rooms = Counter(each.audience.channel_id for each in episodes if each.audience.scope == "channel")
    return [WORKSPACE, *(Audience(scope="channel", channel_id=room) for room, _ in sorted(rooms.items(), key=lambda each: (-each[1], each[0]))), PRIVATE]


def _reaches(kept: Audience, place: Audience) -> bool:
    """Whether what is kept for `kept` may be known wherever `place` may be."""
    return place.scope == "private" or kept.scope == "workspace" or kept == place


def _narrower(left: Audience, right: Audience) -> Audience:
    if _reaches(left, right):
        return right
    return left if _reaches(right, left) else PRIVATE


def _usual(episodes: Sequence[Memory], least: int) -> list[Memory]:
    """The largest group of episodes that began alike, when it is large enough; oldest first."""
    groups: dict[str, list[Memory]] = defaultdict(list)
    for each in episodes:
        groups[first_tool(each)].append(each)
    best = max(groups.values(), key=lambda group: (len(group), group[-1].created, group[-1].id), default=[])
    worded = _alike_in_words(episodes)
    best = worded if len(worded) > len(best) else best
    return best if len(best) >= least and len(best) >= MOSTLY * len(episodes) else []


def _alike_in_words(episodes: Sequence[Memory]) -> list[Memory]:
    """The episodes whose requests are alike, as seen from the newest that has any like it."""
    best: list[Memory] = []
    for centre in reversed(episodes):
        group = [each for each in episodes if dice(_asked(each), _asked(centre)) >= _ALIKE]
        best = group if len(group) > len(best) else best
    return best


def _asked(episode: Memory) -> frozenset[str]:
    """What was asked for, whichever thing it was asked of."""
    return content(_unnamed(request_of(episode)))


def _unnamed(text: str) -> str:
    """A request without the numbers, dates and names of the one thing it was about."""
    for each in identifiers(text):
        text = text.replace(each.text, " ")
    return re.sub(r"\s{2,}", " ", text).strip(" ,，:：")


def _renewed(old: Memory | None, usual: Sequence[Memory], audience: Audience) -> Planned | None:
    newest = usual[-1]
    live = old is not None and not old.superseded_by
    language = Counter(each.language for each in usual).most_common(1)[0][0]
    tongue = "zh" if language == "zh" else "en"
    told = next((each for each in reversed(usual) if each.language == language), newest)
    topic = newest.key.replace("_", " ")
    words = _unnamed(request_of(told))[:_WORDS] or request_of(told)[:_WORDS]
    text = _TEXTS[tongue].format(topic=_TOPICS_ZH.get(topic, topic) if tongue == "zh" else topic, words=words)
    value = first_tool(newest)
    if old is not None and live and old.updated >= newest.created:
        return None  # nothing new was done since it was written
    fresh = sum(old is None or not live or each.created > old.updated for each in usual)
    update = {
        "text": text,
        "value": value,
        "audience": _narrower(old.audience, audience) if old is not None and live else audience,  # its owner may have narrowed it
        "language": tongue,
        "updated": newest.created,
        "times_said": (old.times_said if old is not None and live and old.value == value else 0)
        + (fresh if live and old is not None and old.value == value else len(usual)),
        "superseded_by": "",
        "valid_until": None,
    }
    if old is not None:
        return Planned("updated", old, old.model_copy(update=update))
    made = Memory(
        id=memory_id(newest.owner, "habit", newest.key),
        owner=newest.owner,
        kind=Kind.HABIT,
        key=newest.key,
        text=text,
        value=value,
        audience=audience,
        source=newest.source.model_copy(update={"via": "job"}),
        created=newest.created,
        updated=newest.created,
        importance=IMPORTANCE,
        times_said=len(usual),
        language=tongue,
    )
    return Planned("added", None, made)
