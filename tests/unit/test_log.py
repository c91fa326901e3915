"""What a log line holds, and what it must never hold."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from bot.log import CHATTY, MASK, Redactor, configure_logging

Lines = Callable[[], list[dict[str, Any]]]

SENTINELS = [
    "xoxb-1234567890-abcDEF",
    "xoxp-99-secret",
    "xoxe.xoxp-1-Mi0yLTEx",
    "xoxe-1-Mi0yLTEx",
    "xapp-1-A0-123-abcdef",
    "sk-proj-abc_DEF-123456",
    "Bearer eyJhbGciOi.abc.def",
    "redis://user:hunter22@host:6379/0",
    "plain-signing-secret",
]


@pytest.fixture
def written() -> Iterator[tuple[io.StringIO, Lines]]:
    """Logging set up on a buffer, and put back afterwards."""
    root = logging.getLogger()
    handlers, level, libraries = root.handlers[:], root.level, {name: logging.getLogger(name).level for name in CHATTY}
    buffer = io.StringIO()
    configure_logging(level="DEBUG", secrets=["plain-signing-secret"], stream=buffer)
    yield buffer, lambda: [json.loads(line) for line in buffer.getvalue().splitlines()]
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in libraries.items():
        logging.getLogger(name).setLevel(before)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_a_line_is_json_with_time_level_logger_and_the_ids_bound_to_the_task(written: tuple[io.StringIO, Lines]) -> None:
    structlog.contextvars.bind_contextvars(run="r1", correlation="c1")
    structlog.get_logger("bot.worker").info("claimed", session="T:C:1", waited_ms=3)
    logging.getLogger("bot.edge").warning("late by %d ms", 7, extra={"shard": 4})
    ours, stdlib = written[1]()
    assert {
        "event": "claimed",
        "level": "info",
        "logger": "bot.worker",
        "run": "r1",
        "correlation": "c1",
        "session": "T:C:1",
        "waited_ms": 3,
    }.items() <= ours.items()
    assert {"event": "late by 7 ms", "level": "warning", "logger": "bot.edge", "run": "r1", "shard": 4}.items() <= stdlib.items()
    assert ours["timestamp"].endswith("Z")


@pytest.mark.parametrize("secret", SENTINELS)
def test_a_secret_is_masked_wherever_it_hides(written: tuple[io.StringIO, Lines], secret: str) -> None:
    def fail() -> None:
        try:
            raise ValueError(f"inner {secret}")
        except ValueError as inner:
            raise RuntimeError("outer") from inner

    log = structlog.get_logger("bot")
    log.info(f"in the event {secret}", nested={"list": [{"deep": f"({secret})"}], secret: 1}, raw=secret.encode(), thing=Exception(secret))
    logging.getLogger("library").error("argument %s", secret)
    for logger in (log, logging.getLogger("library")):
        try:
            fail()
        except RuntimeError:
            logger.exception("failed")
    text = written[0].getvalue()
    hidden = "hunter22" if "hunter22" in secret else secret.removeprefix("Bearer ")
    assert hidden not in text
    assert MASK in text
    assert "inner" in text
    assert "outer" in text
    assert len(written[1]()) == 4


def test_a_value_whose_key_names_a_secret_is_masked_whole_but_counts_of_tokens_are_not() -> None:
    line = Redactor()(None, "info", {"event": "x", "bot_token": "abc", "Authorization": "Basic abc", "api_key": "abc", "tokens": 12, "max_tokens": 5})
    assert line == {"event": "x", "bot_token": MASK, "Authorization": MASK, "api_key": MASK, "tokens": 12, "max_tokens": 5}


def test_ordinary_words_and_chinese_are_left_alone(written: tuple[io.StringIO, Lines]) -> None:
    structlog.get_logger("bot").info("risk-free task-list, the bearer of 好消息", url="https://host/path?a=1")
    assert "risk-free task-list" in written[0].getvalue()
    assert "好消息" in written[0].getvalue()
    assert "https://host/path?a=1" in written[0].getvalue()


def test_libraries_that_print_bodies_are_quiet_even_at_debug(written: tuple[io.StringIO, Lines]) -> None:
    logging.getLogger("slack_bolt.middleware.request_verification").info("Invalid request signature detected (body: text=hello)")
    logging.getLogger("openai._base_client").debug("Request options: {'messages': 'hello'}")
    logging.getLogger("slack_bolt.AsyncApp").warning("Unhandled request ({'type': 'event', 'text': 'hello'})")
    assert "hello" not in written[0].getvalue()
    assert len(written[1]()) == 1


def test_setting_up_twice_does_not_write_twice(written: tuple[io.StringIO, Lines]) -> None:
    configure_logging(level="INFO", stream=written[0])
    structlog.get_logger("bot").info("once")
    structlog.get_logger("bot").debug("never")
    assert [line["event"] for line in written[1]()] == ["once"]


def test_the_console_form_is_plain_lines_with_secrets_masked(written: tuple[io.StringIO, Lines]) -> None:
    buffer = io.StringIO()
    configure_logging(fmt="console", stream=buffer)
    try:
        raise ValueError("xoxb-12-ab")
    except ValueError:
        structlog.get_logger("bot").exception("failed", run="r1")
    assert "failed" in buffer.getvalue()
    assert "r1" in buffer.getvalue()
    assert "ValueError" in buffer.getvalue()
    assert "xoxb" not in buffer.getvalue()
