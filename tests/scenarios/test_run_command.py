"""`steward run` as an operator meets it: what stands on the terminal, how it ends, and what is whole after it was killed.

What the command line alone refuses (a wrong setting) is in `tests/unit/test_cli.py`, what the embedded store does by itself
in `tests/unit/test_embedded_store.py`; here the whole program runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.fakes.program import ROOT, Program, clean_environment, until

Json = dict[str, Any]
ALICE, BOT, ORDERS = "U01ALICE00", "U01STEWARD", "C01ORDERS0"
WITHIN = 60.0


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def refused(home: Path, **environ: str) -> str:
    """Start it where it cannot work: exit code 2, nothing on standard output; the one line it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "run"),
        cwd=ROOT / "docs",
        env=clean_environment() | {"PYTHONPATH": str(ROOT), "STEWARD_HOME": str(home), "PORT": "0"} | environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(WITHIN):
        out, err = await process.communicate()
    assert (process.returncode, out) == (2, b""), err.decode()
    spoken = [line for line in err.decode().splitlines() if not line.startswith("{")]  # the log is JSON, a line each
    assert len(spoken) == 1, err.decode()
    assert spoken[0].startswith("steward: ")
    return spoken[0]


async def post(http: aiohttp.ClientSession, program: Program, path: str, **body: Any) -> Json:
    async with http.post(f"{program.url}/_/{path}", json=body) as response:
        answer: Json = await response.json()
        assert answer["ok"], answer
        return answer


async def thread(http: aiohttp.ClientSession, program: Program, ts: str, met: Callable[[list[Json]], object]) -> list[Json]:
    """The bot's messages in a thread, once `met` is true of them."""
    async with asyncio.timeout(WITHIN):
        while True:
            async with http.get(f"{program.url}/_/messages", params={"user": ALICE, "channel": ORDERS, "thread_ts": ts}) as response:
                own = [message for message in (await response.json())["messages"] if message["user"] == BOT]
            if met(own):
                return own
            await asyncio.sleep(0.05)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()


def servers(home: Path) -> list[int]:
    """The embedded store's processes that serve this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            folder = (entry / "cwd").resolve()
        except OSError:
            continue  # it ended while we looked
        if b"valkey-server" in words[0] and folder.is_relative_to(home):
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_names_the_page_s_address_in_one_line_and_ends_in_order_when_asked_to(tmp_path: Path, number: signal.Signals) -> None:
    program = Program(tmp_path / "home")
    await program.start()
    assert program.said == [f"Steward is ready: open {program.url} in your browser (Ctrl-C ends it)."]
    store = servers(program.home)
    assert await program.end(number) == 0
    assert len(program.said) == 1
    events = [json.loads(line)["event"] for line in program.log]  # nothing but the log: no traceback, no warning of Python's
    assert events[-1] == "stopped"
    assert "draining" in events
    await until(lambda: all(gone(pid) for pid in store))
    assert program.home.stat().st_mode & 0o077 == 0


async def test_a_request_that_a_shutdown_interrupts_is_answered_by_the_next_start(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with Program(tmp_path / "home") as program:
        sent = await post(http, program, "message", user=ALICE, channel=ORDERS, text="@steward what is 15*7?")
        await until(lambda: any('"delivered"' in line for line in program.log))
        await program.restart(signal.SIGTERM)  # at once: wherever the answer is by then
        own = await thread(http, program, sent["ts"], lambda messages: any("105" in message["text"] for message in messages))
        assert len(own) == 1


async def test_a_second_start_on_the_same_folder_is_refused_in_one_line_and_harms_nothing(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with Program(tmp_path / "home") as program:
        line = await refused(program.home)
        assert f"process {program.pid}" in line
        assert "STEWARD_HOME" in line
        sent = await post(http, program, "message", user=ALICE, channel=ORDERS, text="@steward what is 15*7?")
        await thread(http, program, sent["ts"], lambda messages: any("105" in message["text"] for message in messages))


async def test_after_kill_nine_everything_said_and_asked_for_is_there_again(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    async with Program(tmp_path / "home") as program:
        first = await post(http, program, "message", user=ALICE, channel=ORDERS, text="@steward my name is Ana")
        await thread(http, program, first["ts"], lambda messages: messages)
        second = await post(http, program, "message", user=ALICE, channel=ORDERS, text="@steward cancel ABC-20240522-007")
        (card,) = await thread(http, program, second["ts"], lambda messages: messages)
        await program.kept(f'"ts": "{card["ts"]}"')
        old = servers(program.home)
        await program.restart(signal.SIGKILL)
        await until(lambda: all(gone(pid) for pid in old))  # taken over or ended, never two on one folder

        await post(http, program, "message", user=ALICE, channel=ORDERS, thread_ts=first["ts"], text="what is my name?")
        own = await thread(http, program, first["ts"], lambda messages: len(messages) == 2)
        assert "Ana" in own[1]["text"]
        buttons = next(block for block in card["blocks"] if block["type"] == "actions")
        approve = next(button for button in buttons["elements"] if button["action_id"] == "steward:approve")
        action = {"block_id": buttons["block_id"], **approve}
        await post(http, program, "action", user=ALICE, channel=ORDERS, message_ts=card["ts"], action=action)
        own = await thread(http, program, second["ts"], lambda messages: len(messages) == 2)
        assert "cancelled" in own[1]["text"]
        assert program.writes("ABC-20240522-007") == 1


async def test_a_port_in_use_is_named_with_the_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = await refused(tmp_path / "home", PORT=port)
    assert f"Port {port}" in line
    assert "set PORT" in line


async def test_a_data_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        line = await refused(home)
        assert str(home) in line
        assert "STEWARD_HOME" in line


async def test_a_damaged_workspace_file_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "playground.json"
    for damaged in ('{"version": 1, "tea', '{"version": 1}', '{"version": 99}', "[]"):
        file.write_text(damaged)
        line = await refused(tmp_path)
        assert str(file) in line
        assert file.read_text() == damaged


async def test_a_module_of_tools_that_is_not_there_is_named_with_the_remedy(tmp_path: Path) -> None:
    line = await refused(tmp_path, STEWARD_TOOLS="no_such_tools")
    assert "no_such_tools" in line
    assert "STEWARD_TOOLS" in line
