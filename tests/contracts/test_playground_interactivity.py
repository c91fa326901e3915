"""Buttons, modals, commands, shortcuts, response URLs, triggers: with a real Bolt app on both transports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from playground import seed
from playground.actions import RefusedError
from playground.appconfig import AppConfig, Command, Shortcut
from playground.server import Playground
from tests.contracts.playground_kit import TRANSPORTS, button, card, client_of, connected, error_of, modal, opened, section, typed

Json = dict[str, Any]


class Shop:
    """A Bolt app: a button `open` opens a modal, `go` only acknowledges, `/shop` answers, the modal is answered as `reply` says."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        self.reply: Json = {}

    def register(self, app: AsyncApp) -> None:
        """The listeners."""

        @app.action("open")
        async def open_modal(ack: Any, body: Json, client: Any) -> None:
            await ack()
            self.bodies.append(body)
            await client.views_open(trigger_id=body["trigger_id"], view=modal(notify_on_close=True))

        @app.action("go")
        async def go(ack: Any, body: Json) -> None:
            await ack()
            self.bodies.append(body)

        @app.view("cb")
        async def submitted(ack: Any, body: Json) -> None:
            await ack(**self.reply)
            self.bodies.append(body)

        @app.view_closed("cb")
        async def closed(ack: Any, body: Json) -> None:
            await ack()
            self.bodies.append(body)

        @app.command("/shop")
        async def shop(ack: Any, body: Json) -> None:
            self.bodies.append(body)
            await ack(**({"text": f"you said {body['text']}"} | self.reply))

        @app.shortcut("ask")
        async def ask(ack: Any, body: Json) -> None:
            await ack()
            self.bodies.append(body)

        @app.options("pick")
        async def pick(ack: Any, body: Json) -> None:
            self.bodies.append(body)
            await ack(options=[{"text": {"type": "plain_text", "text": body["value"]}, "value": "1"}])


async def post_card(pg: Playground, *buttons: Json, **where: Any) -> str:
    """Post a card as the app; its ts."""
    posted = await client_of(pg).chat_postMessage(channel=seed.GENERAL, text="card", blocks=card(*buttons), **where)
    return str(posted["ts"])


async def open_modal(pg: Playground) -> Json:
    """Click through to the modal."""
    ts = await post_card(pg, button("open"))
    await pg.click("alice", "#general", ts, "open")
    view = await pg.wait_for(lambda: pg.view("alice"))
    assert view is not None
    return view


@TRANSPORTS
async def test_a_click_carries_the_message_the_person_and_the_value(transport: str) -> None:
    shop = Shop()
    async with connected(transport, shop.register) as pg:
        root = await pg.say("alice", "#general", "root")
        ts = await post_card(pg, button("go", "yes"), {**button("go2", "no")}, thread_ts=root)
        outcome = await pg.click("mei", "#general", ts, "go")
        await pg.wait_for(lambda: bool(shop.bodies))

    assert outcome["ok"]
    body = shop.bodies[0]
    assert (body["user"]["id"], body["channel"]["id"], body["message"]["ts"]) == (seed.MEI, seed.GENERAL, ts)
    assert body["container"] == {"type": "message", "message_ts": ts, "channel_id": seed.GENERAL, "is_ephemeral": False, "thread_ts": root}
    action = body["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"], action["type"]) == ("go", "card", "yes", "button")


async def test_a_click_nobody_acknowledges_fails_after_the_time_allowed() -> None:
    async with connected("socket", Shop().register, ack_timeout=0.05) as pg:
        ts = await post_card(pg, button("unheard"))
        outcome = await pg.click("alice", "#general", ts, "unheard")

    assert (outcome["ok"], outcome["error"]) == (False, "dispatch_failed")


async def test_a_click_already_under_way_still_arrives_after_the_card_changed_but_not_on_what_never_was() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg:
        ts = await post_card(pg, button("go"))
        await client_of(pg).chat_update(channel=seed.GENERAL, ts=ts, text="done", blocks=[section("done")])
        assert (await pg.click("alice", "#general", ts, "go"))["ok"]
        with pytest.raises(RefusedError, match="no_such_element"):
            await pg.click("alice", "#general", ts, "never")
        with pytest.raises(RefusedError, match="channel_not_found"):
            await pg.click("dana", "#general", ts, "go")


@TRANSPORTS
async def test_a_modal_shows_errors_then_closes(transport: str) -> None:
    shop = Shop()
    async with connected(transport, shop.register) as pg:
        view = await open_modal(pg)
        shop.reply = {"response_action": "errors", "errors": {"i": "too short"}}
        assert await pg.submit("alice", view["id"], typed("x")) == {"ok": False, "errors": {"i": "too short"}}
        assert pg.view("alice") is not None
        shop.reply = {}
        assert await pg.submit("alice", view["id"], typed("long enough")) == {"ok": True}
        assert pg.view("alice") is None

    assert shop.bodies[-1]["type"] == "view_submission"
    assert shop.bodies[-1]["view"]["state"]["values"]["i"]["a"]["value"] == "long enough"


async def test_errors_for_what_is_no_input_are_a_failure_the_person_sees() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg:
        view = await open_modal(pg)
        shop.reply = {"response_action": "errors", "errors": {"nowhere": "x"}}
        assert (await pg.submit("alice", view["id"], typed("x")))["error"] == "invalid_errors"


async def test_modals_are_pushed_updated_cleared_and_stacked_at_most_three() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg:
        view = await open_modal(pg)
        shop.reply = {"response_action": "update", "view": modal("Updated")}
        assert (await pg.submit("alice", view["id"], typed("x")))["view"]["title"]["text"] == "Updated"
        pushed: Json = {}
        for depth in (2, 3):
            top = pg.view("alice")
            assert top is not None
            shop.reply = {"response_action": "push", "view": modal(f"Level {depth}")}
            pushed = (await pg.submit("alice", top["id"], typed("x")))["view"]
            assert (pushed["previous_view_id"], pushed["root_view_id"]) == (top["id"], view["id"])
        assert (await pg.submit("alice", pushed["id"], typed("x")))["error"] == "push_limit_reached"
        shop.reply = {}
        assert (await pg.submit("alice", pushed["id"], typed("x")))["view"]["title"]["text"] == "Level 2"
        shop.reply = {"response_action": "clear"}
        top = pg.view("alice")
        assert top is not None
        await pg.submit("alice", top["id"], typed("x"))
        assert pg.view("alice") is None


async def test_closing_is_told_to_an_app_that_asked() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg:
        view = await open_modal(pg)
        await pg.close_view("alice", view["id"])
        await pg.wait_for(lambda: any(b["type"] == "view_closed" for b in shop.bodies))

    assert shop.bodies[-1]["is_cleared"] is False


async def test_a_trigger_works_once_within_three_seconds() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg:
        client = client_of(pg)
        ts = await post_card(pg, button("go"))
        await pg.click("alice", "#general", ts, "go")
        await pg.wait_for(lambda: len(shop.bodies) == 1)
        await client.views_open(trigger_id=shop.bodies[0]["trigger_id"], view=modal())
        assert (await error_of(client.views_open(trigger_id=shop.bodies[0]["trigger_id"], view=modal())))["error"] == "exchanged_trigger_id"
        await pg.click("alice", "#general", ts, "go")
        await pg.wait_for(lambda: len(shop.bodies) == 2)
        pg.core.clock.advance(3.1)
        assert (await error_of(client.views_open(trigger_id=shop.bodies[1]["trigger_id"], view=modal())))["error"] == "expired_trigger_id"
        assert (await error_of(client.views_open(trigger_id="1.2.3", view=modal())))["error"] == "invalid_trigger_id"


async def test_views_are_updated_by_id_or_external_id_unless_the_hash_is_old() -> None:
    async with opened() as pg:
        client = client_of(pg)
        view = (await client.views_open(trigger_id=pg.core.interactivity.trigger(seed.ALICE), view=modal(external_id="e1")))["view"]
        changed = (await client.views_update(view_id=view["id"], hash=view["hash"], view=modal("New")))["view"]
        assert changed["title"]["text"] == "New"
        assert (await error_of(client.views_update(view_id=view["id"], hash=view["hash"], view=modal())))["error"] == "hash_conflict"
        assert (await error_of(client.views_update(view_id="V0", view=modal())))["error"] == "not_found"
        await client.views_update(view_id=view["id"], view=modal(external_id="e2"))
        assert (await client.views_update(external_id="e2", view=modal("By external id")))["ok"]
        body = await error_of(client.views_open(trigger_id=pg.core.interactivity.trigger(seed.ALICE), view=modal("x" * 25)))
        assert body["response_metadata"]["messages"] == ["[ERROR] must be less than 25 characters [json-pointer:/view/title/text]"]


async def test_app_home_is_published_and_comes_with_its_opening() -> None:
    home = {"type": "home", "blocks": [section("Hello")]}
    async with connected("socket", lambda app: None) as pg:
        await client_of(pg).views_publish(user_id=seed.ALICE, view=home)
        opened_home = await pg.open_home("alice")
        assert opened_home["view"]["blocks"][0]["text"]["text"] == "Hello"
        assert pg.home("mei") is None
        assert (await error_of(client_of(pg).views_publish(user_id=seed.ALICE, view=modal())))["error"] == "invalid_arguments"


@TRANSPORTS
@pytest.mark.parametrize("in_channel", [False, True])
async def test_a_command_is_answered_privately_or_in_the_channel(transport: str, in_channel: bool) -> None:
    shop = Shop()
    shop.reply = {"response_type": "in_channel"} if in_channel else {}
    config = replace(AppConfig(), commands=(Command("/shop", should_escape=True),))
    async with connected(transport, shop.register, app_config=config) as pg:
        outcome = await pg.command("alice", "#leads", "/shop", "for @mei")
        public = [m["text"] for m in pg.messages("#leads")]
        private = [m["text"] for m in pg.ephemerals("alice")]
        with pytest.raises(RefusedError, match="invalid_command"):
            await pg.command("alice", "#leads", "/other")

    said = f"you said for <@{seed.MEI}|mei>"
    assert outcome["ok"]
    assert (public, private) == (([said], []) if in_channel else ([], [said]))
    assert (shop.bodies[0]["channel_name"], shop.bodies[0]["user_name"]) == ("privategroup", "alice")
    assert "thread_ts" not in shop.bodies[0]


async def test_shortcuts_and_external_options_reach_the_app() -> None:
    shop = Shop()
    config = replace(AppConfig(), shortcuts=(Shortcut("Ask", "ask", "message"),))
    async with connected("socket", shop.register, app_config=config) as pg:
        ts = await pg.say("alice", "#general", "text")
        assert (await pg.shortcut("alice", "ask", "#general", ts))["ok"]
        assert (await pg.shortcut("alice", "ask"))["ok"]
        found = await pg.options("alice", channel="#general", message_ts=ts, block_id="b", action_id="pick", value="abc")

    assert [b["type"] for b in shop.bodies] == ["message_action", "shortcut", "block_suggestion"]
    assert shop.bodies[0]["message"]["text"] == "text"
    assert found["options"][0]["text"]["text"] == "abc"


Send = Callable[[Json], Any]


async def hook_of(pg: Playground, shop: Shop, ts: str) -> str:
    """The response URL of a click."""
    before = len(shop.bodies)
    await pg.click("alice", "#general", ts, "go")
    await pg.wait_for(lambda: len(shop.bodies) > before)
    return str(shop.bodies[-1]["response_url"])


async def test_a_response_url_answers_replaces_and_deletes() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg, aiohttp.ClientSession() as session:
        ts = await post_card(pg, button("go"))
        url = await hook_of(pg, shop, ts)
        for body in ({"text": "private"}, {"text": "public", "response_type": "in_channel"}, {"text": "replaced", "replace_original": True}):
            async with session.post(url, json=body) as response:
                assert (response.status, await response.text()) == (200, "ok")
        assert [m["text"] for m in pg.ephemerals("alice")] == ["private"]
        assert [m["text"] for m in pg.messages("#general")] == ["replaced", "public"]
        await session.post(url, json={"delete_original": True})
        assert [m["text"] for m in pg.messages("#general")] == ["public"]


async def test_a_response_url_works_five_times_within_half_an_hour() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg, aiohttp.ClientSession() as session:
        ts = await post_card(pg, button("go"))
        url = await hook_of(pg, shop, ts)
        statuses = []
        for n in range(6):
            async with session.post(url, json={"text": str(n)}) as response:
                statuses.append(response.status)
        other = await hook_of(pg, shop, ts)
        pg.core.clock.advance(1801)
        async with session.post(other, json={"text": "late"}) as response:
            statuses.append(response.status)

    assert statuses == [200] * 5 + [404, 404]


async def test_an_ephemeral_card_can_be_clicked_replaced_and_deleted_only_by_its_response_url() -> None:
    shop = Shop()
    async with connected("socket", shop.register) as pg, aiohttp.ClientSession() as session:
        sent = await client_of(pg).chat_postEphemeral(channel=seed.GENERAL, user=seed.ALICE, text="t", blocks=card(button("go")))
        url = await hook_of(pg, shop, sent["message_ts"])
        assert shop.bodies[0]["container"]["is_ephemeral"] is True
        assert "message" not in shop.bodies[0]
        await session.post(url, json={"text": "new", "replace_original": True})
        assert [m["text"] for m in pg.ephemerals("alice")] == ["new"]
        await session.post(url, json={"delete_original": True})
        assert pg.ephemerals("alice") == []
