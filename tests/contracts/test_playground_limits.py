"""Rate limits and ordered failures, as the SDK's client sees them."""

from __future__ import annotations

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncServerErrorRetryHandler

from playground import seed
from playground.server import Playground
from tests.contracts.playground_kit import client_of, error_of, opened


async def limited(pg: Playground, method: str, count: int, **args: str) -> SlackApiError | None:
    """The refusal met within `count` calls, if any."""
    client = client_of(pg)
    for _ in range(count):
        try:
            await client.api_call(method, params=args)
        except SlackApiError as error:
            if error.response.status_code == 429:
                return error
    return None


@pytest.mark.parametrize(("method", "quota"), [("users.list", 20), ("users.conversations", 50), ("users.info", 100)])
async def test_each_tier_has_its_quota_a_minute(method: str, quota: int) -> None:
    async with opened(enforce_rate_limits=True) as pg:
        assert await limited(pg, method, quota, user=seed.ALICE) is None
        refusal = await limited(pg, method, 1, user=seed.ALICE)
        assert refusal is not None
        assert refusal.response["error"] == "ratelimited"
        wait = int(refusal.response.headers["Retry-After"])
        assert 1 <= wait <= 60
        pg.core.clock.advance(wait)
        assert await limited(pg, method, 1, user=seed.ALICE) is None


async def test_one_post_a_second_in_each_channel() -> None:
    async with opened(enforce_rate_limits=True) as pg:
        client = client_of(pg)
        await client.chat_postMessage(channel=seed.GENERAL, text="1")
        await client.chat_postMessage(channel=seed.ORDERS, text="1")
        refusal = await error_of(client.chat_postMessage(channel=seed.GENERAL, text="2"))
        assert refusal["error"] == "ratelimited"
        pg.core.clock.advance(1)
        await client.chat_postMessage(channel=seed.GENERAL, text="2")


async def test_limits_are_off_by_default_and_can_be_scaled() -> None:
    async with opened() as pg:
        assert await limited(pg, "users.list", 25) is None
        pg.core.limits.enforce, pg.core.limits.scale = True, 0.1
        assert await limited(pg, "users.list", 3) is not None


async def test_ordered_faults_are_met_in_order_and_then_gone() -> None:
    async with opened() as pg:
        client = client_of(pg)
        pg.fault("chat.postMessage", "error", error="fatal_error")
        pg.fault("chat.postMessage", "ratelimit", retry_after=7)
        pg.fault("*", "status", status=503)
        assert (await error_of(client.chat_postMessage(channel=seed.GENERAL, text="x")))["error"] == "fatal_error"
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel=seed.GENERAL, text="x")
        assert caught.value.response.headers["Retry-After"] == "7"
        with pytest.raises(SlackApiError) as caught:
            await client.auth_test()
        assert caught.value.response.status_code == 503
        assert (await client.chat_postMessage(channel=seed.GENERAL, text="x"))["ok"]
        assert len(pg.messages("#general")) == 1


async def test_a_dropped_call_was_not_processed_and_one_dropped_after_was() -> None:
    async with opened() as pg:
        client = client_of(pg)
        pg.fault("chat.postMessage", "drop")
        pg.fault("chat.postMessage", "drop_after")
        for expected in (0, 1):
            with pytest.raises(aiohttp.ClientError):
                await client.chat_postMessage(channel=seed.GENERAL, text="x")
            assert len(pg.messages("#general")) == expected


async def test_the_sdks_own_retry_handlers_work_against_it() -> None:
    async with opened() as pg:
        client = client_of(pg)
        client.retry_handlers.append(AsyncServerErrorRetryHandler(max_retry_count=1))
        pg.fault("auth.test", "status", status=500)
        assert (await client.auth_test())["ok"]


async def test_a_fault_of_unknown_kind_is_refused() -> None:
    async with opened() as pg:
        with pytest.raises(ValueError, match="unknown kind"):
            pg.fault("chat.postMessage", "explode")
        with pytest.raises(ValueError, match="unknown order"):
            pg.delivery(order="sideways")
        with pytest.raises(ValueError, match="unknown setting"):
            pg.delivery(speed=5)
