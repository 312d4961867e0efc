"""Limits on a whole sandbox, where control groups can be written; version 1 or 2."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_FOLDER = "lifelong-gym"
_PATIENCE_S = 2.0


class Group:
    """A control group with bounds on memory and processes.

    Attributes:
        folders: Its folder in each hierarchy; one in version 2.
    """

    def __init__(self, folders: list[Path], memory_bytes: int, processes: int) -> None:
        self.folders = folders
        for folder in folders:
            folder.mkdir(parents=True)
            _write_any(folder, ("memory.max", "memory.limit_in_bytes"), memory_bytes)
            _write_any(folder, ("memory.swap.max",), 0)
            _write_any(folder, ("memory.memsw.limit_in_bytes",), memory_bytes)
            _write_any(folder, ("pids.max",), processes)

    def enter(self) -> None:
        """Moves the calling process in."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0")

    def remove(self) -> None:
        """Removes the group; its processes are gone or going."""
        for folder in self.folders:
            give_up = time.monotonic() + _PATIENCE_S
            while folder.exists() and time.monotonic() < give_up:
                try:
                    folder.rmdir()
                except OSError:
                    time.sleep(0.001)


class Groups:
    """Makes groups, if this machine lets us.

    Attributes:
        kind: `"cgroup v1"` or `"cgroup v2"`; empty where groups cannot be written.
    """

    def __init__(self) -> None:
        self.kind, self._parents = _parents()
        self._label = f"{os.getpid()}-{_start_time(os.getpid())}"
        if self.kind:
            self._reap()

    def make(self, name: str, memory_bytes: int, processes: int) -> Group | None:
        """A group of that name, or None where there are none."""
        if not self.kind:
            return None
        folders = [parent / f"{self._label}-{name}" for parent in self._parents]
        return Group(folders, memory_bytes, processes)

    def _reap(self) -> None:
        """Removes what supervisors left that were killed."""
        for parent in self._parents:
            for folder in parent.glob("*-*-*"):
                pid, started, _ = folder.name.split("-", 2)
                if _start_time(int(pid)) != started:
                    with contextlib.suppress(OSError):
                        folder.rmdir()


def _write_any(folder: Path, names: tuple[str, ...], value: int) -> None:
    for name in names:
        if (file := folder / name).exists():
            file.write_text(str(value))


def _start_time(pid: int) -> str:
    """When a process started, in ticks; empty if there is none. Tells it from a later one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _parents() -> tuple[str, list[Path]]:
    v2 = (_MOUNT / "cgroup.controllers").exists()
    roots = [_MOUNT] if v2 else [_MOUNT / "memory", _MOUNT / "pids"]
    parents = [root / _FOLDER for root in roots]
    try:
        for root, parent in zip(roots, parents, strict=True):
            if not root.is_dir():
                return "", []
            if v2:
                _delegate(root)
            parent.mkdir(exist_ok=True)
            if v2:
                _delegate(parent)
            if not os.access(parent, os.W_OK):
                return "", []
    except OSError:
        return "", []
    return ("cgroup v2" if v2 else "cgroup v1"), parents


def _delegate(folder: Path) -> None:
    wanted = {"memory", "pids"}
    have = set((folder / "cgroup.subtree_control").read_text().split())
    for name in wanted - have:
        (folder / "cgroup.subtree_control").write_text(f"+{name}")
