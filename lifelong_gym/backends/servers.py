"""One server for all environments and workers of a user, and none once they are gone.

Whoever needs a server first starts it under a lock file, through a watchdog process; every
user of it holds a lease, which is an open connection to the watchdog. The kernel closes a
lease whatever ends its holder, `kill -9` included, and with the last lease the watchdog
stops the server and removes its files.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from lifelong_gym.errors import BackendUnavailableError

RUNTIME_VARIABLE = "LIFELONG_GYM_RUNTIME"
"""An environment variable that names the folder for servers and their data."""

_WATCHDOG = Path(__file__).with_name("watchdog.py")
_CONNECT_TIMEOUT_S = 30.0
_LONGEST_SOCKET_PATH = 107
_ROOM = 2 << 30


@dataclass(frozen=True)
class Orders:
    """What the watchdog is to run; see `watchdog.py` for what each means."""

    serve: list[str]
    ready: str
    hello: dict[str, Any]
    prepare: list[dict[str, Any]] = field(default_factory=list)
    owner: tuple[int, int] | None = None
    timeout_s: float = 60.0


class Lease:
    """The right to use a shared server, until it is closed or its process ends.

    Attributes:
        hello: What the server's users are told: its socket, its account.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        with connection.makefile("rb") as stream:
            line = stream.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the watchdog ended before it answered")
        self.hello: dict[str, Any] = json.loads(line)

    def close(self) -> None:
        """Gives the lease back; twice is fine."""
        self._connection.close()


def fast_folder(room: int = 0) -> Path:
    """Where servers and their data live: in memory, where there is such a folder.

    Args:
        room: How many bytes must be free there; containers often have 64 MB.
    """
    if chosen := os.environ.get(RUNTIME_VARIABLE):
        return Path(chosen)
    shared = Path("/dev/shm")
    if not shared.is_dir() or not os.access(shared, os.W_OK | os.X_OK):
        return Path(tempfile.gettempdir())
    return shared if shutil.disk_usage(shared).free >= room else Path(tempfile.gettempdir())


def lease(name: str, orders: Callable[[Path], Orders]) -> Lease:
    """A lease on the server called `name`, which is started if it is not running.

    Args:
        name: Names the server among all of this user's: driver and version.
        orders: Called with a fresh folder for the server's data if it must be started.

    Raises:
        BackendUnavailableError: The server cannot be started here.
    """
    try:
        return _lease(_runtime_folder() / name, orders)
    except OSError as error:
        raise BackendUnavailableError(
            f"the server {name!r} cannot be started in {fast_folder()}: {error}; "
            f"{RUNTIME_VARIABLE} names another folder"
        ) from error


def _lease(folder: Path, orders: Callable[[Path], Orders]) -> Lease:
    if len(os.fsencode(folder / "lease")) > _LONGEST_SOCKET_PATH:
        raise BackendUnavailableError(
            f"{folder} is too long a path for a socket: {RUNTIME_VARIABLE} names a shorter one"
        )
    with _locked(folder):
        running = _connect(folder)
        if running is not None:
            return running
        _reap(folder)
        _reap_others(folder)
        return _start(folder, orders)


def _runtime_folder() -> Path:
    """This user's folder of running servers, which nobody else may enter."""
    folder = fast_folder() / f"lifelong-gym-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise BackendUnavailableError(
            f"{folder} must be a folder of this user alone (mode 0700), got mode "
            f"{stat.filemode(found.st_mode)} of user {found.st_uid}: remove it, or set "
            f"{RUNTIME_VARIABLE} to another folder"
        )
    return folder


@contextlib.contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock that decides who starts and who stops the server of `folder`.

    The watchdog removes the lock's file while it holds the lock, so one that was waited
    for may be no longer the one that others see: then again.
    """
    path = f"{folder}.lock"
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_at(descriptor, path):
                try:
                    yield
                finally:
                    if not folder.exists():
                        Path(path).unlink()
                return
        finally:
            os.close(descriptor)


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - no Path
    except FileNotFoundError:
        return False


def _reap_others(folder: Path) -> None:
    """Removes what killed watchdogs of other servers left behind."""
    for other in folder.parent.iterdir():
        if other == folder or not other.is_dir():
            continue
        with contextlib.suppress(BlockingIOError), _locked(other, wait=False):
            running = _connect(other)
            if running is None:
                _reap(other)
            else:
                running.close()


def _connect(folder: Path) -> Lease | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CONNECT_TIMEOUT_S)
    try:
        connection.connect(str(folder / "lease"))
        return Lease(connection)
    except OSError:  # no watchdog, or one that is ending
        connection.close()
        return None


def _reap(folder: Path) -> None:
    """Removes what a watchdog that was killed left behind; its server died with it."""
    with contextlib.suppress(OSError):
        shutil.rmtree((folder / "data").read_text(), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path, orders: Callable[[Path], Orders]) -> Lease:
    folder.mkdir(mode=0o700)
    data = fast_folder(_ROOM) / f"lifelong-gym-data-{secrets.token_hex(6)}"
    (folder / "data").write_text(str(data))
    try:
        data.mkdir(mode=0o700)
        wanted = orders(data)
        if wanted.owner:
            os.chown(data, *wanted.owner)
        return _wait_ready(_spawn(folder), folder, _as_json(wanted, data))
    except BaseException:
        _reap(folder)
        raise


def _as_json(orders: Orders, data: Path) -> bytes:
    return json.dumps({**vars(orders), "data": str(data)}).encode() + b"\n"


def _spawn(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_WATCHDOG), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,  # so that a Ctrl-C reaches the user's program only
    )


def _wait_ready(watchdog: subprocess.Popen[bytes], folder: Path, orders: bytes) -> Lease:
    """Passes the orders and takes the first lease; then the pipes have served."""
    orders_pipe, answers = cast("IO[bytes]", watchdog.stdin), cast("IO[bytes]", watchdog.stdout)
    with orders_pipe, answers:
        watchdog.wait()  # the watchdog itself is this process's child
        orders_pipe.write(orders)
        orders_pipe.flush()
        answer = json.loads(answers.readline() or '{"error": "the watchdog ended"}')
        if "error" in answer:
            raise BackendUnavailableError(answer["error"])
        started = _connect(folder)
    if started is None:
        raise BackendUnavailableError(f"the watchdog of {folder} ended as soon as it had started")
    return started
