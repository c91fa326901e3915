from __future__ import annotations

import pytest

from memory.reference import Reference, looks_back, refers_back

POINTS_BACK: list[tuple[str, str, int]] = [
    # the same again
    ("as before", "same_as_before", 0),
    ("Same as last time please", "same_as_before", 0),
    ("do it the same way as last week", "same_as_before", 0),
    ("the usual, thanks", "same_as_before", 0),
    ("order it again", "same_as_before", 0),
    ("book the flight like last time", "same_as_before", 0),
    ("use the same settings", "same_as_before", 0),
    ("as usual", "same_as_before", 0),
    ("ditto", "same_as_before", 0),
    ("Same thing for Bob", "same_as_before", 0),
    ("还是老样子", "same_as_before", 0),
    ("老规矩", "same_as_before", 0),
    ("照旧", "same_as_before", 0),
    ("跟上次一样", "same_as_before", 0),
    ("按之前的来", "same_as_before", 0),
    ("再来一份", "same_as_before", 0),
    ("再查一次", "same_as_before", 0),
    ("和昨天的一样", "same_as_before", 0),
    ("同上", "same_as_before", 0),
    # which one of several
    ("the second one", "ordinal", 2),
    ("I'd take the first option", "ordinal", 1),
    ("cancel the third order", "ordinal", 3),
    ("go with option 2", "ordinal", 2),
    ("the last one please", "ordinal", -1),
    ("the latter", "ordinal", -1),
    ("the former, please", "ordinal", 1),
    ("tell me more about the 2nd item", "ordinal", 2),
    ("number 3", "ordinal", 3),
    ("第二个", "ordinal", 2),
    ("取消第三个订单", "ordinal", 3),
    ("选第1个吧", "ordinal", 1),
    ("最后一个", "ordinal", -1),
    ("后者吧", "ordinal", -1),
    ("前者", "ordinal", 1),
    ("第二种方案", "ordinal", 2),
    ("第十条", "ordinal", 10),
    # the one that was not meant so far
    ("and the other one?", "other_one", 0),
    ("the other two as well", "other_one", 0),
    ("cancel the others too", "other_one", 0),
    ("both of them", "other_one", 0),
    ("what of the rest", "other_one", 0),
    ("另一个呢", "other_one", 0),
    ("另外那个", "other_one", 0),
    ("其他的也取消", "other_one", 0),
    ("剩下的呢？", "other_one", 0),
    # what was settled
    ("what did we decide?", "decision", 0),
    ("What have we agreed on about the budget?", "decision", 0),
    ("which vendor did the team choose, did we settle that?", "decision", 0),
    ("remind me of the final decision", "decision", 0),
    ("as agreed", "decision", 0),
    ("where did we land on pricing?", "decision", 0),
    ("我们决定了什么？", "decision", 0),
    ("最后怎么定的", "decision", 0),
    ("结论是什么", "decision", 0),
    ("最终选了哪个", "decision", 0),
    ("按说好的办", "decision", 0),
    # only what changes is said
    ("what about Shanghai", "ellipsis", 0),
    ("And in Tokyo?", "ellipsis", 0),
    ("how about tomorrow?", "ellipsis", 0),
    ("and Bob?", "ellipsis", 0),
    ("why?", "ellipsis", 0),
    ("which one?", "ellipsis", 0),
    ("go on", "ellipsis", 0),
    ("tomorrow?", "ellipsis", 0),
    ("for Paris?", "ellipsis", 0),
    ("那上海呢", "ellipsis", 0),
    ("那明天呢？", "ellipsis", 0),
    ("上海呢", "ellipsis", 0),
    ("为什么", "ellipsis", 0),
    ("继续", "ellipsis", 0),
    ("然后呢", "ellipsis", 0),
    ("换成北京", "ellipsis", 0),
    # something said or done before
    ("that order", "earlier", 0),
    ("cancel that order", "earlier", 0),
    ("what did I say about the budget?", "earlier", 0),
    ("the file you sent earlier", "earlier", 0),
    ("use the address I mentioned", "earlier", 0),
    ("do you remember my deadline?", "earlier", 0),
    ("cancel it", "earlier", 0),
    ("send them to Ana", "earlier", 0),
    ("the previous report", "earlier", 0),
    ("What was the number you gave me last week?", "earlier", 0),
    ("刚才那个", "earlier", 0),
    ("之前说的", "earlier", 0),
    ("上次的订单", "earlier", 0),
    ("那个订单取消吧", "earlier", 0),
    ("你前面提到的文件", "earlier", 0),
    ("还记得我的预算吗", "earlier", 0),
    ("把它删掉", "earlier", 0),
    ("我说过的截止日期是哪天", "earlier", 0),
    ("上一条再解释下", "earlier", 0),
    ("那笔钱到账了吗", "earlier", 0),
]

STANDS_ALONE = [
    "what's the weather in Paris",
    "cancel order ABC-1",
    "create an order for 3 laptops",
    "remind me at 9 to call Ana",
    "how many days are in February?",
    "translate 'good morning' into French",
    "hello",
    "thanks!",
    "list all open orders",
    "what is 17 * 23?",
    "who wrote Hamlet?",
    "on the other hand, prices fell",
    "book a table for two on Friday evening",
    "On the second of May we meet at noon in Berlin",
    "北京今天天气怎么样",
    "取消订单 ABC-1",
    "帮我创建一个订单，三台笔记本",
    "明天上午九点提醒我开会",
    "你好",
    "谢谢",
    "列出所有未完成的订单",
    "一百美元是多少人民币",
    "请把“早上好”翻译成法语",
]


@pytest.mark.parametrize(("text", "kind", "ordinal"), POINTS_BACK)
def test_words_that_point_back_are_read_as_what_they_are(text: str, kind: str, ordinal: int) -> None:
    assert refers_back(text) == Reference(kind, ordinal)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", STANDS_ALONE)
def test_what_can_be_understood_by_itself_points_at_nothing(text: str) -> None:
    assert refers_back(text) is None


LEANS = [
    "",
    "<@U1>",
    "explain",
    "summarise this",
    "Summarize the discussion above",
    "what did we decide?",
    "deal with this",
    "can you help with this?",
    "tl;dr",
    "recap please",
    "thoughts?",
    "what do you think?",
    "is this right?",
    "translate",
    "translate this to English",
    "catch me up",
    "who's right?",
    "please handle it",
    "what happened?",
    "what's going on here",
    "action items?",
    "why?",
    "the second one",
    "answer Ana's question above",
    "fix it please",
    "can you take a look?",
    "这个怎么办",
    "总结一下",
    "看看上面",
    "帮忙看看",
    "怎么回事",
    "你怎么看？",
    "处理一下",
    "解释一下",
    "翻译一下",
    "刚才讨论的结论是什么",
    "大家说的对吗",
    "帮我整理一下待办",
    "这是什么意思",
    "上面的问题回答一下",
    "请总结以上讨论，并列出每个人负责的事情和截止日期",
]

COMPLETE = [
    "what's the weather in Paris",
    "cancel order ABC-1",
    "create an order of 5 monitors for the Berlin office and charge it to marketing",
    "remind me tomorrow at 9 to send the invoice",
    "what is 12 * 7",
    "list my orders",
    "summarise https://example.com/report.pdf",
    "what time is it in Tokyo",
    "convert 100 USD to EUR",
    "translate 'good morning' into Spanish",
    "search the channel for the word budget and list who used it most often this month",
    "order 20 chairs",
    "who is the president of France",
    "北京天气怎么样",
    "取消订单 ABC-1",
    "明天九点提醒我交周报",
    "东京现在几点",
    "查一下订单 ORD-2024-001 的状态",
    "帮我下一个订单，五台显示器，送到柏林办公室",
    "12 乘以 7 等于多少",
    "列出我的订单",
]


@pytest.mark.parametrize("text", LEANS)
def test_a_message_that_leans_on_the_channel_is_seen_to(text: str) -> None:
    assert looks_back(text)


@pytest.mark.parametrize("text", COMPLETE)
def test_a_request_of_its_own_leans_on_nothing(text: str) -> None:
    assert not looks_back(text)


def test_width_case_and_the_mention_make_no_difference() -> None:
    assert refers_back("<@U0B0T>  ＳＡＭＥ as Last Time!") == Reference("same_as_before")


@pytest.mark.parametrize("text", ["a " * 200_000, "那" * 100_000, "the same " * 40_000, "what did we " * 30_000, "and " * 50_000 + "?", "请" * 50_000])
def test_a_very_long_text_takes_no_longer_than_its_beginning(text: str) -> None:
    refers_back(text)
    looks_back(text)
