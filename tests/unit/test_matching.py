"""Which messages a query finds, in English, Chinese and both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.builtin.matching import SNIPPET, query

FOUND = [
    ("deploy", "We DEPLOY on Friday"),
    ("deploy", "deployments are frozen"),
    ("deploy friday", "on Friday we deploy"),
    ("the deploy of friday", "Friday: deploy"),
    ("ＤＥＰＬＯＹ", "deploy"),
    ('"on friday"', "we deploy on Friday"),
    ("“采购合同”", "新的采购合同已签"),
    ("采购合同", "合同的采购流程"),
    ("采购合同怎么样了", "采购合同已经签了"),
    ("预算", "今年的预算批准了"),
    ("钱", "没有钱"),
    ("redis 超时", "线上redis又超时了"),
    ("ABC-20240520-001", "order abc-20240520-001 shipped"),
    ("the", "the end"),
    ("naïve café", "a NAÏVE person in a café"),
]
NOT_FOUND = [
    ("deploy friday", "we deploy on Monday"),
    ("art", "start the party"),
    ('"friday on"', "we deploy on Friday"),
    ("采购合同", "采购部门在三楼"),
    ("redis 超时", "redis 很好"),
    ("redis 超时", "数据库超时"),
    ("预算", "预先算好"),
]


@pytest.mark.parametrize(("wanted", "message"), FOUND)
def test_a_message_that_fits_is_found(wanted: str, message: str) -> None:
    assert query(wanted).weigh(message) > 0


@pytest.mark.parametrize(("wanted", "message"), NOT_FOUND)
def test_a_message_that_does_not_fit_is_not(wanted: str, message: str) -> None:
    assert query(wanted).weigh(message) == 0


def test_the_more_of_a_chinese_query_is_there_the_better() -> None:
    wanted = query("采购合同审批")

    assert wanted.weigh("采购合同审批完成") > wanted.weigh("采购合同签了") > 0


@pytest.mark.parametrize("nothing", ["", "  ", "?!", "🙂"])
def test_a_query_without_words_is_empty(nothing: str) -> None:
    assert query(nothing).empty


def test_a_long_message_is_shown_around_what_was_found() -> None:
    message = "x " * 400 + "the zebra crossed" + " y" * 400

    shown = query("zebra").snippet(message)

    assert "the zebra crossed" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= SNIPPET + 2


@given(st.text(max_size=80), st.text(max_size=400))
def test_any_query_can_be_held_against_any_message(wanted: str, message: str) -> None:
    read = query(wanted)

    assert 0.0 <= read.weigh(message) <= 1.0
    assert len(read.snippet(message)) <= SNIPPET + 2
