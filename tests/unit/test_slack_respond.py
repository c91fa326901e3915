"""Where an answer to a click may go: to Slack, or to where our own API is, and nowhere else, whatever a payload names."""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.render import Rendered
from bot.slack import Slack, SlackDown, SlackRefused

LIST = Rendered("Revoked.", [])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://127.0.0.1:1/hooks",
        "http://hooks.slack.com/actions/1",
        "https://hooks.slack.com.example/actions/1",
        "https://example.com/?x=hooks.slack.com",
        "https://hooks.slack.com@example.com/",
        "https://evilslack.com/",
        "file:///etc/passwd",
        "https://169.254.169.254/latest",
    ],
)
async def test_an_answer_goes_to_no_other_host(url: str) -> None:
    slack = Slack(AsyncWebClient(token="xoxb-1", base_url="https://slack.com/api/", retry_handlers=[]))

    with pytest.raises(SlackRefused, match="invalid_url"):
        await slack.respond(url, LIST)


async def test_a_line_that_is_down_is_told_apart_from_a_refusal() -> None:
    slack = Slack(AsyncWebClient(token="xoxb-1", base_url="http://127.0.0.1:9/api/", retry_handlers=[]))

    with pytest.raises(SlackDown):
        await slack.respond("http://127.0.0.1:9/hooks/actions/1", LIST)
