"""What the replicas' tool engines share: cached results, circuit breakers, whole results kept for a run, and people's tool budgets.

Over Redis, in two scripts: `begin` answers from the cache, refuses while a circuit is open or lets the call run;
`end` tells the circuits what came of it, keeps the value and makes void what a write changed. A cached value
remembers the generation of its tags; a write raises generations, so that a value read before it can neither be used
nor be stored afterwards. All keys carry one hash tag, so the same code runs on one Redis and on a cluster.

The state is a convenience: when Redis does not answer, `ToolStateDown` is raised and callers go on without.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisClusterException, RedisError

from memory.keys import Actor, Keys
from memory.scripts import Scripts

LONGEST_KEPT: Final = 7 * 86_400
"""Seconds a cached value may be kept at most; generations live a day longer."""

_DOWN: Final = (RedisError, RedisClusterException, OSError, TimeoutError)
_GENERATION_LIFE_MS: Final = (LONGEST_KEPT + 86_400) * 1000


class ToolStateDown(Exception):  # noqa: N818 - states a condition
    """Redis did not answer in time. Nothing can be said about whether a change was made."""


@dataclass(frozen=True, slots=True)
class Circuits:
    """How circuits behave. Times in seconds."""

    threshold: int = 5
    """Failures in a row, none older than `window`, that open a circuit."""
    window: float = 60.0
    cooling: float = 15.0
    """How long it stays open at first; doubled each time a probe fails."""
    longest: float = 300.0
    probe: float = 15.0
    """How long a probe has before another call may try."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one cached value stands and what it is about."""

    key: str
    """Digest over tool, version, arguments and the scope they were asked in."""
    tags: tuple[str, ...]
    fresh: float
    """Seconds the value may be used as it is."""
    stale: float = 0.0
    """Seconds beyond, in which it may stand in for a source that does not answer."""
    patience: float = 60.0
    """Seconds after which another caller may fetch, if the one who does has not come back."""


@dataclass(frozen=True, slots=True)
class Value:
    """A cached value, as JSON text."""

    text: str
    age: float
    """Seconds since it was read from its source."""
    negative: bool = False
    """The source said that there is no such thing."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer to "may this call run?"."""

    verdict: Literal["hit", "busy", "open", "probe", "run"]
    value: Value | None
    """For `hit` the answer; otherwise an older value that may stand in, if there is one."""
    generation: str
    wait: float
    """For `open` and `busy`: seconds until it is worth asking again."""
    marked: bool
    """A failure is on record for one of the circuits, which a success would clear."""
    circuit: str = ""
    """For `open`: the one that stays so for longest."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of saying how a call ended."""

    opened: tuple[str, ...]
    """The circuits this opened."""
    closed: tuple[str, ...]
    held: bool
    """The slot's tags were still of the generation given: what was read since then may be used."""


class ToolState:
    """All operations. `client` speaks to one Redis or to a cluster and must not decode responses."""

    def __init__(self, client: Redis | RedisCluster, *, space: str = "", circuits: Circuits | None = None) -> None:
        """`space` is the workspace, which keeps installations apart that share a Redis."""
        self._client: Any = client
        self._base = Keys(space).tools
        self._circuits = circuits or Circuits()
        self._scripts = Scripts(client, ("begin", "end", "keep", "spend"), prefix="tool_")

    async def close(self) -> None:
        """Let the connection go."""
        await self._client.aclose()

    async def begin(self, circuits: Sequence[str], slot: Slot | None = None, token: str = "", *, void: Sequence[str] = ()) -> Begun:
        """Ask for leave to run. `token` names the caller, who holds the slot, or is the probe, until `end` with the same token.

        `void`: tags whose cached values no longer hold, if leave is given. Raises `ToolStateDown`.
        """
        key, tags = self._slot_keys(slot)
        names = [*key, *(f"{self._base}circuit:{name}" for name in circuits), *tags, *(f"{self._base}generation:{tag}" for tag in void)]
        patience = slot.patience if slot is not None else 0.0
        args = (len(circuits), "1" if slot is not None else "0", token, _ms(patience), _ms(self._circuits.probe), len(tags), _GENERATION_LIFE_MS)
        verdict, text, age, negative, generation, wait, marked, blocking = await self._run("begin", names, args)
        word = verdict.decode()
        value = Value(text.decode(), int(age) / 1000, negative == b"1") if text else None
        if value is not None and slot is not None and word != "hit" and value.age > slot.fresh + slot.stale:
            value = None
        return Begun(word, value, generation.decode(), max(int(wait), 0) / 1000, bool(marked), circuits[int(blocking) - 1] if blocking else "")

    async def end(
        self,
        circuits: Sequence[str],
        outcome: Literal["good", "bad", "none"],
        slot: Slot | None = None,
        token: str = "",
        *,
        generation: str = "",
        text: str = "",
        negative: float = 0.0,
        void: Sequence[str] = (),
    ) -> Ended:
        """Say what came of a call that was let run. `text` is kept under the slot if its tags are still of `generation`.

        `negative`: seconds for which `text`, the source's "there is no such thing", is kept. `void`: tags whose cached
        values no longer hold. Raises `ToolStateDown`.
        """
        key, tags = self._slot_keys(slot)
        voided = [f"{self._base}generation:{tag}" for tag in void]
        names = [*key, *(f"{self._base}circuit:{name}" for name in circuits), *tags, *voided]
        fresh = negative or (slot.fresh if slot is not None else 0.0)
        kept = min(fresh + (slot.stale if slot is not None and not negative else 0.0), LONGEST_KEPT)
        rules = self._circuits
        args = (
            *(len(circuits), len(tags), "1" if slot is not None else "0", token, outcome, generation, text, "1" if negative else "0"),
            *(_ms(fresh), max(_ms(kept), 1), rules.threshold, _ms(rules.window), _ms(rules.cooling), _ms(rules.longest), _GENERATION_LIFE_MS),
        )
        opened, closed, held = await self._run("end", names, args)
        return Ended(tuple(circuits[number - 1] for number in opened), tuple(circuits[number - 1] for number in closed), bool(held))

    async def keep(self, run_id: str, result_id: str, pages: Sequence[str], seconds: float) -> None:
        """Keep the pages of a result for a run. Raises `ToolStateDown`."""
        await self._run("keep", [f"{self._base}result:{run_id}:{result_id}"], (_ms(seconds), *pages))

    async def page(self, run_id: str, result_id: str, number: int) -> tuple[str | None, int]:
        """One page of a kept result, None when there is no such page, and how many there are (0: not kept). Raises `ToolStateDown`."""
        key = f"{self._base}result:{run_id}:{result_id}"
        page: bytes | None = await self._read(self._client.hget(key, str(number)))
        count = int(await self._read(self._client.hlen(key)))
        return (page.decode() if page is not None else None), count

    async def spend(self, actor: Actor, amount: int, *, limit: int, window: float) -> bool:
        """Count `amount` calls of a person if they stay within `limit` per `window` seconds, and say whether they do. Raises `ToolStateDown`."""
        key = f"{self._base}spent:{actor.team_id}:{actor.user_id}"
        return bool(await self._run("spend", [key], (amount, _ms(window), limit)))

    async def remember(self, name: str, text: str, seconds: float) -> None:
        """Keep a text under a digest for a time (answers and model replies, where that is switched on). Raises `ToolStateDown`."""
        await self._read(self._client.set(f"{self._base}answer:{name}", text, px=_ms(seconds)))

    async def remembered(self, name: str) -> str | None:
        """What `remember` kept, if its time is not over. Raises `ToolStateDown`."""
        text: bytes | None = await self._read(self._client.get(f"{self._base}answer:{name}"))
        return text.decode() if text is not None else None

    async def drop_cached(self) -> int:
        """Drop every cached value, answer and page of a result; how many. For when one of them may hold what has to be gone. Raises `ToolStateDown`."""
        gone = 0
        for part in ("value", "answer", "result"):
            try:
                async for key in self._client.scan_iter(match=f"{self._base}{part}:*", count=1_000):
                    gone += int(await self._client.delete(key))
            except (RedisError, RedisClusterException, OSError, TimeoutError) as error:
                raise ToolStateDown(type(error).__name__) from error
        return gone

    def _slot_keys(self, slot: Slot | None) -> tuple[list[str], list[str]]:
        # Scripts get a cached value's keys in any case, so that the others keep their places.
        name = slot.key if slot is not None else "-"
        tags = [f"{self._base}generation:{tag}" for tag in slot.tags] if slot is not None else []
        return [f"{self._base}value:{name}", f"{self._base}lock:{name}"], tags

    async def _run(self, name: str, names: Sequence[str], args: Sequence[Any]) -> Any:
        try:
            return await self._scripts.run(name, names, args)
        except _DOWN as error:
            raise ToolStateDown(f"{name}: {type(error).__name__}") from error

    async def _read(self, request: Any) -> Any:
        try:
            return await request
        except _DOWN as error:
            raise ToolStateDown(type(error).__name__) from error


def slot_key(tool: str, version: str, schema: str, arguments: str, scope: Sequence[str]) -> str:
    """The digest a cached value is filed under: everything its answer may depend on. `arguments` in canonical form."""
    return hashlib.sha256(json.dumps([tool, version, schema, arguments, list(scope)], ensure_ascii=False).encode()).hexdigest()[:40]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
