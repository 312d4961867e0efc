"""Running a command in a machine: its output, its time, its end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping
from typing import Any

from .box import Box
from .capture import Capture
from .inside import Order, execute

_DISMISSAL_S = 5.0
_TIMED_OUT = 124  # as timeout(1) has it
_CHUNK = 1 << 16


class CannotRun(Exception):
    """A command could not be started in a machine that is still there."""


class Runner:
    """Runs commands, one after the other, in a machine that this process has entered.

    This process stays outside the machine's process ids, where nothing inside can see or
    signal it; its children are the commands.

    Attributes:
        pipes: What background processes still write to; drained, so that they never block.
    """

    def __init__(self, box: Box) -> None:
        self._box = box
        self.pipes: list[int] = []

    def run(self, order: Order) -> dict[str, Any]:
        """Runs a command to its end, or to its time limit.

        Returns:
            The exit code, the output's head, tail and size, and whether the time was up.

        Raises:
            CannotRun: It could not be started; says why.
        """
        before = self._box.processes()
        output, write = os.pipe()
        errors, error_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            execute(order, write, error_write)
        os.close(write)
        os.close(error_write)
        capture = Capture(output, order.max_bytes)
        timed_out = not self._await(pid, capture, time.monotonic() + order.timeout_s)
        if timed_out:
            self.dismiss(before)
        code = _exit_code(pid)
        capture.read_rest()
        self.pipes.append(output)  # what it left running may still write
        if problem := _said(errors):
            raise CannotRun(problem)
        return {
            "exit_code": _TIMED_OUT if timed_out else code,
            "head": capture.head.decode("latin-1"),
            "tail": capture.tail.decode("latin-1"),
            "size": capture.size,
            "timed_out": timed_out,
        }

    def drain(self, fd: int) -> bool:
        """Throws away what a background process wrote; False once none can write any more."""
        if os.read(fd, _CHUNK):
            return True
        self.pipes.remove(fd)
        os.close(fd)
        return False

    def dismiss(self, keep: Mapping[int, str]) -> None:
        """Kills every process that was not there before.

        All are stopped at once first, so that none can fork away from the one that counts.
        """
        pid = os.fork()
        if pid == 0:
            try:
                _kill_all(self._box, keep)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)

    def _await(self, pid: int, capture: Capture, deadline: float) -> bool:
        """Reads output until the process ends; False if the time is up first."""
        pidfd = os.pidfd_open(pid)
        sources = [pidfd, capture.fd, *self.pipes]
        try:
            while (left := deadline - time.monotonic()) > 0:
                ready = select.select(sources, [], [], left)[0]
                if pidfd in ready:
                    return True
                if capture.fd in ready and not capture.read():
                    sources.remove(capture.fd)
                for fd in set(ready) & set(self.pipes):
                    if not self.drain(fd):
                        sources.remove(fd)
            return False
        finally:
            os.close(pidfd)


def _said(errors: int) -> str:
    with os.fdopen(errors, errors="replace") as stream:
        return stream.read()


def _exit_code(pid: int) -> int:
    """The code of a command that has ended, or will now that it was killed."""
    deadline = time.monotonic() + _DISMISSAL_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        time.sleep(0.0005)
    raise CannotRun("the last command cannot be ended")


def _kill_all(box: Box, keep: Mapping[int, str]) -> None:
    if not keep:
        os.kill(-1, signal.SIGKILL)
        return
    os.kill(-1, signal.SIGSTOP)
    own = os.readlink("self", dir_fd=box.proc)
    for pid, started in box.processes().items():
        if keep.get(pid) != started and str(pid) != own:
            os.kill(pid, signal.SIGKILL)
    os.kill(-1, signal.SIGCONT)
