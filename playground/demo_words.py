"""The demo model's vocabulary: what it shows as examples, and the words it knows for places, states and fields, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final, Literal

from playground.demo_sentences import SENTENCES

Language = Literal["en", "zh"]

MAX_LOOK: Final = 3_000
"""Characters of a text that tell its language."""
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WORD: Final = re.compile(r"(?<![\w-])[A-Za-z']{1,}(?![\w-])")
_ASIDE: Final = re.compile(r"[\"“「『'‘](?:[^\"”」』'’]{3,})[\"”」』'’]|<[^>]*>|#\S+|`[^`]*`")

EXAMPLES: Final[dict[str, tuple[str, str]]] = {
    "calculate": ("what is 15*7?", "计算 15*7"),
    "current_time": ("what time is it in Tokyo?", "东京现在几点？"),
    "get_order_status": ("where is ABC-20240520-001?", "ABC-20240520-001 到哪了？"),
    "list_orders": ("list my orders", "列出我的订单"),
    "cancel_order": ("cancel ABC-20240520-001 because it is too late", "取消 ABC-20240520-001，因为太晚了"),
    "change_shipping_address": ("change the address of ABC-20240520-001 to 5 Lake Road, Bern", "把 ABC-20240520-001 的地址改成 上海市人民路 1 号"),
    "post_message": ('post "hello" to #general', "在 #general 发：大家好"),
    "read_thread": ("summarise this thread", "总结一下这个讨论"),
    "remind_me": ("remind me tomorrow at 9am to call the bank", "明天上午9点提醒我开会"),
    "list_reminders": ("my reminders", "我的提醒"),
    "cancel_reminder": ("cancel the first reminder", "取消第一个提醒"),
    "list_channels": ("which channels are there?", "有哪些频道？"),
    "search_messages": ('search for "invoice"', "搜一下 发票"),
    "get_current_weather": ("what's the weather in Paris?", "东京天气怎么样？"),
    "fetch_url": ("summarise https://example.com", "这个链接讲什么 https://example.com"),
    "remember": ("I hate rainy days, remember that", "我讨厌下雨天，记住"),
    "recall": ("what do you know about me?", "你记得我什么？"),
}
"""One request per tool that the help shows when the tool is offered."""

MEMORY_EXAMPLES: Final = (("my name is Ana — what is my name?", "我叫小安 —— 我叫什么名字？"), ("what did I ask before?", "我之前问了什么？"))

LABELS: Final[dict[str, str]] = {
    "order_id": "订单号", "id": "编号", "status": "状态", "address": "地址", "shipping_address": "收货地址", "new_address": "新地址", "old_address": "原地址",
    "previous_address": "原地址", "items": "商品", "item": "商品", "total": "金额", "amount": "金额", "currency": "币种", "customer": "客户", "reason": "原因",
    "placed_at": "下单时间", "ordered_at": "下单时间", "created_at": "下单时间", "placed_on": "下单日期", "shipped_at": "发货时间", "cancelled_at": "取消时间",
        "delivered_at": "送达时间", "eta": "预计送达", "expected": "预计送达", "carrier": "承运商", "tracking": "运单号", "tracking_number": "运单号",
    "quantity": "数量",
    "channel": "频道", "text": "内容", "permalink": "链接", "timezone": "时区", "refund": "退款", "updated_at": "更新时间", "name": "名称", "price": "价格",
    "sku": "货号", "previous_status": "原状态", "recipient": "收件人",
    "owner": "下单人", "count": "数量", "note": "备注", "date": "日期", "time": "时间", "weekday": "星期",
}  # fmt: skip
"""Chinese labels for fields of results; English ones are made from the field's name."""

STATES: Final[dict[str, tuple[str, ...]]] = {
    "pending": ("pending", "open", "unpaid", "待付款", "未付款", "待处理"),
    "placed": ("placed", "ordered", "已下单"),
    "paid": ("paid", "已付款"),
    "processing": ("processing", "in progress", "处理中"),
    "packed": ("packed", "ready to ship", "待发货", "未发货", "已打包"),
    "shipped": ("shipped", "on the way", "in transit", "运输中", "在路上", "已发货"),
    "in_transit": ("in transit", "on the way", "运输中"),
    "delivered": ("delivered", "arrived", "已签收", "已送达"),
    "cancelled": ("cancelled", "canceled", "已取消"),
    "canceled": ("canceled", "cancelled", "已取消"),
    "returned": ("returned", "已退货"),
    "refunded": ("refunded", "已退款"),
    "open": ("open", "pending", "未完成"),
}
"""A state's own word, the words people use for it, the Chinese ones last."""

CITIES: Final[dict[str, tuple[str, ...]]] = {
    "UTC": ("UTC", "GMT", "世界时", "格林尼治"),
    "Asia/Shanghai": ("Shanghai", "Beijing", "China", "Shenzhen", "上海", "北京", "中国", "深圳", "广州"),
    "Asia/Hong_Kong": ("Hong Kong", "香港"),
    "Asia/Taipei": ("Taipei", "台北"),
    "Asia/Tokyo": ("Tokyo", "Japan", "Osaka", "东京", "日本", "大阪"),
    "Asia/Seoul": ("Seoul", "Korea", "首尔", "韩国"),
    "Asia/Singapore": ("Singapore", "新加坡"),
    "Asia/Kolkata": ("Mumbai", "Delhi", "India", "Bangalore", "孟买", "印度", "德里"),
    "Asia/Dubai": ("Dubai", "迪拜"),
    "Europe/London": ("London", "伦敦", "英国"),
    "Europe/Paris": ("Paris", "France", "巴黎", "法国"),
    "Europe/Berlin": ("Berlin", "Germany", "Munich", "柏林", "德国"),
    "Europe/Zurich": ("Zurich", "Bern", "Switzerland", "苏黎世", "瑞士"),
    "Europe/Madrid": ("Madrid", "Spain", "马德里", "西班牙"),
    "Europe/Lisbon": ("Lisbon", "Portugal", "里斯本", "葡萄牙"),
    "Europe/Moscow": ("Moscow", "莫斯科"),
    "America/New_York": ("New York", "NYC", "Boston", "Washington", "纽约", "波士顿", "华盛顿"),
    "America/Chicago": ("Chicago", "芝加哥"),
    "America/Los_Angeles": ("Los Angeles", "San Francisco", "Seattle", "California", "洛杉矶", "旧金山", "西雅图"),
    "America/Sao_Paulo": ("Sao Paulo", "São Paulo", "圣保罗"),
    "Australia/Sydney": ("Sydney", "悉尼"),
}
"""IANA zones by the names people give them."""


def language_of(text: str) -> Language:
    """Chinese when at least as many of the words are Chinese as Latin; what is quoted, named or coded does not count."""
    text = text[:MAX_LOOK]
    bare = _ASIDE.sub(" ", text)
    han, latin = len(_HAN.findall(bare)), len(_WORD.findall(bare))
    if not han and not latin:
        return "zh" if _HAN.search(text) else "en"
    return "zh" if han and han >= latin * 1.5 else "en"


def say(key: str, language: Language, **values: str) -> str:
    """The sentence `key`, filled in."""
    return SENTENCES[key][language == "zh"].format(**values)


def label(field: str, language: Language) -> str:
    """A result field's name for people."""
    return LABELS[field] if language == "zh" and field in LABELS else field.replace("_", " ").strip().capitalize()


def state_word(state: str, language: Language) -> str:
    """An order state for people."""
    words = STATES.get(state)
    return words[-1] if language == "zh" and words and _HAN.search(words[-1]) else state.replace("_", " ")
