"""Talks with the demo model in which memory takes part: its tools, and the note that the program writes before the current message."""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI

from bot.prompt import _NOTED
from memory.context import _LONG_TERM_HEAD
from memory.longterm.telling import _LABELS
from tests.unit.demo_talk import ASK_PERSON, ONE, TOOLS, Run, Talk, ok, shop, tool

MEMORY_TOOLS = [
    tool("recall", question="string"),
    tool("remember", ("text",), text="string"),
    tool("forget", ("ids",), ids={"type": "array", "items": {"type": "string"}}, texts={"type": "array", "items": {"type": "string"}}),
]
RAIN, RAIN_ZH = "I hate rainy days", "我讨厌下雨天"
PEANUTS, PEANUTS_ZH = "I am allergic to peanuts", "我对花生过敏"
ORDERS, ORDERS_ZH = "when I check orders just tell me where it is, skip payment", "我查订单的时候只告诉我到哪了，不用说付款"
WHOLE = {
    "order_id": ONE,
    "status": "shipped",
    "placed_at": "2026-11-01",
    "items": [{"name": "Lamp", "quantity": 2, "unit_price": "5.00"}],
    "total": "10.00",
    "currency": "EUR",
    "address": "Bern",
    "carrier": "UPS",
    "tracking_number": "1Z",
}


def known(*texts: str) -> Run:
    """The tools, with these memories to look up."""

    def run(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        match name:
            case "recall":
                return ok({"memories": [{"id": f"m{number}", "said": "2026-11-01", "text": text} for number, text in enumerate(texts)]})
            case "remember":
                return ok({"id": "m9", "text": arguments["text"]})
            case "forget":
                return ok({"forgotten": len(arguments["ids"])})
            case "ask_person":
                return ok({"answer": arguments["choices"][-1]})
            case "get_order_status":
                return ok(WHOLE)
            case "list_orders":
                return ok({"count": 1, "orders": [{"order_id": ONE, "status": "paid", "items": "2 x Lamp", "total": "10.00 EUR"}]})
            case _:
                return shop(name, arguments)

    return run


def talk(client: AsyncOpenAI, *texts: str, run: Run | None = None) -> Talk:
    """A thread with the memory tools; `texts` are what they know."""
    return Talk(client, run or known(*texts), [*TOOLS, *MEMORY_TOOLS, ASK_PERSON])


def note(to: Talk, *memories: str, noted: tuple[str, ...] = (), language: str = "en", always: bool = False, more: str = "") -> None:
    """What the program writes before the current message."""
    said = " ".join(["Today is Monday, 2026-11-30 for the person you answer (timezone UTC).", *(_NOTED[code] for code in noted), more]).strip()
    label = f", {_LABELS[language]['always']}" if always else ""
    lines = "\n".join(f'> (2026-11-01{label}) "{text}"' for text in memories)
    to.messages.append({"role": "user", "content": f"[note by the program] {said}" + (f"\n\n{_LONG_TERM_HEAD[language]}\n{lines}" if lines else "")})
