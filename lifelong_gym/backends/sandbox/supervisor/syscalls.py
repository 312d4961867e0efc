"""The system calls that Python 3.11 has no names for."""

from __future__ import annotations

import ctypes
import os
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same on every architecture
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_OPEN_TREE_CLOEXEC = os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MOUNT_ATTR_IDMAP = 0x00100000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def unshare(flags: int) -> None:
    """Leaves namespaces for new ones."""
    _checked(_libc.unshare(flags), f"unshare {flags:#x}")


def setns(fd: int, flags: int) -> None:
    """Enters the namespaces of the process behind a pidfd."""
    _checked(_libc.setns(fd, flags), f"setns {flags:#x}")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    """`mount(2)`."""
    arguments = (source.encode(), target.encode(), kind.encode() if kind else None)
    result = _libc.mount(*arguments, ctypes.c_ulong(flags), data.encode() or None)
    _checked(result, f"mount {target}")


def make_private() -> None:
    """Keeps what is mounted here from everyone else, and the other way round."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)


def unmount(target: str) -> None:
    """Takes a mount away at once, though its files may still be open."""
    _checked(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def clone_mount(path: str, *, recursive: bool = False) -> int:
    """A copy of the mount at `path`, attached nowhere, as a descriptor."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | (_AT_RECURSIVE if recursive else 0)
    result = _libc.syscall(_OPEN_TREE, _AT_FDCWD, path.encode(), flags)
    return _checked(result, f"open_tree {path}")


def map_owners(mount_fd: int, namespace_fd: int) -> None:
    """Shows the files of a cloned mount with their owners as a user namespace maps them."""
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_IDMAP, 0, 0, namespace_fd)
    size = ctypes.sizeof(attributes)
    arguments = (mount_fd, b"", _AT_EMPTY_PATH, ctypes.byref(attributes), size)
    _checked(_libc.syscall(_MOUNT_SETATTR, *arguments), "mount_setattr")


def attach(mount_fd: int, target: str) -> None:
    """Attaches a cloned mount."""
    arguments = (mount_fd, b"", _AT_FDCWD, target.encode(), _MOVE_MOUNT_F_EMPTY_PATH)
    _checked(_libc.syscall(_MOVE_MOUNT, *arguments), f"move_mount {target}")


def hide_memory(is_hidden: bool = True) -> None:
    """Makes this process unreadable and untraceable for what runs in a sandbox, or readable."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, int(not is_hidden), 0, 0, 0), "prctl")


def die_with_parent() -> None:
    """Has the kernel end this process when the one that forked it ends."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def drop_capability(number: int) -> bool:
    """Gives a capability up for this process and its children; False past the last."""
    return int(_libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)) == 0
