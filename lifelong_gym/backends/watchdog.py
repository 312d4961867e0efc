"""Keeps one server running for as long as any process holds a lease on it.

`lifelong_gym.backends.servers` starts this file with the standard library alone
(`python -I -S watchdog.py FOLDER`) and passes the orders as JSON on standard input, which
stays open: it is the first lease, so that a starter that dies early leaves nothing behind.
Every user of the server keeps a connection to `FOLDER/lease` open; the kernel closes it
whatever ends that user. When the last one closes, the server and the folder go.

The orders:

- `prepare`: commands to run to their end first, each `{"command": [...], "stdin": PATH}`.
- `serve`: the server's command, which stays in the foreground.
- `ready`: the path that exists once the server can be used; a socket must also accept.
- `data`: the server's own folder, removed with it.
- `owner`: the user and group ids that prepare and serve run as, or null.
- `timeout_s`: how long the start may take.
- `hello`: what every user of the server is told.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_POLL_S, _STOP_S = 0.005, 2.0


class StartError(Exception):
    """The server did not start; the message has its last words."""


def main() -> int:
    """Runs until the last lease ends; returns the exit status."""
    folder = Path(sys.argv[1])
    if os.fork():  # the starter waits for this process, and never for the one that stays
        os._exit(0)
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):  # the starter was killed before it could say what to run
        with contextlib.suppress(OSError):
            _remove(folder, (folder / "data").read_text(), None, started=True)
        return 1
    orders = json.loads(line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    wake = _wake_on_child_end()
    server: subprocess.Popen[bytes] | None = None
    lock: int | None = None
    try:
        with contextlib.closing(_listen(folder / "lease")) as listener:
            server = _start(orders, folder / "log")
            _say({"ready": True})
            os.close(1)
            hello = json.dumps(orders["hello"]).encode() + b"\n"
            lock = Leases(listener, hello, folder).serve(server, wake)
    except StartError as error:
        _say({"error": str(error)})
        return 1
    finally:
        _stop(server)
        _remove(folder, orders["data"], lock, started=server is not None)
    return 0


def _wake_on_child_end() -> int:
    """A descriptor that becomes readable when a child has ended."""
    wake, alarm = os.pipe()
    os.set_blocking(alarm, False)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _say(message: dict[str, Any]) -> None:
    """Tells the starter, who may be gone."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(message).encode() + b"\n")


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(128)
    listener.setblocking(False)
    return listener


# Starting and stopping -----------------------------------------------------------------


def _start(orders: dict[str, Any], log: Path) -> subprocess.Popen[bytes]:
    deadline = time.monotonic() + orders["timeout_s"]
    for step in orders["prepare"]:
        process = _spawn(step["command"], step.get("stdin", os.devnull), orders, log)
        if process.wait(timeout=orders["timeout_s"]) != 0:
            raise StartError(_last_words(step["command"], log))
    server = _spawn(orders["serve"], os.devnull, orders, log)
    while not _is_ready(orders["ready"]):
        if server.poll() is not None or time.monotonic() > deadline:
            _stop(server)
            raise StartError(_last_words(orders["serve"], log))
        time.sleep(_POLL_S)
    return server


def _spawn(
    command: list[str], stdin: str, orders: dict[str, Any], log: Path
) -> subprocess.Popen[bytes]:
    """Starts `command` so that it dies with this process."""
    owner: dict[str, Any] = {}
    if orders["owner"]:
        owner = dict(zip(("user", "group"), orders["owner"], strict=True), extra_groups=[])
    tie = None  # the kernel forgets it when the user changes; Popen does that before
    if sys.platform == "linux":
        tie = functools.partial(ctypes.CDLL(None).prctl, _DIE_WITH_PARENT, signal.SIGKILL)
    with Path(stdin).open("rb") as source, log.open("ab") as output:
        try:
            return subprocess.Popen(
                command, stdin=source, stdout=output, stderr=output, preexec_fn=tie, **owner
            )
        except OSError as error:
            raise StartError(f"{command[0]} cannot be run: {error}") from None


def _is_ready(path: str) -> bool:
    if not Path(path).is_socket():
        return Path(path).exists()
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def _last_words(command: list[str], log: Path) -> str:
    text = log.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    return f"{command[0]} did not start; its last words: {text or '(none)'}"


def _stop(server: subprocess.Popen[bytes] | None) -> None:
    """Ends the server, whose data nobody needs any more."""
    if server is None or server.poll() is not None:
        return
    server.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(timeout=_STOP_S)
    server.kill()
    server.wait()


def _remove(folder: Path, data: str, lock: int | None, *, started: bool) -> None:
    """Removes the files, unless the next server's have already taken their place."""
    shutil.rmtree(data, ignore_errors=True)
    if not started:  # the starter holds the lock, and removes the folder itself
        return
    lock = _lock(folder) if lock is None else lock
    with contextlib.suppress(OSError):
        if (folder / "data").read_text() == data:
            shutil.rmtree(folder, ignore_errors=True)
            Path(f"{folder}.lock").unlink()


def _lock(folder: Path, *, wait: bool = True) -> int | None:
    """The lock under which servers start and stop, or None; see `servers._locked`."""
    path = Path(f"{folder}.lock")
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        os.close(lock)
        if not wait:
            return None


# Leases --------------------------------------------------------------------------------


class Leases:
    """The connections of those who need the server.

    Args:
        listener: Where users connect.
        hello: What each is told.
        folder: The server's folder, whose lock is held by whoever connects.
    """

    def __init__(self, listener: socket.socket, hello: bytes, folder: Path) -> None:
        self._listener, self._hello, self._folder = listener, hello, folder
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, "listener")
        self._selector.register(0, selectors.EVENT_READ, "lease")
        self._count = 1

    def serve(self, server: subprocess.Popen[bytes], wake: int) -> int | None:
        """Returns the lock once nobody needs the server, or None once it has ended."""
        self._selector.register(wake, selectors.EVENT_READ, "child")
        while True:
            for key, _ in self._selector.select(None if self._count else _POLL_S):
                if key.data == "listener":
                    self._accept()
                elif key.data == "lease":
                    self._end_if_closed(key.fileobj)
                elif os.read(wake, 1024) and server.poll() is not None:
                    return None
            if not self._count:
                lock = self._nobody_comes()
                if lock is not None:
                    return lock

    def _accept(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                lease, _ = self._listener.accept()
                with contextlib.suppress(OSError):
                    lease.sendall(self._hello)
                self._selector.register(lease, selectors.EVENT_READ, "lease")
                self._count += 1

    def _end_if_closed(self, lease: Any) -> None:
        with contextlib.suppress(OSError):
            if os.read(lease if isinstance(lease, int) else lease.fileno(), 1024):
                return
        self._selector.unregister(lease)
        self._count -= 1
        if not isinstance(lease, int):
            lease.close()

    def _nobody_comes(self) -> int | None:
        """Takes the lock under which newcomers connect, and keeps it if there is none.

        Never waits for it: whoever holds it may be waiting for this process to say hello.
        """
        lock = _lock(self._folder, wait=False)
        if lock is not None:
            self._accept()
            if self._count:
                os.close(lock)
                lock = None
        return lock


if __name__ == "__main__":
    sys.exit(main())
