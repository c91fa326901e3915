"""What a tool's own message must not tell a model or a person."""

from __future__ import annotations

import pytest

from tools.redact import HIDDEN, hide


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("cannot reach postgres://admin:hunter2@db.internal:5432/x", f"cannot reach {HIDDEN}"),
        ("refused by 10.0.0.5:6379 and 192.168.1.20", f"refused by {HIDDEN} and {HIDDEN}"),
        ("token=xoxb-123456-abcdef is wrong", f"token={HIDDEN} is wrong"),
        ("key sk-proj-abcdefgh12345678 expired", f"key {HIDDEN} expired"),
        ("Authorization: Bearer abc.def.ghi", f"Authorization: Bearer {HIDDEN}"),
        ("see /home/ops/secrets/app.env for it", f"see {HIDDEN} for it"),
        ("打不开 /var/lib/app/data.db，请稍后再试", f"打不开 {HIDDEN}"),
    ],
)
def test_secrets_and_inside_places_are_hidden(said: str, told: str) -> None:
    assert hide(said).startswith(told)


@pytest.mark.parametrize(
    "said",
    [
        "There is no order ABC-20240520-001.",
        "See https://example.com/home/news for the page, or 8.8.8.8.",
        "Use /steward grants to see them; 1/2 of it is done; version 10.2.3.",
        "已发货，不能取消。",
        "mailto:ana@example.com",
    ],
)
def test_ordinary_words_stay(said: str) -> None:
    assert hide(said) == said
