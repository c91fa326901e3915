"""The fixed texts on which the token estimator is measured: prose written for it, and the project's own source, data and documents.

Prose is cut from evals/texts, where paragraphs are parted by empty lines: each sample is a run of neighbouring paragraphs, of growing length.
Code and JSON come from this repository. Ids and numbers are made from a seed, in the shapes that tools give them. Nothing depends on the day.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
TEXTS: Final = Path(__file__).parent / "texts"
SAMPLES: Final = 48
"""Of each kind."""

KINDS: Final = ("English", "Chinese", "mixed", "code", "JSON", "ids and numbers")


def samples(kind: str) -> list[str]:
    """The texts of one of `KINDS`, each of 200 to 3,000 characters."""
    match kind:
        case "English":
            return _runs(_paragraphs("english.txt"))
        case "Chinese":
            return _runs(_paragraphs("chinese.txt"))
        case "mixed":
            return _runs(_paragraphs("mixed.txt"))
        case "code":
            return _cut(path.read_text(encoding="utf-8") for path in _spread(sorted(ROOT.glob("*/*.py")), SAMPLES))
        case "JSON":
            return _cut(_json_texts())
        case _:
            return [_ids(random.Random(seed)) for seed in range(SAMPLES)]  # noqa: S311 - a fixed corpus, not a secret


def _paragraphs(name: str) -> list[str]:
    return (TEXTS / name).read_text(encoding="utf-8").strip().split("\n\n")


def _runs(paragraphs: Sequence[str]) -> list[str]:
    """Runs of neighbouring paragraphs that begin at every place in turn, wrapping around, of 200 characters to several paragraphs."""
    out: list[str] = []
    for number in range(SAMPLES):
        start, least = number % len(paragraphs), 200 + number * 25
        text = ""
        for step in range(len(paragraphs)):
            text += ("\n\n" if text else "") + paragraphs[(start + step) % len(paragraphs)]
            if len(text) >= least:
                break
        out.append(text[:3000])
    return out


def _spread(paths: Sequence[Path], wanted: int) -> list[Path]:
    return [paths[number * len(paths) // wanted] for number in range(wanted)]


def _cut(texts: Iterator[str]) -> list[str]:
    """From each text one piece out of its middle, of lengths between 200 and 3,000."""
    out: list[str] = []
    for number, text in enumerate(texts):
        length = 200 + number * 2800 // SAMPLES
        start = max(0, (len(text) - length) // 2)
        piece = text[start : start + length]
        if len(piece) >= 200:
            out.append(piece)
    return out


def _json_texts() -> Iterator[str]:
    """The repository's JSON files, and its orders as the tools would give them."""
    found = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.json")) if path.stat().st_size >= 1000]
    yield from found[: SAMPLES // 2]
    for seed in range(SAMPLES - min(len(found), SAMPLES // 2)):
        yield json.dumps(_orders(random.Random(seed)), ensure_ascii=False, indent=2 if seed % 3 == 0 else None)  # noqa: S311 - as above


def _orders(chance: random.Random) -> dict[str, object]:
    names = ("Ana Ruiz", "王小明", "Tom O'Neil", "李雷", "Ingrid Berg", "佐藤 花子")
    states = ("shipped", "waiting for payment", "已发货", "cancelled", "处理中")
    rows = [
        {
            "order_id": f"SO-{chance.randrange(10**6):06}",
            "customer": chance.choice(names),
            "status": chance.choice(states),
            "amount": round(chance.uniform(5, 5000), 2),
            "currency": chance.choice(("EUR", "CNY", "USD")),
            "placed_at": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}T{chance.randrange(24):02}:{chance.randrange(60):02}:00+08:00",
            "items": [
                {"sku": f"{chance.choice('ABCK')}{chance.randrange(10**4):04}", "quantity": chance.randrange(1, 9)} for _ in range(chance.randrange(1, 4))
            ],
        }
        for _ in range(24)
    ]
    return {"success": True, "tool_name": "list_orders", "data": {"orders": rows, "total": len(rows)}}


def _ids(chance: random.Random) -> str:
    """Lines of identifiers, dates, amounts, addresses and telephone numbers, with a word here and there."""
    makers = (
        lambda: f"order SO-{chance.randrange(10**6):06}",
        lambda: f"{chance.randrange(16**32):032x}",
        lambda: f"{chance.randrange(16**8):08x}-{chance.randrange(16**4):04x}-4{chance.randrange(16**3):03x}",
        lambda: f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02} {chance.randrange(24):02}:{chance.randrange(60):02}",
        lambda: f"€{chance.uniform(1, 10**6):,.2f}",
        lambda: f"+86 {chance.randrange(10**11):011}",
        lambda: f"192.168.{chance.randrange(256)}.{chance.randrange(256)}:{chance.randrange(65536)}",
        lambda: "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=10)),
        lambda: f"<@U{''.join(chance.choices('ABCDEFGHJKLMNPQRSTUVWXYZ0123456789', k=9))}>",
        lambda: f"https://example.com/t/{chance.randrange(10**7)}?v={chance.randrange(100)}",
        lambda: f"单号 {chance.randrange(10**12)}",
        lambda: f"{chance.randrange(10**10)}.{chance.randrange(10**6):06}",
    )
    text, length = "", chance.randrange(200, 2900)
    while len(text) < length:
        text += chance.choice(makers)() + chance.choice((", ", "\n", " "))
    return text
