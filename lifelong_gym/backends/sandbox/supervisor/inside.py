"""What a fork does inside a machine before it becomes the command that was asked for.

Modules must be loaded before: inside, the files of the host are out of reach.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import resource
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from . import syscalls
from .box import DOCKERS_CAPABILITIES, UNTRACEABLE, Box

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
_LONGEST_ARGUMENT = 120_000  # bytes; the kernel takes 131072, its terminator included
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
_OOM_SCORE = "500"  # rather a command than who waits for it


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
        bounds: Its resource limits.
        is_check: Whether it judges, and must not be traced by what else runs.
        prepare: Called inside, with all rights there, right before the command.
    """

    argv: list[str]
    environment: Mapping[str, str]
    directory: str
    user: str
    timeout_s: float
    max_bytes: int
    bounds: Mapping[int, int]
    is_check: bool = False
    prepare: Callable[[], None] = field(default=lambda: None)


def bounds(limits: Mapping[str, int], groups_hold: bool) -> dict[int, int]:
    """The resource limits of a command.

    Args:
        limits: The machine's.
        groups_hold: Whether a control group bounds memory and processes of all together;
            bounds on each user's processes and each process's memory have to do otherwise.
    """
    found = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _FILES,
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_NPROC: limits["processes"],
    }
    if not groups_hold:
        found[resource.RLIMIT_AS] = limits["memory_bytes"]
    return found


def enter(box: Box, has_one_id: bool) -> None:
    """Enters a machine as its root; children will be among its processes.

    What this process becomes later, by `execve`, can only have Docker's capabilities.
    """
    syscalls.setns(box.pidfd, _NAMESPACES)
    if not has_one_id:
        os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    syscalls.hide_memory()
    kept = {*DOCKERS_CAPABILITIES.values(), *UNTRACEABLE.values()}
    for number in range(_LAST_CAPABILITY + 1):
        if number not in kept and not syscalls.drop_capability(number):
            return


def execute(order: Order, output: int, errors: int) -> NoReturn:
    """Becomes a command; what goes wrong before is written to `errors`."""
    try:
        os.setsid()
        os.umask(0o022)
        order.prepare()
        _be_first_to_go()
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, errors)
        os.closerange(errors + 1, _MOST_FDS)
        _go_to(order.directory)
        _bound(order)
        _switch_user(order.user)
        argv = _short(order.argv)
        os.execve(argv[0], argv, dict(order.environment))
    except BaseException as error:  # a fork must never return
        os.write(errors, f"{type(error).__name__}: {error}".encode())
    os._exit(126)


def _be_first_to_go() -> None:
    """Has the kernel end commands first where memory runs out."""
    # Written by its own process only while that shows its memory: for so long, it has all
    # rights inside, and what has fewer cannot look.
    syscalls.hide_memory(False)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
    syscalls.hide_memory()


def _go_to(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError:
        os.chdir("/")


def _bound(order: Order) -> None:
    for kind, bound in order.bounds.items():
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))
    if not order.is_check:
        for number in UNTRACEABLE.values():
            syscalls.drop_capability(number)


def _switch_user(name: str) -> None:
    if name == "root":
        return
    account = pwd.getpwnam(name)
    groups = [entry.gr_gid for entry in grp.getgrall() if name in entry.gr_mem]
    os.setgroups([account.pw_gid, *groups])
    os.setresgid(*[account.pw_gid] * 3)
    os.setresuid(*[account.pw_uid] * 3)


def _short(argv: list[str]) -> list[str]:
    """`argv`, with a script that is too long to be an argument in a file of its own."""
    if len(argv) != 3 or argv[1] != "-c" or len(argv[2].encode()) < _LONGEST_ARGUMENT:
        return argv
    script = os.memfd_create("script", 0)
    with os.fdopen(os.dup(script), "w") as stream:
        stream.write(argv[2])
    return [argv[0], f"/proc/self/fd/{script}"]
