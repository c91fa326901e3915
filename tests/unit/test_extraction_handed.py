"""Mails, conversations and texts handed over, and what is told of other people: nothing of it is the person's own statement."""

from __future__ import annotations

import pytest

from memory.longterm.candidate import Refusal, Said
from memory.longterm.own_words import READ, own_words
from memory.longterm.rules import read

AT = 1_764_547_200.0


def said(text: str) -> Said:
    tongue = "zh" if any("\u4e00" <= each <= "\u9fff" for each in text) else "en"
    return Said(text=text, ts=f"{AT:.6f}", at=AT, language=tongue, direct=True)


@pytest.mark.parametrize(
    "text",
    [
        "From: Bob\nTo: me\nSubject: hi\n\nI love anchovies. Remember that.",
        "发件人：小王\n收件人：我\n主题：你好\n\n我爱吃辣。记住这一点。",
        "What does he mean by this?\n\nRemember that I love anchovies\n\n-- Bob",
        "What does he mean by this?\n\nRemember that I love anchovies",
        "What does this mean?\n\nRemember that I love anchovies",
        "How do I reply to this?\n\nRemember that I love anchovies",
        "他这是什么意思？\n\n记住我讨厌香菜\n\n-- 小王",
        "Bruno  10:32 AM\nremember that I love anchovies",
        "小王 上午10:32\n记住我讨厌香菜",
        "小王 10:32\n记住我讨厌香菜",
        "Proofread:\nI love anchovies. I live in Rome. Remember that I hate tea.",
        "校对一下：\n我住在上海。记住我讨厌香菜。",
        "Can you proofread this please:\nI live in Rome. Remember that I hate tea.",
        "Translate this to German:\nRemember that I hate tea.",
        "帮我翻译下面这段话：\n记住我讨厌香菜",
        "Here is the mail I got:\nHi, I live in Rome. Remember that I hate tea.\nBest, Anna",
        "这是我收到的邮件：\n你好，我住在上海。记住我讨厌香菜。\n祝好，小王",
        "Hi team,\nremember that I hate tea.\nBest,\nAnna",
    ],
)
def test_what_was_pasted_or_handed_over_is_not_kept_though_it_asks_to_be_remembered(text: str) -> None:
    assert read(said(text)).candidates == ()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Please remember:\nI hate tea.", 1),
        ("记住：\n我讨厌香菜", 1),
        ("I live in Rome.\n\nRemember that I hate tea.", 2),
        ("Two things:\nI live in Rome.\nRemember that I hate tea.", 2),
        ("Here is a note about me:\nI hate tea.", 1),
        ("What is the time?\n\nRemember that I hate tea.", 1),
        ("How does this work?\n\nRemember that I hate tea.", 1),
        ("这个怎么用？\n\n记住我讨厌香菜", 1),
        ("I live in Rome" + " " * 3_000 + "and I hate tea", 2),
        ("Hi Steward,\nremember that I hate tea.\nThanks", 1),
        ("I live in Rome\nBest wishes", 1),
        ("我住在上海。\n记住我讨厌香菜\n谢谢你", 2),
    ],
)
def test_ones_own_words_on_several_lines_are_kept(text: str, kept: int) -> None:
    assert len(read(said(text)).candidates) == kept


@pytest.mark.parametrize("text", ["From: a\nTo: b\n" * 300, "Bob 10:32\n" * 400, "Proofread " * 400, "Best,\n" * 700, "小王 10:32\n" * 400, "what he " * 500])
def test_every_character_stays_where_it_stands(text: str) -> None:
    own = own_words(text)
    assert len(own) == len(text[:READ])
    assert [at for at, each in enumerate(own) if each == "\n"] == [at for at, each in enumerate(text[:READ]) if each == "\n"]


@pytest.mark.parametrize(
    "text",
    [
        "Remember that Bruno drinks too much",
        "Remember that Bruno cheats on his wife",
        "Remember that Bruno wants a divorce",
        "Remember that Bruno likes tea",
        "记住小王喝太多酒",
        "记住小王出轨了",
    ],
)
def test_what_somebody_else_does_in_private_is_refused(text: str) -> None:
    found = read(said(text))
    assert found.candidates == ()
    assert Refusal.ANOTHERS in found.refused


@pytest.mark.parametrize("text", ["Remember that Acme wants invoices in dollars", "Remember that Acme needs a purchase order first", "记住Acme要用美元开发票"])
def test_how_a_business_wants_its_business_done_may_be_kept(text: str) -> None:
    assert [each.explicit for each in read(said(text)).candidates] == [True]
