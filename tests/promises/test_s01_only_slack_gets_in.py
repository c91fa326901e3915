"""Only Slack gets in: what is not properly signed, fresh, small and well-formed reaches no handler, is not stored, and never makes the bot fail.

Real requests, recorded from a conversation with buttons, forms and a command, are broken in every way and sent to the real
HTTP edge. Forged ones must not reach Bolt at all; signed ones with a wrong type in a field that is read are refused.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from tests.conftest import Recorder
from tests.fakes.scripted_model import ScriptedModel, obey_policy
from tests.fakes.valkey import Valkey
from tests.promises.kit import FORM, JSON, TOOLS, Answered, HttpStack, Sent, Upstream, card, http_running, post, signed, stored

pytestmark = [pytest.mark.promise, pytest.mark.timeout(900)]

Path = tuple[str | int, ...]
WRONG: list[Any] = [5, -1.5, True, [], {}, "x", ["x"], {"a": 1}, [[]], 10**400, "\x00", "é💥"]
EVENT = ["channel", "ts", "user", "text", "thread_ts", "channel_type", "team", "blocks", "files"]
_EVENT = "type event event/type"
_INTERACTIVE = "type user user/id user/team_id"
READ: dict[str, set[Path]] = {
    kind: {tuple(int(part) if part.isdigit() else part for part in place.split("/")) for place in places.split()}
    for kind, places in {
        "app_mention": f"{_EVENT} {' '.join(f'event/{name}' for name in EVENT)}",
        "message": f"{_EVENT} {' '.join(f'event/{name}' for name in EVENT)}",
        "message_changed": f"{_EVENT} event/subtype event/channel event/message event/message/ts event/message/text event/message/user event/previous_message",
        "message_deleted": f"{_EVENT} event/subtype event/channel event/deleted_ts event/previous_message",
        "block_actions": f"{_INTERACTIVE} channel channel/id container container/message_ts container/thread_ts message actions actions/0 "
        "actions/0/action_id actions/0/value actions/0/action_ts",
        "view_submission": f"{_INTERACTIVE} view view/callback_id view/private_metadata view/state view/state/values",
        "url_verification": "type challenge",
    }.items()
}
"""The places that are read: a wrong type in one of them is refused."""


@dataclass
class Seen:
    """What came of a class of requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    stored: int = 0
    reached: int = 0


@dataclass
class Field:
    """The bot under fire."""

    bot: HttpStack
    seeds: dict[str, list[dict[str, Any]]]
    chance: random.Random
    reached: Counter[str] = field(default_factory=Counter)
    stamps: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def fresh(self, kind: str) -> dict[str, Any]:
        """A recorded payload of this kind that was never sent: were it accepted, it would be stored."""
        payload = copy.deepcopy(self.chance.choice(self.seeds[kind]))
        stamp = f"{int(time.time())}.{next(self.stamps):06d}"
        if isinstance(event := payload.get("event"), dict):
            event["event_ts"] = stamp
            for name in ("ts", "deleted_ts"):
                if name in event:
                    event[name] = stamp
            if isinstance(message := event.get("message"), dict):
                message["edited"] = {"user": message.get("user", ""), "ts": stamp}
            payload["event_id"] = f"Ev{stamp}"
        for action in payload.get("actions") or []:
            action["action_ts"] = stamp
        if kind == "view_submission":
            payload["view"]["id"] = f"V{stamp}"
        return payload


def encoded(kind: str, payload: Any) -> tuple[bytes, str]:
    """A payload as Slack puts it on the wire."""
    if kind == "command":
        return urlencode(payload).encode(), FORM
    if kind in {"block_actions", "view_submission"}:
        return urlencode({"payload": json.dumps(payload)}).encode(), FORM
    return json.dumps(payload).encode(), JSON


async def record(bot: HttpStack, model: ScriptedModel) -> dict[str, list[dict[str, Any]]]:
    """A conversation that uses everything, as payloads by kind."""
    slack = bot.stack.slack
    ts = await slack.say("alice", "#orders", '@steward CALL book {"n": 1}')
    asked = await card(bot.stack, "#orders", ts)
    await slack.say("alice", "#orders", "@steward look at this", thread_ts=ts, file_ids=[await slack.upload("alice", "a.txt", b"a")])
    told = await slack.say("bruno", "#orders", "by the way", thread_ts=ts)
    await slack.edit("bruno", "#orders", told, "by the way, 你好")
    await slack.delete("bruno", "#orders", told)
    await slack.say("alice", slack.dm("alice"), "hello")
    later = await slack.say("alice", "#orders", '@steward CALL book {"n": 2}')
    asked = await card(bot.stack, "#orders", later)
    for action in ("steward:edit", "steward:deny_reason"):
        await slack.click("alice", "#orders", asked["ts"], action)
        await bot.stack.until(lambda: slack.view("alice"))
        view = slack.view("alice")
        assert view is not None
        inputs = [b for b in view["blocks"] if b["type"] == "input"]
        await slack.submit("alice", view["id"], {b["block_id"]: {"value": {"type": "plain_text_input", "value": "a"}} for b in inputs})
    third = await slack.say("alice", "#orders", '@steward CALL book {"n": 3}')
    asked = await card(bot.stack, "#orders", third)
    await slack.click("bruno", "#orders", asked["ts"], "steward:approve")  # refused: the card stays open
    await slack.command("alice", "#orders", "/steward", "help")
    await slack.open_home("alice")
    await bot.stack.quiet()
    seeds: dict[str, list[dict[str, Any]]] = {"url_verification": [{"type": "url_verification", "token": "t", "challenge": "c"}]}
    for sent in bot.recorder.requests:
        if sent.content_type == JSON:
            payload = json.loads(sent.body)
            event = payload["event"]
            kind = event.get("subtype") if event.get("subtype") in {"message_changed", "message_deleted"} else event["type"]
        else:
            fields = {name: values[0] for name, values in parse_qs(sent.body.decode(), keep_blank_values=True).items()}
            payload = json.loads(fields["payload"]) if "payload" in fields else fields
            kind = payload["type"] if "payload" in fields else "command"
        seeds.setdefault(str(kind), []).append(payload)
    return seeds


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """Every place in a payload."""
    if here:
        yield here
    if isinstance(value, dict):
        for key, child in value.items():
            yield from paths(child, (*here, key))
    elif isinstance(value, list):
        for index, child in enumerate(value[:2]):
            yield from paths(child, (*here, index))


def put(payload: Any, path: Path, value: Any) -> Any:
    """The payload with another value in one place."""
    node = payload
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    return payload


def at(payload: Any, path: Path) -> Any:
    for step in path:
        payload = payload[step]
    return payload


def forged(ground: Field) -> tuple[Sent, bool]:
    """A request that Slack did not send, or not now; and whether it goes out in chunks."""
    chance = ground.chance
    kind = chance.choice(sorted(ground.seeds))
    body, content_type = encoded(kind, ground.fresh(kind))
    good = signed(ground.bot.secret, body, content_type)
    stamp, signature = good.headers[0][1], good.headers[1][1]
    now = int(time.time())
    texts = [b"abc", b"", b"1e9", b"-5", b"0x10", "١٢٣".encode(), b"9" * 30, b"nan", b"%d.5" % now, b" ", b"\xff", b"None"]
    names = (b"X-Slack-Request-Timestamp", b"X-Slack-Signature")

    def headers(time_header: bytes, signature_header: bytes) -> Sent:
        return Sent(body, content_type, ((names[0], time_header), (names[1], signature_header)))

    made: list[Callable[[], Sent]] = [
        lambda: Sent(body, content_type),
        lambda: replace(good, headers=good.headers[:1]),
        lambda: replace(good, headers=good.headers[1:]),
        lambda: signed("wrong" + ground.bot.secret, body, content_type),
        lambda: signed("", body, content_type),
        lambda: replace(good, body=body + b" "),
        lambda: headers(stamp, signature[:-1]),
        lambda: headers(stamp, b"v1" + signature[2:]),
        lambda: headers(stamp, "v0=ü签名".encode()),
        lambda: headers(stamp, b"v0=\xff\xfe"),
        lambda: headers(stamp, b""),
        lambda: headers(str(now - 7).encode(), signature),
        lambda: headers(chance.choice(texts), signature),
        lambda: signed(ground.bot.secret, body, content_type, at=now - 301),
        lambda: signed(ground.bot.secret, body, content_type, at=now + 303),  # a moment passes until it arrives
        lambda: signed(ground.bot.secret, body, content_type, at=0),
    ]
    return chance.choice(made)(), chance.random() < 0.1


def broken(ground: Field) -> tuple[bytes, str]:
    """A body that is no payload at all."""
    chance = ground.chance
    kind = chance.choice(sorted(ground.seeds))
    body, content_type = encoded(kind, ground.fresh(kind))
    text = json.dumps(ground.fresh("app_mention")).encode()
    values = [
        b"null",
        b"[]",
        b"5",
        b'"x"',
        b"",
        b"{}",
        b"{",
        b"NaN",
        b"[" * 50_000,
        b'{"type":' * 5_000,
        b"\xff\xfe",
        b"\x00",
        b'{"type":null}',
        b'{"event":{}}',
        b"[1,",
        b"-",
    ]
    choices: list[Callable[[], tuple[bytes, str]]] = [
        lambda: (text[: chance.randrange(1, len(text) - 1)], JSON),
        lambda: (chance.choice(values), JSON),
        lambda: (urlencode({"payload": chance.choice(values)}).encode(), FORM),
        lambda: (chance.randbytes(chance.randrange(1, 400)), chance.choice([JSON, FORM])),
        lambda: (text, FORM),
        lambda: (b"payload=%7B%22a%22%3A1&" + urlencode({"command": "/steward"}).encode(), FORM),
        lambda: (text.replace(b'"event"', b'"\xff"'), JSON),
    ]
    if content_type == FORM:
        choices.append(lambda: (body, JSON))
    return chance.choice(choices)()


def mistyped(ground: Field) -> tuple[str, Path, Any, bytes, str]:
    """A signed payload with a wrong type in one place."""
    chance = ground.chance
    kind = chance.choice(sorted(set(ground.seeds) - {"command"}))
    payload = ground.fresh(kind)
    places = list(paths(payload))
    wanted = [p for p in places if p in READ.get(kind, set())]
    path = chance.choice(wanted) if wanted and chance.random() < 0.6 else chance.choice(places)
    was = at(payload, path)
    value = chance.choice([v for v in WRONG if json_type(v) != json_type(was)])
    body, content_type = encoded(kind, put(payload, path, value))
    return kind, path, value, body, content_type


def json_type(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


async def fire(ground: Field, valkey: Valkey, name: str, shots: list[Callable[[], Awaitable[Answered]]]) -> Seen:
    """Send everything, 16 at a time."""
    seen = Seen()
    before, reached = stored(valkey), ground.reached["bolt"]
    room = asyncio.Semaphore(16)

    async def one(shot: Callable[[], Awaitable[Answered]]) -> None:
        async with room:
            seen.statuses[(await shot()).status] += 1

    await asyncio.gather(*map(one, shots))
    seen.stored, seen.reached = stored(valkey) - before, ground.reached["bolt"] - reached
    print(f"{name}: {dict(sorted(seen.statuses.items()))}, stored {seen.stored}, reached Bolt {seen.reached}")
    return seen


async def test_only_signed_fresh_small_and_well_formed_requests_reach_a_handler(figures: Recorder, full: bool) -> None:
    count = 10_000 if full else 800
    valkey, model = Valkey(), ScriptedModel(obey_policy)
    try:
        async with Upstream() as upstream, http_running(valkey, model, tool_modules=TOOLS, resources={"upstream": upstream.url}) as bot:
            await _attack(bot, valkey, model, count, figures)
            assert upstream.writes == 0
    finally:
        valkey.close()


async def _attack(bot: HttpStack, valkey: Valkey, model: ScriptedModel, count: int, figures: Recorder) -> None:
    seeds = await record(bot, model)
    assert {"app_mention", "message", "message_changed", "message_deleted", "block_actions", "view_submission", "command", "url_verification"} <= set(seeds)
    ground = Field(bot, seeds, random.Random(20_261_129))
    await bot.stack.quiet()

    async def count_one(next: Callable[[], Awaitable[Any]]) -> None:  # noqa: A002 - Bolt injects by name
        ground.reached["bolt"] += 1
        await next()

    bot.stack.bots[0].edge.app.middleware(count_one)

    async def forge() -> Answered:
        sent, chunked = forged(ground)  # made when it is sent: what is too early now is not so later
        return await post(bot.port, sent, chunked=chunked)

    forgeries = count * 5 // 10
    seen = await fire(ground, valkey, "forged", [forge] * forgeries)
    assert set(seen.statuses) <= {400, 401}
    forged_reached, forged_stored = seen.reached, seen.stored

    large = json.dumps({"type": "event_callback", "event": {"type": "message", "text": "x" * 2_000_000}}).encode()
    whole = signed(bot.secret, large)
    seen = await fire(ground, valkey, "2 MB", [lambda n=n: post(bot.port, whole, chunked=bool(n % 2)) for n in range(max(count // 100, 10))])  # type: ignore[misc]
    assert set(seen.statuses) == {413}
    forged_reached, forged_stored = forged_reached + seen.reached, forged_stored + seen.stored

    bodies = [broken(ground) for _ in range(count // 10)]
    seen = await fire(ground, valkey, "broken", [lambda b=b: bot.send(*b) for b in bodies])  # type: ignore[misc]
    assert set(seen.statuses) <= {400, 401}  # 401: what is not UTF-8 has no signature that could be right
    assert (forged_reached + seen.reached, forged_stored + seen.stored) == (0, 0)

    bad: list[str] = []
    failed = 0
    room = asyncio.Semaphore(16)

    async def mistype(shot: tuple[str, Path, Any, bytes, str]) -> None:
        nonlocal failed
        kind, path, value, body, content_type = shot
        async with room:
            answer = await bot.send(body, content_type)
        failed += answer.status >= 500 or answer.status == 0
        if path in READ.get(kind, set()) and not 400 <= answer.status < 500:
            bad.append(f"{kind} {path} = {str(value)[:40]!r}: {answer.status}")

    shots = [mistyped(ground) for _ in range(count * 35 // 100)]
    await asyncio.gather(*map(mistype, shots))
    assert failed == 0
    assert not bad, "\n".join(sorted(set(bad)))

    before = stored(valkey)
    unknown = []
    for n in range(count // 25):
        payload = ground.fresh("app_mention")
        payload["event"]["type"] = ground.chance.choice(["reaction_added", "team_join", "user_change", "channel_rename", "x", "*", "消息", "file_shared"])
        payload["event"]["user"] = ground.chance.choice(["U01ALICE00", {"id": "U01ALICE00"}, None])
        unknown.append(encoded("event", payload) if n % 2 else encoded("event", {"type": "app_rate_limited", "team_id": "T", "minute_rate_limited": 1}))
    seen = await fire(ground, valkey, "unknown", [lambda b=b: bot.send(*b) for b in unknown[1::2]])  # type: ignore[misc]
    assert set(seen.statuses) == {200}
    assert stored(valkey) == before
    last = await bot.send(*encoded("app_mention", ground.fresh("app_mention")))
    assert last.status == 200  # and what is right is still taken
    assert stored(valkey) == before + 1
    assert ground.reached["bolt"] > 0
    total = forgeries + max(count // 100, 10) + len(bodies) + len(shots) + len(unknown[1::2])
    figures("S1", requests=total, forged_reached_a_handler=forged_reached, forged_or_broken_stored=forged_stored, server_errors=failed)
