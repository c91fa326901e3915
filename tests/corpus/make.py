"""Writes a sample of every kind of saved session, as the program itself leaves them: `python -m tests.corpus.make`.

Run once for each released schema version, before the version changes; the samples of earlier versions are never
written again. `tests/unit/test_saved_states.py` holds every later program against all of them.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.state import SCHEMA_VERSION
from tests.fakes.scripted_model import fault, held, obey_policy
from tests.promises.harness import ALICE, BRUNO, House, Nursery, eventually, stored

HERE = Path(__file__).resolve().parent / f"v{SCHEMA_VERSION}"
CHANNEL = "#orders"


async def keep(there: House, name: str, ts: str, wanted: Callable[[dict[str, Any]], object]) -> None:
    """Write down a session as soon as its document is as wanted."""
    thread = there.thread(CHANNEL, ts)

    async def so() -> bool:
        return bool(wanted(await there.document(thread)))

    await eventually(so, 60)
    mail = [str(item, "utf-8") if isinstance(item, bytes) else item for item in await there.store.lrange(there.key("mail", thread), 0, -1)]
    sample = {"document": await there.document(thread), "log": await there.log(thread), "mail": mail}
    (HERE / f"{name}.json").write_text(json.dumps(sample, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def calls_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of the active run."""
    return list((document.get("run") or {}).get("calls", ()))


async def ask(there: House, words: str, ts: str | None = None, user: str = ALICE) -> str:
    return await there.slack.say(user, CHANNEL, f"@steward {words}", ts)


async def card(there: House, words: str) -> str:
    """Ask for a write and wait for its card; the thread's ts."""
    ts = await ask(there, words)
    await there.until(lambda: there.open_cards(CHANNEL, ts), 60)
    return ts


async def make(there: House) -> None:
    """Bring about each situation, one thread each."""
    gate = asyncio.Event()
    broken = False

    def script(request: dict[str, Any]) -> Any:
        if broken:
            return fault(500)
        said = json.dumps(request["messages"])
        return held(gate, obey_policy(request)) if "queued behind" in said and '"role": "assistant"' not in said else obey_policy(request)

    there.model._policy = script
    await there.bot()
    ts = await ask(there, 'CALL list_orders {"status": ""}')
    await there.until(lambda: there.texts(CHANNEL, ts), 60)
    await keep(there, "finished", ts, lambda d: "run" not in d and d.get("answered"))

    await keep(
        there,
        "started_read",
        await ask(there, 'CALL wait_here {"text": "a read that lasts"}'),
        lambda d: any(c.get("status") == "started" for c in calls_of(d)),
    )
    await keep(
        there,
        "waiting_approval",
        await card(there, '把 ABC-20240522-007 取消 CALL cancel_order {"order_id": "ABC-20240522-007", "reason": "不需要了"}'),
        lambda d: d.get("waiting"),
    )
    await keep(
        there,
        "waiting_question",
        await ask(there, '取消哪一个？ CALL ask_person {"question": "取消哪一个订单？", "choices": ["ABC-20240520-001", "ABC-20240522-007"]}'),
        lambda d: d.get("waiting"),
    )
    for kind in ("keyed", "unkeyed"):
        ts = await card(there, f'CALL note_{kind} {{"text": "a write that lasts", "slow": true}}')
        await there.click(ALICE, CHANNEL, there.open_cards(CHANNEL, ts)[0]["ts"])
        await keep(there, f"started_{kind}", ts, lambda d: any(c.get("status") == "started" for c in calls_of(d)))

    ts = await ask(there, 'CALL wait_here {"text": "queued behind this"}')
    second = await ask(there, "and what about mine?", ts, BRUNO)
    await there.until(lambda: second in there.watched.stored, 60)
    gate.set()
    await keep(there, "inbox_queued", ts, lambda d: d.get("inbox") and any(c.get("status") == "started" for c in calls_of(d)))

    broken = True
    await keep(there, "retrying", await ask(there, "is anybody there?"), lambda d: (d.get("run") or {}).get("retry_at"))


async def main() -> None:
    HERE.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="steward-corpus-"))
    with stored() as valkey:
        async with Nursery(folder) as nursery, House(nursery, valkey, obey_policy, folder / "home", lease=15.0) as there:
            await make(there)


if __name__ == "__main__":
    asyncio.run(main())
