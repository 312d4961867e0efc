"""A machine, as bubblewrap makes it: namespaces, a root of its own, and a process 1.

Process 1 is a `sleep` that ignores SIGCHLD, so that the kernel removes what it inherits.
No signal from inside can end it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import syscalls
from .identity import Identity, fork_mapped
from .roots import Layer, Workshop

PRISTINE = "/proc"
"""Where the untouched root is mounted in every sandbox: beneath the procfs that hides it."""

DOCKERS_CAPABILITIES = {
    "CAP_CHOWN": 0,
    "CAP_DAC_OVERRIDE": 1,
    "CAP_FOWNER": 3,
    "CAP_FSETID": 4,
    "CAP_KILL": 5,
    "CAP_SETGID": 6,
    "CAP_SETUID": 7,
    "CAP_SETPCAP": 8,
    "CAP_NET_BIND_SERVICE": 10,
    "CAP_NET_RAW": 13,
    "CAP_SYS_CHROOT": 18,
    "CAP_MKNOD": 27,
    "CAP_AUDIT_WRITE": 29,
    "CAP_SETFCAP": 31,
}
"""What a command in a sandbox may do, all of it inside the sandbox's namespaces only."""

UNTRACEABLE = {"CAP_LEASE": 28}
"""Harmless, but nothing without it can trace a process that has it, or read its memory."""

_SMALL_BYTES = 16 << 20  # of /run and /dev/shm
_MOST_INODES = 1 << 17
_START_TIMEOUT_S = 20.0
_PROCESS_1 = "trap '' CHLD; echo ready; exec sleep infinity >/dev/null 2>&1"


class BoxError(Exception):
    """A sandbox could not be made: the system's fault."""


@dataclass(frozen=True)
class Box:
    """A running machine.

    Attributes:
        monitor: The process id of bubblewrap outside.
        pidfd: Its process 1.
        proc: Its procfs, opened before anyone could touch it.
    """

    monitor: int
    pidfd: int
    proc: int

    @property
    def is_alive(self) -> bool:
        """Whether process 1 still runs, and with it anything."""
        return not select.select([self.pidfd], [], [], 0)[0]

    def processes(self) -> dict[int, str]:
        """Every process inside but the first, with the time at which it started."""
        found = {}
        for name in os.listdir(self.proc):  # noqa: PTH208 - a descriptor
            if name.isdigit() and name != "1":
                with contextlib.suppress(OSError):
                    fd = os.open(f"{name}/stat", os.O_RDONLY, dir_fd=self.proc)
                    with os.fdopen(fd) as stat:
                        found[int(name)] = stat.read().rpartition(")")[2].split()[19]
        return found

    def stop(self) -> None:
        """Ends every process."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        # All children, not just bubblewrap: process 1 ends only once commands are reaped.
        while os.waitpid(-1, 0)[0] != self.monitor:
            pass


def make_disk(folder: Path, layers: int, identity: Identity, size: int) -> None:
    """Mounts a disk in memory for what a machine writes, `size` bytes large."""
    folder.mkdir()
    owner = f"uid={identity.base},gid={identity.base}"
    inodes = min(max(size // 4096, 1024), _MOST_INODES)
    options = f"mode=755,size={size},nr_inodes={inodes},{owner}"
    syscalls.mount("tmpfs", str(folder), "tmpfs", 0, options)
    for number in range(layers):
        for name in (f"upper{number}", f"work{number}"):
            (folder / name).mkdir()
            os.chown(folder / name, identity.base, identity.base)


def start_box(workshop: Workshop, identity: Identity, folder: Path) -> Box:
    """Starts a machine that writes to the disk at `folder`; waits until process 1 runs.

    Raises:
        BoxError: bubblewrap refused; says what it said.
    """
    output, write = os.pipe()
    info, info_write = os.pipe()
    arguments = _arguments(folder, workshop.layers, info_write)

    def become_bubblewrap() -> NoReturn:
        if identity.count > 1:
            os.setgroups([])
        with contextlib.suppress(OSError):  # no further user namespaces inside
            Path("/proc/sys/user/max_user_namespaces").write_text("0")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(write, 1)
        os.dup2(write, 2)
        os.set_inheritable(info_write, True)
        os.execve(workshop.bwrap, arguments, {})

    monitor = fork_mapped(identity, become_bubblewrap)
    os.close(write)
    os.close(info_write)
    try:
        pid = _await_ready(output, info)
        proc = os.open(f"/proc/{pid}/root/proc", os.O_RDONLY | os.O_DIRECTORY)
        return Box(monitor, os.pidfd_open(pid), proc)
    except (BoxError, OSError) as error:
        os.kill(monitor, signal.SIGKILL)
        os.waitpid(monitor, 0)
        raise BoxError(str(error)) from error
    finally:
        os.close(output)
        os.close(info)


def _arguments(folder: Path, layers: list[Layer], info_fd: int) -> list[str]:
    overlays = [
        word
        for number, layer in enumerate(layers)
        for word in (
            *("--overlay-src", layer.folder),
            *("--overlay", f"{folder}/upper{number}", f"{folder}/work{number}", layer.place),
        )
    ]
    pristine = [
        word
        for layer in layers
        for word in ("--ro-bind", layer.folder, (PRISTINE + layer.place).rstrip("/"))
    ]
    small = ("--size", str(_SMALL_BYTES), "--tmpfs")
    capabilities = [
        word for name in (*DOCKERS_CAPABILITIES, *UNTRACEABLE) for word in ("--cap-add", name)
    ]
    return [
        *("bwrap", *overlays, *pristine),
        *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", *small, "/dev/shm"),
        # bubblewrap cannot bound its /dev, so nothing may be written there.
        *("--remount-ro", "/dev", *small, "/run", "--perms", "1777", "--dir", "/run/lock"),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup"),
        *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--as-pid-1"),
        *("--cap-drop", "ALL", *capabilities, "--clearenv", "--info-fd", str(info_fd)),
        *("--chdir", "/", "--", "/bin/bash", "--norc", "-c", _PROCESS_1),
    ]


def _await_ready(output: int, info: int) -> int:
    said = b""
    while not said.endswith(b"ready\n"):
        if not select.select([output], [], [], _START_TIMEOUT_S)[0]:
            raise BoxError(f"bubblewrap was not ready after {_START_TIMEOUT_S:.0f} s")
        data = os.read(output, 4096)
        if not data:
            raise BoxError(f"bubblewrap failed: {said.decode(errors='replace').strip()}")
        said += data
    return int(json.loads(os.read(info, 4096))["child-pid"])
