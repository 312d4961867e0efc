"""Running a command in a sandbox: fork, enter, give up every right that it must not have.

Two forks stand between the supervisor and a command. The first enters the namespaces and
stays outside the sandbox's process ids, where nothing inside can see or signal it; its
child is the command.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from . import syscalls
from .box import DOCKERS_CAPABILITIES, Box
from .capture import Capture
from .cgroups import Group

_NAMESPACES = (
    syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWNS
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWNET
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
    | syscalls.CLONE_NEWCGROUP
)
_MOST_FDS = 65_536
_LAST_CAPABILITY = 63
_FILES = 4096
_DISMISSAL_S = 5.0
_TIMED_OUT = 124  # as timeout(1) has it
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


class CannotRun(Exception):
    """A command could not be started in a sandbox that is still there."""


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes:
        argv: The program, by its absolute path, and its arguments.
        environment: Its variables.
        directory: Where it starts; `/` if that is not there.
        user: Who runs it.
        timeout_s: When it is stopped.
        max_bytes: How much of its output is kept.
        limits: The sandbox's bounds.
        groups_hold: Whether a control group holds the bounds on memory and processes.
        extra_capabilities: What it holds besides Docker's set.
        prepare: Called inside, with all rights there, right before the command.
    """

    argv: list[str]
    environment: Mapping[str, str]
    directory: str
    user: str
    timeout_s: float
    max_bytes: int
    limits: Mapping[str, int]
    groups_hold: bool
    extra_capabilities: frozenset[int] = frozenset()
    prepare: Callable[[], None] = field(default=lambda: None)


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
        _become(lambda: _enter(box, group, order, (write, error_write), one_id), error_write)
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


def _become(body: Callable[[], None], error_fd: int) -> NoReturn:
    """The rest of a fork's life: whatever goes wrong is said, and nothing returns."""
    try:
        body()
    except BaseException as error:  # a fork must never return
        os.write(error_fd, f"{type(error).__name__}: {error}".encode())
    os._exit(126)


def enter(box: Box, group: Group | None, one_id: bool) -> None:
    """Enters a sandbox as its root; children are in its process ids too."""
    if group:
        group.enter()
    syscalls.setns(box.pidfd, _NAMESPACES)
    if not one_id:
        os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    syscalls.hide_memory()


def _enter(
    box: Box, group: Group | None, order: Order, pipes: tuple[int, int], one_id: bool
) -> None:
    enter(box, group, one_id)
    child = os.fork()
    if child == 0:
        _become(lambda: _execute(order, *pipes), pipes[1])
    os.closerange(0, _MOST_FDS)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _execute(order: Order, output: int, errors: int) -> None:
    os.setsid()
    os.umask(0o022)
    order.prepare()
    for number in _RESET:
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, errors)
    os.closerange(errors + 1, _MOST_FDS)
    try:
        os.chdir(order.directory)
    except OSError:
        os.chdir("/")
    _bound(order)
    drop_rights(frozenset(DOCKERS_CAPABILITIES.values()) | order.extra_capabilities)
    _switch_user(order.user)
    os.execve(order.argv[0], order.argv, dict(order.environment))


def _bound(order: Order) -> None:
    bounds = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _FILES,
        resource.RLIMIT_FSIZE: order.limits["file_bytes"],
    }
    if not order.groups_hold:
        bounds[resource.RLIMIT_NPROC] = order.limits["processes"]
        bounds[resource.RLIMIT_AS] = order.limits["memory_bytes"]
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def drop_rights(kept: frozenset[int]) -> None:
    """Gives up for good every capability but `kept`."""
    for number in range(_LAST_CAPABILITY + 1):
        if number not in kept and not syscalls.drop_capability(number):
            return


def _switch_user(name: str) -> None:
    if name == "root":
        return
    import grp
    import pwd

    account = pwd.getpwnam(name)
    groups = [entry.gr_gid for entry in grp.getgrall() if name in entry.gr_mem]
    os.setgroups([account.pw_gid, *groups])
    os.setresgid(*[account.pw_gid] * 3)
    os.setresuid(*[account.pw_uid] * 3)


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
