"""The command line: errors of an operator are one line and exit code 2, never a traceback."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from bot.cli import main
from memory.embedded import open_embedded

ROOT = Path(__file__).parents[2]


async def steward(*arguments: str, home: Path, **environ: str) -> tuple[int, str, str]:
    """Run the real program; its exit code, standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", *arguments),
        cwd=home,  # away from a developer's .env
        env={**os.environ, "PYTHONPATH": str(ROOT), "STEWARD_HOME": str(home), "COLUMNS": "100", **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_without_a_command_it_explains_itself(tmp_path: Path) -> None:
    code, out, _ = await steward("--help", home=tmp_path)
    assert code == 0
    for command in ("run", "playground", "demo", "doctor", "manifest", "version"):
        assert f" {command} " in out


async def test_a_wrong_setting_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    code, out, err = await steward("run", home=tmp_path, SLACK_APP_TOKEN="xapp-1-secret")
    assert (code, out) == (2, "")
    assert err.startswith("steward: SLACK_APP_TOKEN is set without SLACK_BOT_TOKEN")
    assert err.count("\n") == 1
    assert "secret" not in err


async def test_a_data_folder_in_use_is_one_line_and_exit_code_two(tmp_path: Path) -> None:
    store = await open_embedded(tmp_path)
    try:
        code, _, err = await steward("run", home=tmp_path, PORT="0")
    finally:
        await store.close()
    assert code == 2
    line = err.strip().splitlines()[-1]
    assert line.startswith("steward: ")
    assert f"process {os.getpid()}" in line
    assert "Traceback" not in err


def test_the_manifest_command_prints_yaml_for_either_mode(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, socket_mode in ((["manifest"], True), (["manifest", "--http", "https://h.example"], False)):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
        assert yaml.safe_load(capsys.readouterr().out)["settings"]["socket_mode_enabled"] is socket_mode


def test_an_address_slack_would_refuse_is_one_line_and_exit_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["manifest", "--http", "http://h.example"])
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_it_knows_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == version("steward-bot")
