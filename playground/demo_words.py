"""The demo model's vocabulary: its sentences in English and Chinese, and the words it knows for places and states."""

from __future__ import annotations

import re
from typing import Final, Literal

Language = Literal["en", "zh"]

MAX_LOOK: Final = 3_000
"""Characters of a text that tell its language."""
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WORD: Final = re.compile(r"(?<![\w-])[A-Za-z']{1,}(?![\w-])")
_ASIDE: Final = re.compile(r"[\"“「『'‘](?:[^\"”」』'’]{3,})[\"”」』'’]|<[^>]*>|#\S+|`[^`]*`")

SENTENCES: Final[dict[str, tuple[str, str]]] = {
    "intro": (
        "I am the **offline demo model**: a fixed set of rules, not a real language model. I can still show you how everything works.",
        "我是**离线演示模型**：一套固定的规则，不是真正的语言模型。不过足够演示整个流程。",
    ),
    "hello": ("Hello{name}!", "你好{name}！"),
    "can": ("Try one of these, or several in one message:", "可以试试下面这些，也可以在一条消息里说好几件："),
    "thanks": ("You're welcome.", "不客气。"),
    "never_mind": ("All right, I leave it.", "好的，那就先不做了。"),
    "did_not_understand": ("I did not understand that.", "这句话我没看懂。"),
    "nothing_new": ("There is nothing new to report.", "没有新的情况。"),
    "image": ("I cannot look into files or images.", "我看不了文件或图片的内容。"),
    "not_offered": (
        "I have no tool for that here (`{tool}` is not offered), so I cannot do it.",
        "这里没有提供 `{tool}` 这个工具，所以我做不了。",
    ),
    "no_tools": (
        "I may not use tools in this step, so I have **not** done this: {what}.",
        "这一步不能使用工具，所以**没有**执行：{what}。",
    ),
    "which_order": ("Which order do you mean? Please give its number, like ABC-20240520-001.", "你说的是哪个订单？请给出订单号，例如 ABC-20240520-001。"),
    "which_of": ("Which order do you mean: {orders}?", "你说的是哪个订单：{orders}？"),
    "which_address": ("What is the new address? Say: change the address of {order} to …", "新地址是什么？可以说：把 {order} 的地址改成……"),
    "which_channel": ('Which channel shall I post to? Say: post "…" to #channel', "发到哪个频道？可以说：在 #频道 发：……"),
    "which_text": ("What shall I post to {channel}?", "要在 {channel} 发什么内容？"),
    "missing": ("To do this I also need: {fields}.", "要做这件事还需要：{fields}。"),
    "noted_name": ("Nice to meet you, {name}. I will remember it in this thread.", "很高兴认识你，{name}。在这个消息列里我会记住。"),
    "noted": ("Noted: your {what} is {value}.", "记下了：你的{what}是{value}。"),
    "your_name": ("Your name is **{name}**.", "你叫 **{name}**。"),
    "shown_name": ("You have not told me, but Slack shows you as **{name}**.", "你没有告诉过我，不过 Slack 上显示你是 **{name}**。"),
    "no_name": ("You have not told me your name in this thread.", "在这个消息列里你还没有告诉我你的名字。"),
    "your_fact": ("Your {what} is **{value}**.", "你的{what}是 **{value}**。"),
    "no_fact": ("You have not told me your {what} in this thread.", "在这个消息列里你还没有告诉我你的{what}。"),
    "asked_before": ("Before this, you asked:", "在这之前你问过："),
    "asked_nothing": ("This is your first message to me in this thread.", "这是你在这个消息列里给我的第一条消息。"),
    "said": ("{name} said:", "{name} 说过："),
    "said_nothing": ("I have not seen anything from {name} in this thread.", "在这个消息列里我没有看到 {name} 说的话。"),
    "who_said": ("What people said in this thread:", "这个消息列里大家说的话："),
    "done_so_far": ("What was done:", "已做的事："),
    "done_nothing": ("No tool has been used in this thread so far.", "到目前为止，这个消息列里还没有使用过任何工具。"),
    "calculated": ("**{expression} = {value}**", "**{expression} = {value}**"),
    "time": ("It is **{value}** in {zone}.", "{zone} 现在是 **{value}**。"),
    "orders": ("Here are the orders{status}:", "订单{status}如下："),
    "no_orders": ("There are no such orders{status}.", "没有符合条件的订单{status}。"),
    "order": ("Order **{order}**:", "订单 **{order}**："),
    "order_state": ("Order **{order}** is **{state}**.", "订单 **{order}** 的状态：**{state}**。"),
    "posted": ("Posted to {channel}: “{text}”", "已发到 {channel}：“{text}”"),
    "cancelled": ("Order **{order}** is cancelled.", "订单 **{order}** 已取消。"),
    "address_changed": ("The shipping address of order **{order}** was changed.", "订单 **{order}** 的收货地址已修改。"),
    "thread": ("Messages in this thread ({count}):", "这个消息列里的消息（{count} 条）："),
    "your_requests": ("You asked:", "你的请求："),
    "thread_empty": ("There is nothing in this thread yet.", "这个消息列里还没有内容。"),
    "succeeded": ("`{tool}` succeeded.", "`{tool}` 执行成功。"),
    "denied": ("**Not done:** {what}. It was declined{reason}, so nothing was changed.", "**没有执行**：{what}。审批被拒绝{reason}，所以什么都没有改动。"),
    "expired": (
        "**Not done:** {what}. Nobody decided in time, so nothing was changed. Ask again if you still want it.",
        "**没有执行**：{what}。没有人及时审批，已经过期，什么都没有改动。如仍需要请再说一次。",
    ),
    "superseded": (
        "**Not done:** {what}. The open question was closed because the conversation went on; nothing was changed.",
        "**没有执行**：{what}。因为对话已继续，原来的审批已作废，什么都没有改动。",
    ),
    "unknown": (
        "**I cannot tell whether this took effect:** {what}. Please check before you ask again.{detail}",
        "**无法确定是否已生效**：{what}。请先核实，再决定要不要重试。{detail}",
    ),
    "waiting": ("**Still waiting** for a decision: {what}.", "**仍在等待审批**：{what}。"),
    "refused": ("**Not done:** {what}. {detail}", "**没有执行**：{what}。{detail}"),
    "not_found": ("I found nothing for this: {what}. {detail}", "没有找到：{what}。{detail}"),
    "failed": ("**This did not work:** {what}. {detail}", "**没有成功**：{what}。{detail}"),
    "edited": ("The values were changed by a person before approval.", "审批人在批准前修改了内容。"),
    "partly": ("The result was cut because it was long.", "结果太长，只显示了一部分。"),
    "do_calculate": ("calculate {expression}", "计算 {expression}"),
    "do_current_time": ("look up the time {timezone}", "查询时间 {timezone}"),
    "do_read_thread": ("read this thread", "读取这个消息列"),
    "do_post_message": ("post to {channel}", "在 {channel} 发消息"),
    "do_get_order_status": ("look up order {order_id}", "查询订单 {order_id}"),
    "do_list_orders": ("list the orders", "列出订单"),
    "do_cancel_order": ("cancel order {order_id}", "取消订单 {order_id}"),
    "do_change_shipping_address": ("change the shipping address of order {order_id}", "修改订单 {order_id} 的收货地址"),
}

EXAMPLES: Final[dict[str, tuple[str, str]]] = {
    "calculate": ("what is 15*7?", "计算 15*7"),
    "current_time": ("what time is it in Tokyo?", "东京现在几点？"),
    "get_order_status": ("where is ABC-20240520-001?", "ABC-20240520-001 到哪了？"),
    "list_orders": ("list my orders", "列出我的订单"),
    "cancel_order": ("cancel ABC-20240520-001 because it is too late", "取消 ABC-20240520-001，因为太晚了"),
    "change_shipping_address": ("change the address of ABC-20240520-001 to 5 Lake Road, Bern", "把 ABC-20240520-001 的地址改成 上海市人民路 1 号"),
    "post_message": ('post "hello" to #general', "在 #general 发：大家好"),
    "read_thread": ("summarise this thread", "总结一下这个讨论"),
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
