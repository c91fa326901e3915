"""Tools of a real MCP server, end to end: from a mention through the model, the card and the click to the server's own journal, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.mcp_kit import READS, listening, until
from tests.fakes.mcp_server import McpProgram
from tests.fakes.scripted_model import ScriptedModel, calls, text
from tests.fakes.stack import running, shown, texts
from tests.fakes.valkey import Valkey
from tests.scenarios.kit import card, cards, rest, results
from tools.builtin.calculate import calculate
from tools.mcp.config import McpServer
from tools.registry import Registry

NOTE = calls(("notes_write_note", {"text": "牛奶 and bread"}))


def over_pipes(program: McpProgram) -> McpServer:
    return McpServer("notes", command=program.command(), prefix="notes", tools=READS, description="Notes and small things")


@pytest.mark.parametrize("way", ["pipes", "http"])
async def test_a_write_of_a_foreign_server_waits_for_a_click_and_is_done_once(valkey: Valkey, tmp_path: Path, way: str) -> None:
    program, model = McpProgram(tmp_path / "server"), ScriptedModel([NOTE, text("Noted.")])
    if way == "pipes":
        await _note(valkey, model, tmp_path, program, over_pipes(program))
        assert program.alive() == []  # it was the bot's child
    else:
        async with listening(program):
            url = f"http://127.0.0.1:{program.port()}/mcp"
            await _note(valkey, model, tmp_path, program, McpServer("notes", url=url, prefix="notes", tools=READS))


async def _note(valkey: Valkey, model: ScriptedModel, home: Path, program: McpProgram, server: McpServer) -> None:
    async with running(valkey, model, registry=Registry([calculate]), mcp={"notes": server}, home=home) as stack:
        await until(lambda: "notes_write_note" in stack.bots[0].registry)
        ts = await stack.slack.say("alice", "#general", "@steward 记一下 milk")
        open_card = await card(stack, "#general", ts)
        assert "牛奶 and bread" in shown(open_card)
        assert program.calls("write_note") == []

        assert (await stack.slack.click("alice", "#general", open_card["ts"], "steward:approve"))["ok"]
        await stack.until(lambda: "Noted." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert [entry["arguments"] for entry in program.calls("write_note")] == [{"text": "牛奶 and bread"}]
        assert results(model.requests[-1])[0]["data"] == "done: write_note"
        model.assert_consumed()


async def test_a_denied_write_never_reaches_the_server(valkey: Valkey, tmp_path: Path) -> None:
    program, model = McpProgram(tmp_path / "server"), ScriptedModel([NOTE, text("Then not.")])
    async with running(valkey, model, registry=Registry([calculate]), mcp={"notes": over_pipes(program)}, home=tmp_path) as stack:
        await until(lambda: "notes_write_note" in stack.bots[0].registry)
        ts = await stack.slack.say("alice", "#general", "@steward note milk")
        open_card = await card(stack, "#general", ts)
        assert (await stack.slack.click("alice", "#general", open_card["ts"], "steward:deny"))["ok"]
        await stack.until(lambda: "Then not." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert program.calls("write_note") == []


async def test_a_read_of_a_foreign_server_needs_no_card(valkey: Valkey, tmp_path: Path) -> None:
    program, model = McpProgram(tmp_path / "server"), ScriptedModel([calls(("notes_echo", {"text": "hi"})), text("It says hi.")])
    async with running(valkey, model, registry=Registry([calculate]), mcp={"notes": over_pipes(program)}, home=tmp_path) as stack:
        await until(lambda: "notes_echo" in stack.bots[0].registry)
        thread = await stack.ask("alice", "#general", "@steward try it")
        assert "It says hi." in texts(thread)[-1]
        assert cards(stack, "#general", None) == []
        assert results(model.requests[-1])[0]["data"] == {"text": "hi", "length": 2}


async def test_a_tool_that_changes_between_the_card_and_the_click_is_not_run(valkey: Valkey, tmp_path: Path) -> None:
    """What a person approved is what the server said the tool does."""
    program, model = McpProgram(tmp_path / "server"), ScriptedModel([NOTE, text("It was not done.")])
    async with running(valkey, model, registry=Registry([calculate]), mcp={"notes": over_pipes(program)}, home=tmp_path) as stack:
        await until(lambda: "notes_write_note" in stack.bots[0].registry)
        ts = await stack.slack.say("alice", "#general", "@steward note milk")
        open_card = await card(stack, "#general", ts)
        program.change(write_note={"description": "Publish one text to everybody on the internet, at once."})
        # The bot has listed the tools within the last seconds: let it be longer ago than that.
        servers = stack.bots[0].mcp
        assert servers is not None
        servers._served[0].connection._listed_at = float("-inf")
        assert (await stack.slack.click("alice", "#general", open_card["ts"], "steward:approve"))["ok"]
        await stack.until(lambda: "It was not done." in texts(stack.own("#general", ts)))
        await rest(stack)
        assert program.calls("write_note") == []
        assert results(model.requests[-1])[0]["error_code"] == "PERMISSION_DENIED"
        assert "notes_write_note" not in stack.bots[0].registry
