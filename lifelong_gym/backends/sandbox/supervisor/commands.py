"""Running a command in a sandbox, from the outside: its output, its time, its end."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping
from typing import Any

from .box import Box
from .capture import Capture
from .cgroups import Group
from .inside import Order, become, carry_out, enter

_DISMISSAL_S = 5.0
_TIMED_OUT = 124  # as timeout(1) has it


class CannotRun(Exception):
    """A command could not be started in a sandbox that is still there."""


def run(box: Box, group: Group | None, order: Order, one_id: bool) -> dict[str, Any]:
    """Runs a command to its end, or to its time limit.

    Returns:
        The exit code, the output's head, tail and size, and whether the time was up.

    Raises:
        CannotRun: It could not be started; says why.
    """
    before = box.processes()
    output, write = os.pipe()
    errors, error_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(lambda: carry_out(box, group, order, (write, error_write), one_id), error_write)
    os.close(write)
    os.close(error_write)
    capture = Capture(output, order.max_bytes)
    timed_out = not _await(pid, capture, box, time.monotonic() + order.timeout_s)
    if timed_out:
        dismiss(box, before, one_id)
    code = _exit_code(pid)
    capture.read_rest()
    box.pipes.append(output)  # what it left running may still write
    if problem := _said(errors):
        raise CannotRun(problem)
    return {
        "exit_code": _TIMED_OUT if timed_out else code,
        "head": capture.head.decode("latin-1"),
        "tail": capture.tail.decode("latin-1"),
        "size": capture.size,
        "timed_out": timed_out,
    }


def _said(errors: int) -> str:
    with open(errors, errors="replace") as stream:
        return stream.read()


def _await(pid: int, capture: Capture, box: Box, deadline: float) -> bool:
    """Reads output until the process ends; False if the time is up first."""
    pidfd = os.pidfd_open(pid)
    sources = [pidfd, capture.fd, *box.pipes]
    try:
        while (left := deadline - time.monotonic()) > 0:
            ready = select.select(sources, [], [], left)[0]
            if capture.fd in ready and not capture.read():
                sources.remove(capture.fd)
            for fd in set(ready) & set(box.pipes):
                if not drain(box, fd):
                    sources.remove(fd)
            if pidfd in ready:
                return True
        return False
    finally:
        os.close(pidfd)


def drain(box: Box, fd: int) -> bool:
    """Throws away what a background process wrote; False once nobody can write any more."""
    if os.read(fd, 1 << 16):
        return True
    box.pipes.remove(fd)
    os.close(fd)
    return False


def _exit_code(pid: int) -> int:
    """The code of a fork that has ended, or will now that its command was killed."""
    deadline = time.monotonic() + _DISMISSAL_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 137


def dismiss(box: Box, keep: Mapping[int, str], one_id: bool) -> None:
    """Kills every process of a sandbox that was not there before.

    All are stopped at once first, so that none can fork away from the one that counts them.
    """
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        enter(box, None, one_id)
        child = os.fork()
        if child == 0:
            _kill_all(box, keep)
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        os._exit(0)


def _kill_all(box: Box, keep: Mapping[int, str]) -> None:
    if not keep:
        os.kill(-1, signal.SIGKILL)
        return
    os.kill(-1, signal.SIGSTOP)
    own = os.getpid()
    for pid, started in box.processes().items():
        if keep.get(pid) != started and pid != own:
            os.kill(pid, signal.SIGKILL)
    os.kill(-1, signal.SIGCONT)
