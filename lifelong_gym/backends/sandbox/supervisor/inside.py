"""The forks of the supervisor that enter a sandbox.

Two stand between the supervisor and a command. The first enters the namespaces and stays
outside the sandbox's process ids, where nothing inside can see or signal it; its child is
the command. Modules must be loaded before: inside, the machine's files are out of reach.
"""

from __future__ import annotations

import grp
import os
import pwd
import resource
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from . import syscalls
from .box import DOCKERS_CAPABILITIES, Box
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
_RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


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


def become(body: Callable[[], None], error_fd: int) -> NoReturn:
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


def carry_out(
    box: Box, group: Group | None, order: Order, pipes: tuple[int, int], one_id: bool
) -> NoReturn:
    """Runs a command and ends with its exit code.

    Args:
        box: Where.
        group: The control group that holds it.
        order: What.
        pipes: Where its output goes, and what went wrong before it could start.
        one_id: Whether the sandbox has root only.
    """
    enter(box, group, one_id)
    child = os.fork()
    if child == 0:
        become(lambda: _execute(order, *pipes), pipes[1])
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
    account = pwd.getpwnam(name)
    groups = [entry.gr_gid for entry in grp.getgrall() if name in entry.gr_mem]
    os.setgroups([account.pw_gid, *groups])
    os.setresgid(*[account.pw_gid] * 3)
    os.setresuid(*[account.pw_uid] * 3)
