"""What Slack sends about long-term memory, read into values: the words after `/memory`, clicks on our buttons, submitted modals.

A button carries which memory it means, which list it stands in (so that the list can be drawn again) and the language it was drawn in. None
of that proves anything: whose memory it is, is looked up each time under the person who clicked. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast, get_args

from bot.gate import Identity, a_ts, an_id
from memory.keys import Actor

PREFIX: Final = "steward:mem:"
Listing = Literal["mine", "search", "room", "history", "home", "used", "one"]
"""What a button stands in: the list of one's own, a search, a channel's agreements, the history, the App Home, an answer's memories, a single one."""
Act = Literal["forget", "edit", "audience", "new", "old", "both", "previous", "next", "undo", "used", "keep", "pause", "resume", "all", "export", "language"]
FormKind = Literal["edit", "audience", "all"]
MOST_PAGES: Final = 10_000
QUERY: Final = 100
"""Characters of a search's words that its buttons carry."""
_ID: Final = re.compile(r"[0-9A-Za-z._:-]{1,150}")
_URL: Final = 1_000

WORDS: Final[dict[str, frozenset[str]]] = {
    "list": frozenset({"list", "show", "列表", "查看", "显示"}),
    "search": frozenset({"search", "find", "搜索", "查找", "查询", "找"}),
    "add": frozenset({"add", "remember", "添加", "新增", "记住"}),
    "forget": frozenset({"forget", "delete", "remove", "忘记", "忘掉", "删除"}),
    "export": frozenset({"export", "download", "导出", "下载"}),
    "pause": frozenset({"pause", "stop", "off", "暂停", "停止"}),
    "resume": frozenset({"resume", "start", "on", "恢复", "继续"}),
    "why": frozenset({"why", "used", "为什么", "为何", "来源"}),
    "history": frozenset({"history", "changes", "历史", "记录", "变更"}),
    "undo": frozenset({"undo", "撤销", "还原"}),
    "room": frozenset({"room", "channel", "频道", "本频道", "约定"}),
    "language": frozenset({"language", "语言"}),
    "help": frozenset({"help", "?", "帮助", "说明", "？"}),
}
"""The words that `/memory` knows, in both languages."""
ALL_WORDS: Final = frozenset({"all", "everything", "全部", "所有", "一切"})
STATS_WORDS: Final = frozenset({"stats", "statistics", "统计"})
LANGUAGES: Final[dict[str, Literal["", "en", "zh"]]] = {
    **dict.fromkeys(("auto", "automatic", "自动"), ""),
    **dict.fromkeys(("en", "english", "英文", "英语"), "en"),
    **dict.fromkeys(("zh", "chinese", "中文", "汉语"), "zh"),
}
"""What may be said for a language; empty is by the person's words."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The list a button stands in: which page of it, and what was searched for (of `used`: the run)."""

    listing: Listing = "mine"
    page: int = 0
    query: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A written `/memory …`."""

    actor: Actor
    channel_id: str
    text: str
    response_url: str = ""
    trigger_id: str = ""


@dataclass(frozen=True, slots=True)
class Click:
    """A click on one of our buttons or menus."""

    act: Act
    id: str
    """Of a memory, a change or (for `used`) a run; of a menu, the chosen value."""
    spot: Spot
    actor: Actor
    language: str
    surface: Literal["message", "modal", "home"]
    channel_id: str = ""
    thread_ts: str = ""
    """Where the message stands, for a private word there."""
    response_url: str = ""
    trigger_id: str = ""
    view_id: str = ""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submitted modal."""

    form: FormKind
    id: str
    spot: Spot
    actor: Actor
    language: str
    block: str
    """The input's block, where an error is shown."""
    value: str
    response_url: str = ""
    """Of the message the modal was opened from, when that is to be drawn again."""
    view_id: str = ""


def asked(body: Mapping[str, Any], me: Identity) -> Asked:
    """Read a slash command. Raises `ValueError` or `KeyError` when it has not Slack's form."""
    user = an_id(body.get("user_id"), "user")
    if not user:
        raise ValueError("no user")
    actor = Actor(team_id=str(body.get("team_id") or me.team_id), user_id=user)
    channel = an_id(body.get("channel_id"), "channel")
    return Asked(actor, channel, str(body.get("text") or "").strip(), str(body.get("response_url") or ""), str(body.get("trigger_id") or ""))


def command_of(text: str) -> tuple[str, str]:
    """The command that was meant and what follows it; ("list", "") for nothing, ("", text) for a word that is not known.

    Chinese is written without spaces, so a Chinese word also counts where more text follows it at once ("搜索花生").
    """
    first, _, rest = text.strip().partition(" ")
    if not first:
        return "list", ""
    word = first.casefold()
    for name, words in WORDS.items():
        if word in words:
            return name, rest.strip()
    starts = sorted(
        ((known, name) for name, words in WORDS.items() for known in words if len(known) > 1 and not known.isascii()), key=lambda each: -len(each[0])
    )
    for known, name in starts:
        if word.startswith(known):
            return name, text.strip()[len(known) :].strip()
    return "", text.strip()


def value_of(language: str, spot: Spot, one: str = "") -> str:
    """What a button carries. It proves nothing."""
    return json.dumps([language, spot.listing, spot.page, one, spot.query[:QUERY]], ensure_ascii=False, separators=(",", ":"))


def private_of(language: str, spot: Spot, one: str, response_url: str = "") -> str:
    """What a modal carries: the same, and the address at which the message it was opened from can be drawn again."""
    return json.dumps({"v": value_of(language, spot, one), "u": response_url if len(response_url) <= _URL else ""})


def _value(value: Any) -> tuple[str, Spot, str]:
    if not isinstance(value, str) or len(value) > 2_000:
        raise ValueError("no value")
    read = json.loads(value)
    if not isinstance(read, list) or len(read) != 5:
        raise ValueError("not our value")
    language, listing, page, one, query = read
    if listing not in get_args(Listing) or not isinstance(page, int) or isinstance(page, bool) or not 0 <= page <= MOST_PAGES:
        raise ValueError("not our list")
    if not isinstance(one, str) or (one and not _ID.fullmatch(one)) or not isinstance(query, str) or len(query) > QUERY:
        raise ValueError("not our button")
    return ("zh" if language == "zh" else "en"), Spot(listing, page, query), one


def _actor(body: Mapping[str, Any], me: Identity) -> Actor:
    user = body["user"]
    team = user.get("team_id") or (body.get("team") or {}).get("id") or me.team_id
    if not isinstance(team, str) or not an_id(user.get("id"), "user"):
        raise ValueError("no user")
    return Actor(team_id=team, user_id=user["id"])


def click_of(body: Mapping[str, Any], me: Identity) -> Click | None:
    """Read a `block_actions` payload about long-term memory; None for any other. Raises `ValueError` or `KeyError` when it has not our form."""
    action = body["actions"][0]
    action_id = str(action.get("action_id", ""))
    if not action_id.startswith(PREFIX):
        return None
    act = action_id.removeprefix(PREFIX)
    if act not in get_args(Act):
        raise ValueError("not one of our buttons")
    chosen = act == "language"
    language, spot, one = _value((action.get("selected_option") or {}).get("value") if chosen else action.get("value"))
    container, view = body.get("container") or {}, body.get("view") or {}
    surface = "message" if not view else "home" if view.get("type") == "home" else "modal"
    return Click(
        act=cast("Act", act),
        id=one,
        spot=spot,
        actor=_actor(body, me),
        language=language,
        surface=cast("Literal['message', 'modal', 'home']", surface),
        channel_id=an_id((body.get("channel") or {}).get("id") or container.get("channel_id"), "channel"),
        thread_ts=a_ts(container.get("thread_ts") or (body.get("message") or {}).get("thread_ts"), "thread_ts"),
        # What answers a click takes the clicked message's place: never that of a message which others see.
        response_url=str(body.get("response_url") or "") if container.get("is_ephemeral") else "",
        trigger_id=str(body.get("trigger_id") or ""),
        view_id=an_id(view.get("id"), "view") if view else "",
    )


def form_of(body: Mapping[str, Any], me: Identity) -> Submitted | None:
    """Read a `view_submission` payload about long-term memory; None for any other. Raises `ValueError` or `KeyError` when it has not our form."""
    view = body["view"]
    callback = str(view.get("callback_id", ""))
    if not callback.startswith(PREFIX):
        return None
    form = callback.removeprefix(PREFIX)
    if form not in get_args(FormKind):
        raise ValueError("not one of our forms")
    private = json.loads(view.get("private_metadata") or "{}")
    language, spot, one = _value(private["v"])
    block, value = _typed((view.get("state") or {}).get("values") or {})
    return Submitted(cast("FormKind", form), one, spot, _actor(body, me), language, block, value, str(private.get("u") or ""), an_id(view.get("id"), "view"))


def _typed(values: Mapping[str, Any]) -> tuple[str, str]:
    """The one input of our modals: its block, and what was typed or chosen."""
    for block, elements in values.items():
        for element in (elements or {}).values():
            chosen = element.get("selected_option") if isinstance(element, dict) else None
            value = chosen.get("value") if isinstance(chosen, dict) else element.get("value") if isinstance(element, dict) else None
            return str(block), str(value or "")
    return "", ""
