"""Who the supervisor is, and which ids a sandbox may use.

Everything here runs as root of its own user namespace: as the machine's root, which is one
already, or as a user, who gets one. Ids inside a sandbox are a range of the supervisor's
ids that belongs to nobody: root inside is nobody outside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import syscalls

_ID_COUNT = 65_536
_HIGH_BASE = 1_900_000_000  # above what distributions hand out to users and containers
_WHOLE_RANGE = 4_000_000_000


@dataclass(frozen=True)
class Identity:
    """The supervisor's rights.

    Attributes:
        base: The id, as the supervisor sees it, of root in a sandbox.
        count: How many ids a sandbox has: 65536, or 1 where nothing better is to be had.
        is_machine_root: Whether this is the machine's root and not a user.
    """

    base: int
    count: int
    is_machine_root: bool

    @property
    def mapping(self) -> str:
        """A line for `uid_map` and `gid_map`."""
        return f"0 {self.base} {self.count}"

    def inside(self, number: int) -> int:
        """The id, as the supervisor sees it, of user or group `number` in a sandbox."""
        return self.base + (number if number < self.count else 0)


def become_root() -> Identity:
    """Enters a mount namespace of its own and, as a user, a user namespace around it."""
    if os.geteuid() == 0 and (identity := _as_machine_root()):
        return identity
    uid, gid = os.geteuid(), os.getegid()
    ranges = _subordinate(uid, "uid"), _subordinate(gid, "gid")
    with _after(_map_command(uid, gid, ranges)):
        syscalls.unshare(syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNS)
    if not all(ranges):
        _map_one(uid, gid)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    syscalls.make_private()
    return Identity(1, _ID_COUNT, False) if all(ranges) else Identity(0, 1, False)


def _as_machine_root() -> Identity | None:
    try:
        syscalls.unshare(syscalls.CLONE_NEWNS)
    except PermissionError:  # root of a container without CAP_SYS_ADMIN
        return None
    syscalls.make_private()
    available = int(Path("/proc/self/uid_map").read_text().split()[2])
    if available >= _WHOLE_RANGE:
        return Identity(_HIGH_BASE, _ID_COUNT, True)
    return Identity(1, min(available - 1, _ID_COUNT), True) if available > 1 else None


def _subordinate(number: int, kind: str) -> int | None:
    """Where a user's range of subordinate ids begins, if it is long enough."""
    import pwd

    if not shutil.which(f"new{kind}map"):
        return None
    try:
        names = {str(number), pwd.getpwuid(os.geteuid()).pw_name}
        lines = Path(f"/etc/sub{kind}").read_text().splitlines()
    except (OSError, KeyError):
        return None
    for line in lines:
        owner, start, count = (*line.split(":"), "", "")[:3]
        if owner in names and int(count or 0) >= _ID_COUNT:
            return int(start)
    return None


def _map_command(
    uid: int, gid: int, ranges: tuple[int | None, int | None]
) -> list[list[str]] | None:
    if None in ranges:
        return None
    pid = str(os.getpid())
    return [
        [f"new{kind}map", pid, "0", str(own), "1", "1", str(start), str(_ID_COUNT)]
        for kind, own, start in (("uid", uid, ranges[0]), ("gid", gid, ranges[1]))
    ]


@contextmanager
def _after(commands: list[list[str]] | None) -> Iterator[None]:
    """Runs commands from a process that stays outside, after the body has left for inside."""
    if commands is None:
        yield
        return
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(write)
        os.read(read, 1)
        done = [subprocess.run(c, capture_output=True, check=False) for c in commands]
        os._exit(any(result.returncode for result in done))
    yield
    os.close(read)
    os.close(write)
    if os.waitpid(pid, 0)[1]:
        raise PermissionError(f"{commands[0][0]} refused the ids of /etc/subuid and /etc/subgid")


def _map_one(uid: int, gid: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def write_maps(pid: int, identity: Identity) -> None:
    """Gives a process that has just left for a user namespace its ids."""
    if identity.count == 1:
        Path(f"/proc/{pid}/setgroups").write_text("deny")
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{pid}/{name}").write_text(identity.mapping)


def fork_mapped(identity: Identity, body: Callable[[], NoReturn]) -> int:
    """Forks into a new user namespace, as its root, and runs `body` there.

    Returns:
        The process id of the fork.
    """
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go_write)
            syscalls.unshare(syscalls.CLONE_NEWUSER)
            os.write(ready_write, b"x")
            if os.read(go_read, 1):
                os.setresgid(0, 0, 0)
                os.setresuid(0, 0, 0)
                body()
        except BaseException as error:  # a fork must never return
            os.write(2, f"{error}\n".encode())
        os._exit(1)
    os.close(ready_write)
    try:
        if os.read(ready_read, 1):
            write_maps(pid, identity)
            os.write(go_write, b"x")
    finally:
        for fd in (ready_read, go_read, go_write):
            os.close(fd)
    return pid


def namespace_fd(identity: Identity) -> int:
    """A user namespace with the ids of a sandbox, as a descriptor."""
    read, write = os.pipe()

    def wait() -> NoReturn:
        os.close(write)
        os.read(read, 1)
        os._exit(0)

    pid = fork_mapped(identity, wait)
    try:
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(read)
        os.close(write)
        os.waitpid(pid, 0)
