"""Calls to the tools of a real MCP server in a process of its own: over pipes and over HTTP, what comes back, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog

from tests.fakes.mcp_kit import READ, READS, Kit, serving, until
from tools.mcp.config import McpTool
from tools.mcp.transport import MAX_ANSWER
from tools.prepare import Prepared, prepare
from tools.result import ErrorCode, Suggestion, ToolResult
from tools.tool import Effect

SECRET = "sesame-open-123"


@pytest.fixture(params=["pipes", "http"])
async def kit(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kit]:
    async with serving(tmp_path, http=request.param == "http") as found:
        yield found


async def test_every_page_of_tools_is_offered_under_the_prefix_with_the_servers_schema(kit: Kit) -> None:
    names = ["echo", "write_note", "fail", "wait", "die", "big", "media", "environment", "announce", "ask"]
    assert list(kit.registry.names) == [f"fake_{name}" for name in names]
    echo = kit.tool("echo")
    assert echo.description == "Say back the text that is given, and how long it is. For trying the line out."
    assert echo.parameters() == {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What to take"}},
        "required": ["text"],
    }
    assert (echo.group, echo.title, echo.upstream) == ("fake", "Echo", "mcp:fake")


async def test_what_is_not_listed_is_a_write_although_the_server_calls_it_harmless(kit: Kit) -> None:
    assert {tool.name for tool in kit.registry if tool.effect == "write"} == {"fake_write_note", "fake_ask"}
    assert kit.tool("echo").effect == "read"


async def test_structured_content_is_preferred_to_the_text_beside_it(kit: Kit) -> None:
    result = await kit.call("echo", text="你好")
    assert result.success
    assert result.data == {"text": "你好", "length": 2}
    assert kit.program.calls("echo") == [{"tool": "echo", "arguments": {"text": "你好"}, "key": None}]


async def test_arguments_are_held_against_the_servers_schema_before_anything_is_sent(kit: Kit) -> None:
    good = prepare(kit.registry, "fake_echo", '{"text": "你好"}')
    assert isinstance(good, Prepared)
    assert good.arguments == {"text": "你好"}
    bad = prepare(kit.registry, "fake_echo", '{"text": ["a"]}')
    assert isinstance(bad, ToolResult)
    assert bad.error_code is ErrorCode.INVALID_ARGUMENTS
    assert "text" in (bad.error_message or "")


async def test_text_alone_comes_as_text(kit: Kit) -> None:
    assert (await kit.call("write_note", text="milk")).data == "done: write_note"


async def test_a_tools_own_no_is_a_refusal_with_its_words_cleaned_and_bounded(kit: Kit) -> None:
    hostile = "No\u200b such\u202e order.\x1b[31m\n\n\n\n" + "long " * 1000
    result = await kit.call("fail", text=hostile)
    assert result.error_code is ErrorCode.REFUSED
    assert result.suggestion is Suggestion.FIX_ARGUMENTS
    assert result.error_message is not None
    assert result.error_message.startswith("No such order.[31m\n\nlong long")
    assert len(result.error_message) <= 1000


async def test_pictures_sounds_and_files_are_described_and_texts_are_kept(kit: Kit) -> None:
    data = (await kit.call("media")).data
    assert data["text"] == "Here they are.\n\nThe text of a file."
    assert data["attachments"] == [
        {"kind": "image", "type": "image/png", "bytes": 1000},
        {"kind": "audio", "type": "audio/wav", "bytes": 1000},
        {"kind": "file", "type": "application/zip", "bytes": 1000, "uri": "file:///a.bin"},
        {"kind": "link", "about": "manual", "uri": "https://docs.example/manual", "type": ""},
    ]


async def test_a_huge_result_is_cut_like_any_other(kit: Kit) -> None:
    result = await kit.call("big", size=3_000_000)
    assert result.success
    assert result.truncated
    assert len(json.dumps(result.data, ensure_ascii=False)) <= 20_000


async def test_an_answer_without_end_is_cut_off_and_the_line_goes_on(tmp_path: Path) -> None:
    """Over HTTP an answer's size is bounded; a command is the operator's own program."""
    async with serving(tmp_path, http=True) as kit:
        result = await kit.call("big", size=MAX_ANSWER + 1)
        assert result.error_code is ErrorCode.UPSTREAM_ERROR
        assert (await kit.call("echo", text="on")).success


@pytest.mark.parametrize(("effect", "suggestion"), [("read", Suggestion.USE_OTHER_TOOL), ("write", Suggestion.ASK_PERSON)])
async def test_a_server_that_asks_back_in_the_middle_of_a_call_is_refused(tmp_path: Path, effect: Effect, suggestion: Suggestion) -> None:
    async with serving(tmp_path, tools={"ask": McpTool(effect)}) as kit:
        result = await kit.call("ask")
        assert (result.error_code, result.suggestion) == (ErrorCode.REFUSED, suggestion)


async def test_many_calls_at_once_each_get_their_own_answer(kit: Kit) -> None:
    texts = [f"number {number}" for number in range(40)]
    results = await asyncio.gather(*(kit.call("echo", text=text) for text in texts))
    assert [result.data["text"] for result in results] == texts


async def test_a_slow_read_times_out_and_the_line_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path, tools={**READS, "wait": McpTool("read", timeout=1.0)}) as kit:
        result = await kit.call("wait")
        assert (result.error_code, result.suggestion) == (ErrorCode.TIMEOUT, Suggestion.RETRY)
        assert (await kit.call("echo", text="on")).success
        await until(lambda: {"cancelled": "wait"} in kit.program.journal())  # it was told to stop
        assert len(kit.program.pids()) == 1


async def test_a_slow_write_is_of_unknown_outcome(tmp_path: Path) -> None:
    async with serving(tmp_path, tools={**READS, "wait": McpTool("write", timeout=0.3)}) as kit:
        result = await kit.call("wait")
        assert (result.error_code, result.suggestion) == (ErrorCode.OUTCOME_UNKNOWN, Suggestion.ASK_PERSON)


async def test_a_caller_that_gives_up_takes_only_its_own_call_along(kit: Kit) -> None:
    leaving = asyncio.create_task(kit.call("wait"))
    staying = asyncio.create_task(kit.call("wait"))
    await until(lambda: len(kit.program.calls("wait")) == 2)
    leaving.cancel()
    await asyncio.wait({leaving})
    assert leaving.cancelled()
    await until(lambda: {"cancelled": "wait"} in kit.program.journal())
    assert not staying.done()
    assert (await kit.call("echo", text="still here")).success
    staying.cancel()
    await asyncio.wait({leaving, staying})


async def test_a_keyed_write_carries_the_key_of_the_approved_call(tmp_path: Path) -> None:
    async with serving(tmp_path, tools={"write_note": McpTool("write", keyed=True, title="Keep a note")}) as kit:
        tool = kit.tool("write_note")
        assert (tool.keyed, tool.title) == (True, "Keep a note")
        await kit.call("write_note", text="milk")
        assert kit.program.calls("write_note")[0]["key"] == "run1:call1"


async def test_secrets_reach_neither_the_model_nor_the_log(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as log:
        async with serving(tmp_path, env={"FAKE_TOKEN": SECRET}, secrets=(SECRET,), tools=READS) as kit:
            given = (await kit.call("environment")).data["variables"]
            assert given["FAKE_TOKEN"] == "[hidden]"
            refusal = await kit.call("fail", text=f"bad token {SECRET}")
            assert refusal.error_message == "bad token [hidden]"
            await until(lambda: any(line["event"] == "mcp.stderr" for line in log))
    said = [line for line in log if line["event"] == "mcp.stderr"]
    assert said[0]["log_level"] == "debug"
    assert said[0]["line"] == "fake server started, token [hidden]"
    assert SECRET not in repr(log)
    assert SECRET not in repr(kit.server)


async def test_a_command_sees_only_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-servers")
    async with serving(tmp_path, tools={"environment": READ}) as kit:
        given = (await kit.call("environment")).data["variables"]
    assert "OPENAI_API_KEY" not in given
    assert "PATH" in given


async def test_headers_go_to_the_server_and_to_nobody_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    async with serving(tmp_path / "other", http=True) as other, serving(tmp_path, http=True, headers={"Authorization": f"Bearer {SECRET}"}) as kit:
        assert (await kit.call("echo", text="hi")).success
        assert {entry["authorization"] for entry in kit.program.journal() if "http" in entry} == {f"Bearer {SECRET}"}
        before = len(other.program.journal())
        (kit.program.folder / "status").write_text(f"307 http://127.0.0.1:{other.program.port()}/mcp")
        result = await kit.call("echo", text="elsewhere")
        assert result.error_code is ErrorCode.UPSTREAM_ERROR
        assert result.error_message == "The service behind this tool reported a fault."
        assert len(other.program.journal()) == before


@pytest.mark.parametrize(
    ("status", "read", "write"),
    [
        (401, ErrorCode.PERMISSION_DENIED, ErrorCode.PERMISSION_DENIED),
        (429, ErrorCode.RATE_LIMITED, ErrorCode.RATE_LIMITED),
        (503, ErrorCode.UPSTREAM_ERROR, ErrorCode.OUTCOME_UNKNOWN),
    ],
)
async def test_what_the_servers_front_door_says_is_told_apart(tmp_path: Path, status: int, read: ErrorCode, write: ErrorCode) -> None:
    async with serving(tmp_path, http=True) as kit:
        connection = kit.servers._served[0].connection
        (kit.program.folder / "status").write_text(f"{status} /")
        result = await kit.call("echo", text="x")
        assert result.error_code is read
        assert result.retry_after == (7.0 if status == 429 else None)
        # The write is not preceded by a look at its definition here, which would fail for the same reason.
        connection._listed_at = float("inf")
        assert (await kit.call("write_note", text="x")).error_code is write
        assert kit.program.calls("write_note") == []
