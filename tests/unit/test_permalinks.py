"""Where a message is read in Slack."""

from __future__ import annotations

import pytest

from bot.permalinks import permalink
from memory.keys import Thread

URL = "https://northwind.slack.com/"
TOP = "https://northwind.slack.com/archives/C1/p1700000000000100"


@pytest.mark.parametrize(
    ("thread_ts", "ts", "link"),
    [
        ("", "1700000000.000100", TOP),
        ("1700000000.000100", "1700000000.000100", TOP),
        ("1600000000.000200", "1700000000.000100", f"{TOP}?thread_ts=1600000000.000200&cid=C1"),
    ],
    ids=["no thread", "first of a thread", "reply"],
)
@pytest.mark.parametrize("url", [URL, URL.rstrip("/")], ids=["slash", "none"])
def test_a_message_has_its_address(url: str, thread_ts: str, ts: str, link: str) -> None:
    assert permalink(url, Thread(team_id="T1", channel_id="C1", thread_ts=thread_ts), ts) == link


@pytest.mark.parametrize(("url", "channel", "ts"), [("", "C1", "1.1"), (URL, "", "1.1"), (URL, "C1", "")], ids=["workspace", "channel", "message"])
def test_without_its_parts_there_is_no_address(url: str, channel: str, ts: str) -> None:
    assert permalink(url, Thread(team_id="T1", channel_id=channel), ts) == ""
