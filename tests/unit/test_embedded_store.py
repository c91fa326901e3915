"""The embedded store against the real server: it must keep every write and never outlive, or be robbed of, its folder."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from memory.embedded import EmbeddedStore, HomeInUse, StoreError, _binary, open_embedded

OWNER = """
import asyncio, sys
from pathlib import Path
from redis.asyncio import Redis
from memory.embedded import open_embedded

async def main():
    store = await open_embedded(Path(sys.argv[1]))
    async with Redis.from_url(store.url) as client:
        for n in range(500):
            await client.rpush("kept", n)
    print(store.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@contextlib.asynccontextmanager
async def opened(home: Path) -> AsyncIterator[EmbeddedStore]:
    store = await open_embedded(home)
    try:
        yield store
    finally:
        await store.close()


@contextlib.asynccontextmanager
async def another_process_owning(home: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """A process that owns `home` and has pushed 500 values; yields it and the pid of its server. Killed at the end."""
    root = Path(__file__).parents[2]
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, str(home), cwd=root, stdout=asyncio.subprocess.PIPE)
    try:
        assert owner.stdout is not None
        yield owner, int(await owner.stdout.readline())
    finally:
        if owner.returncode is None:
            owner.kill()
        await owner.communicate()


async def kept(store: EmbeddedStore) -> list[bytes | str]:
    async with Redis.from_url(store.url) as client:
        return await client.lrange("kept", 0, -1)


async def until_gone(pid: int) -> None:
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if (status := Path(f"/proc/{pid}/status")).exists() and "\nState:\tZ" in status.read_text():
            return  # dead; only its new parent has not looked yet
        await asyncio.sleep(0.01)


async def test_what_was_written_is_there_after_a_close_and_a_new_start(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, Redis.from_url(store.url) as client:
        await client.set("greeting", "你好")
        first = store.pid
    await until_gone(first)
    async with opened(tmp_path) as store, Redis.from_url(store.url) as client:
        assert await client.get("greeting") == "你好".encode()
        assert store.pid != first


async def test_it_listens_on_no_port_evicts_nothing_and_only_its_user_may_open_the_socket(tmp_path: Path) -> None:
    async with opened(tmp_path) as store, Redis.from_url(store.url) as client:
        settings = await client.config_get("port", "maxmemory-policy", "appendonly", "appendfsync")
        assert settings == {"port": "0", "maxmemory-policy": "noeviction", "appendonly": "yes", "appendfsync": "everysec"}
        assert store.socket.stat().st_mode & 0o777 == 0o700


async def test_every_write_can_be_asked_to_reach_the_disk(tmp_path: Path) -> None:
    store = await open_embedded(tmp_path, fsync="always")
    try:
        async with Redis.from_url(store.url) as client:
            assert (await client.config_get("appendfsync"))["appendfsync"] == "always"
    finally:
        await store.close()


async def test_the_server_sees_none_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-very-secret")
    async with opened(tmp_path) as store:
        environ = Path(f"/proc/{store.pid}/environ")
        shown = environ.read_bytes() if environ.exists() else subprocess.run(["/bin/ps", "-Eww", "-p", str(store.pid)], capture_output=True, check=True).stdout
        assert b"LC_ALL=C" in shown
        assert b"xoxb-very-secret" not in shown


async def test_a_second_start_on_the_same_folder_is_refused_and_names_the_holder(tmp_path: Path) -> None:
    async with another_process_owning(tmp_path) as (owner, server):
        with pytest.raises(HomeInUse) as refusal:
            await open_embedded(tmp_path)
        assert f"process {owner.pid}" in str(refusal.value)
        assert "STEWARD_HOME" in str(refusal.value)
        assert "\n" not in str(refusal.value)
        os.kill(server, 0)  # the holder's server was left alone


async def test_the_server_ends_by_itself_when_its_owner_is_killed(tmp_path: Path) -> None:
    async with another_process_owning(tmp_path) as (owner, server):
        owner.kill()
        await owner.wait()
        await until_gone(server)


async def test_after_kill_nine_of_the_owner_the_next_start_finds_every_write(tmp_path: Path) -> None:
    async with another_process_owning(tmp_path) as (owner, server):
        owner.kill()
        await owner.wait()
        async with opened(tmp_path) as store:
            assert await kept(store) == [b"%d" % n for n in range(500)]
            assert store.pid != server


async def test_a_frozen_server_left_behind_is_ended_and_its_writes_are_whole(tmp_path: Path) -> None:
    async with another_process_owning(tmp_path) as (owner, server):
        os.kill(server, signal.SIGSTOP)
        owner.kill()
        await owner.wait()
        async with opened(tmp_path) as store:
            assert await kept(store) == [b"%d" % n for n in range(500)]
            await until_gone(server)


async def test_a_healthy_server_left_behind_is_asked_to_end_before_a_new_one_starts(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        where = store.socket
    # The same server without its warden: what remains when both the bot and the warden were killed.
    orphan = await asyncio.create_subprocess_exec(_binary(), str(tmp_path / "valkey" / "valkey.conf"), stdout=subprocess.DEVNULL)
    async with Redis(unix_socket_path=str(where)) as client:
        while not where.exists():
            await asyncio.sleep(0.01)
        await client.rpush("kept", "by the orphan")
    async with opened(tmp_path) as store:
        assert await kept(store) == [b"by the orphan"]
        assert await orphan.wait() == 0  # it ended in good order


async def test_a_stale_pid_file_does_not_cost_a_stranger_its_life(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", "valkey-server", stdin=subprocess.PIPE)
    try:
        (tmp_path / "valkey").mkdir()
        (tmp_path / "valkey" / "valkey.pid").write_text(f"{stranger.pid}\n")
        async with opened(tmp_path) as store:
            assert store.pid != stranger.pid
            assert stranger.returncode is None
            os.kill(stranger.pid, 0)
    finally:
        stranger.kill()
        await stranger.communicate()


async def test_a_server_that_dies_while_needed_is_started_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as store:
        async with Redis.from_url(store.url) as client:
            await client.rpush("kept", "before")
        first = store.pid
        os.kill(first, signal.SIGKILL)
        while store.pid == first:
            await asyncio.sleep(0.01)
        assert await kept(store) == [b"before"]


async def test_closing_ends_the_server_frees_the_folder_and_may_be_repeated(tmp_path: Path) -> None:
    store = await open_embedded(tmp_path)
    await store.close()
    await store.close()
    await until_gone(store.pid)
    assert not store.socket.exists()
    async with opened(tmp_path):
        pass


async def test_a_folder_too_deep_for_a_socket_works_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("a long folder name, with “quotes” and 中文 " * 2) / ("b" * 90)
    async with opened(deep) as store, Redis.from_url(store.url) as client:
        await client.set("here", "1")
        assert not store.socket.is_relative_to(deep)
        assert store.socket.parent.stat().st_mode & 0o777 == 0o700
        assert (deep / "valkey" / "appendonlydir").is_dir()
    store.socket.parent.rmdir()


async def test_a_data_folder_that_is_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="STEWARD_HOME") as refusal:
        await open_embedded(tmp_path / "file")
    assert "\n" not in str(refusal.value)


async def test_a_damaged_file_is_named_instead_of_being_started_over(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    manifest = tmp_path / "valkey" / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("not a manifest\n")
    with pytest.raises(StoreError, match="valkey") as refusal:
        await open_embedded(tmp_path)
    assert "\n" not in str(refusal.value)
    assert manifest.read_text() == "not a manifest\n"
