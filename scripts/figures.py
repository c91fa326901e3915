"""Print the figures `make promises` measured as a table, and put the same table into the README between its two marks.

Usage: python scripts/figures.py build/promises.json README.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

START, END = "<!-- figures -->", "<!-- /figures -->"


def table(measured: dict[str, Any]) -> str:
    """The figures as a Markdown table, one row a promise, in the order R1, R2, … S15."""
    rows = ["| # | promise | measured |", "| --- | --- | --- |"]
    for number in sorted(measured, key=lambda name: (name[0], int(name[1:]))):
        entry = measured[number]
        figures = ", ".join(
            f"{name.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{name.replace('_', ' ')} {value}"
            for name, value in entry["figures"].items()
        )
        rows.append(f"| {number} | {entry['promise']} | {figures} |")
    return "\n".join(rows)


def main(figures: Path, readme: Path) -> None:
    """Print and write the table. The README is left as it is when its marks are missing."""
    text = table(json.loads(figures.read_text(encoding="utf-8")))
    print(text)
    before, start, rest = readme.read_text(encoding="utf-8").partition(START)
    _, end, after = rest.partition(END)
    if start and end:
        readme.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
