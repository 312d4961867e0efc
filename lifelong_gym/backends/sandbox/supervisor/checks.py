"""The root in which a check runs: the agent's files, the pristine root's tools.

The agent may still have processes running, as root of the sandbox, so nothing that they can
reach is trusted. The check sees a new root in a mount namespace of its own. Its folders are
the agent's, except those of tools and libraries: there the pristine files win, whatever
the agent made of them, and what the agent added stands beside them.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from . import syscalls
from .box import PRISTINE

_ROOT = f"{PRISTINE}/tmp"
"""Where it is built: in the pristine root, which no process of the agent can reach."""

_SCRATCH = f"{PRISTINE}/mnt"
"""Room beside it."""

_TOOLS = frozenset({"bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec"})
_LOADER = ("ld.so.preload", "ld.so.cache", "nsswitch.conf")
"""What decides in /etc which libraries a tool loads."""


def hide_processes() -> None:
    """Makes processes invisible to those that may not trace them: checks to the agent's."""
    flags = syscalls.MS_REMOUNT | syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
    syscalls.mount("proc", "/proc", "proc", flags, "hidepid=invisible")


def enter_root() -> None:
    """Builds the root of a check and makes it this process's own."""
    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.make_private()
    procfs = syscalls.clone_mount("/proc", recursive=True)
    syscalls.unmount("/proc")
    for place in (_ROOT, _SCRATCH):
        syscalls.mount("tmpfs", place, "tmpfs", 0, "mode=755,size=16m")
    for name in sorted((_names("/") | _names(PRISTINE)) - {"etc", "proc", "usr"}):
        _place(f"/{name}", f"{PRISTINE}/{name}", f"{_ROOT}/{name}", is_tool=name in _TOOLS)
    Path(_ROOT, "usr").mkdir()
    for name in sorted(_names("/usr") | _names(f"{PRISTINE}/usr")):
        places = (f"{where}/usr/{name}" for where in ("", PRISTINE, _ROOT))
        _place(*places, is_tool=name in _TOOLS)
    Path(_ROOT, "proc").mkdir()
    syscalls.attach(procfs, f"{_ROOT}/proc")
    _place_etc()
    os.chroot(_ROOT)
    os.chdir("/")


def _names(folder: str) -> set[str]:
    return (
        {path.name for path in Path(folder).iterdir()} if _mode(folder) == stat.S_IFDIR else set()
    )


def _mode(path: str) -> int:
    """What kind of file `path` is; 0 for none."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0


def _place(agents: str, pristine: str, target: str, *, is_tool: bool) -> None:
    """Puts one entry into the new root."""
    source = pristine if is_tool and _mode(pristine) else agents
    kind = _mode(source)
    if kind == stat.S_IFLNK:
        Path(target).symlink_to(Path(source).readlink())
    elif kind == stat.S_IFDIR:
        Path(target).mkdir()
        if source is pristine:
            _union(pristine, agents, target)
        else:
            syscalls.mount(source, target, None, syscalls.MS_BIND | syscalls.MS_REC)
    elif kind:
        Path(target).touch()
        syscalls.mount(source, target, None, syscalls.MS_BIND)


def _union(pristine: str, agents: str, target: str) -> None:
    """Shows the pristine folder, and beneath it what else the agent's holds."""
    if _mode(agents) == stat.S_IFDIR:
        try:
            options = f"lowerdir={pristine}:{agents},userxattr"
            syscalls.mount("overlay", target, "overlay", syscalls.MS_RDONLY, options)
            return
        except OSError:  # overlays stand on overlays as deep as they may: tools alone, then
            pass
    syscalls.mount(pristine, target, None, syscalls.MS_BIND | syscalls.MS_REC)


def _place_etc() -> None:
    """Puts the agent's /etc there, but what the loader reads in it as it was."""
    _place("/etc", f"{PRISTINE}/etc", f"{_ROOT}/etc", is_tool=False)
    if _mode("/etc") != stat.S_IFDIR:
        return
    folders = [Path(_SCRATCH, name) for name in ("loader", "upper", "work")]
    for folder in folders:
        folder.mkdir()
    loader, upper, work = folders
    for name in _LOADER:
        pristine = Path(PRISTINE, "etc", name)
        if pristine.is_file():
            shutil.copyfile(pristine, loader / name)
        else:
            os.mknod(loader / name, stat.S_IFCHR, 0)  # how overlays say that there is no such file
    options = f"lowerdir={loader}:/etc,upperdir={upper},workdir={work},userxattr"
    try:
        syscalls.mount("overlay", f"{_ROOT}/etc", "overlay", 0, options)
    except OSError:  # no overlay can stand on this one: cover what is there, at least
        (loader / "empty").touch()
        for name in _LOADER:
            source = loader / name if (loader / name).is_file() else loader / "empty"
            if _mode(f"{_ROOT}/etc/{name}") == stat.S_IFREG:
                syscalls.mount(str(source), f"{_ROOT}/etc/{name}", None, syscalls.MS_BIND)
