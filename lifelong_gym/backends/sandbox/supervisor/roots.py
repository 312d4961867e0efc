"""Root filesystems, ready to be the lower layers of sandboxes.

They are mounted once, in the supervisor's own mount namespace: nobody else sees them and
they end with the supervisor, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from . import syscalls
from .identity import Identity, namespace_fd
from .skeleton import make_skeleton

_SHADOW = 42  # the group's id on every distribution that has it
_MOUNT_POINTS = ("/mnt", "/media", "/srv", "/opt", "/tmp")


@dataclass(frozen=True)
class Layer:
    """A folder that stands somewhere in a sandbox's root, and is never written.

    Attributes:
        place: Where it stands: `"/"`, `"/usr"`.
        folder: The folder.
    """

    place: str
    folder: str


@dataclass(frozen=True)
class Workshop:
    """What all sandboxes of a supervisor are made from.

    Attributes:
        folder: A folder in memory, for the sandboxes' own layers.
        bwrap: The path of bubblewrap.
        layers: The root filesystem, from the bottom up.
    """

    folder: Path
    bwrap: str
    layers: list[Layer]


def prepare(bwrap: str, root: str | None, copies: str, identity: Identity) -> Workshop:
    """Mounts the root filesystem.

    Args:
        bwrap: The bubblewrap binary.
        root: A folder with a root filesystem; None for one made from the machine's `/usr`.
        copies: Where a root is copied to if its owners cannot be mapped as they are.
        identity: The supervisor's rights.

    Raises:
        OSError: Something cannot be mounted.
    """
    tool_folder = _tool_folder(bwrap)
    tool = syscalls.clone_mount(tool_folder)
    source = _mapped(root or "/usr", identity)
    if source is None:
        source = syscalls.clone_mount(_shifted_copy(root, copies, identity) if root else "/usr")
    folder = Path(next(point for point in _MOUNT_POINTS if Path(point).is_dir()))
    syscalls.mount("tmpfs", str(folder), "tmpfs", 0, "mode=755")
    for name, fd in (("tool", tool), ("source", source)):
        (folder / name).mkdir()
        syscalls.attach(fd, str(folder / name))
        os.close(fd)
    layers = [Layer("/", str(folder / "source"))] if root else _host_layers(folder, identity)
    return Workshop(folder, str(folder / "tool" / Path(bwrap).relative_to(tool_folder)), layers)


def _tool_folder(bwrap: str) -> str:
    """The folder that holds bubblewrap with its libraries: for PyPI's, site-packages."""
    path = Path(bwrap)
    return str(path.parents[2] if path.parent.name == "_bin" else path.parent)


def _host_layers(folder: Path, identity: Identity) -> list[Layer]:
    skeleton, local = folder / "skeleton", folder / "local"
    skeleton.mkdir()
    make_skeleton(skeleton, identity.base, identity.inside(_SHADOW))
    for name in ("", "bin", "etc", "games", "include", "lib", "sbin", "share", "src"):
        (local / name).mkdir()
        os.chown(local / name, identity.base, identity.base)
    source = Layer("/usr", str(folder / "source"))
    return [Layer("/", str(skeleton)), source, Layer("/usr/local", str(local))]


def _mapped(path: str, identity: Identity) -> int | None:
    """A mount of `path` whose owners are those of a sandbox; None where that is refused."""
    fd = syscalls.clone_mount(path)
    namespace = namespace_fd(identity)
    try:
        syscalls.map_owners(fd, namespace)
        return fd
    except OSError:  # not the machine's root, an old kernel, or a filesystem that cannot
        os.close(fd)
        return None
    finally:
        os.close(namespace)


def _shifted_copy(root: str, copies: str, identity: Identity) -> str:
    """A copy of `root` with every owner moved to the ids of a sandbox, made once."""
    found = Path(root).stat()
    name = f"{found.st_dev:x}-{found.st_ino:x}-{found.st_mtime_ns:x}-{identity.base}"
    target = Path(copies) / name
    if target.is_dir():
        return str(target)
    part = Path(copies) / f"{name}.{os.getpid()}.part"
    part.mkdir(parents=True)
    _copy_folder(Path(root), part, identity)
    with contextlib.suppress(OSError):  # another supervisor was faster
        part.rename(target)
    shutil.rmtree(part, ignore_errors=True)
    return str(target)


def _copy_folder(source: Path, target: Path, identity: Identity) -> None:
    for entry in os.scandir(source):
        status, place = entry.stat(follow_symlinks=False), target / entry.name
        if stat.S_ISLNK(status.st_mode):
            place.symlink_to(Path(entry.path).readlink())
        elif stat.S_ISDIR(status.st_mode):
            place.mkdir()
            _copy_folder(Path(entry.path), place, identity)
        elif stat.S_ISREG(status.st_mode):
            shutil.copyfile(entry.path, place)
        else:
            continue  # devices and sockets: a sandbox has its own
        _shift(place, status, identity)
    _shift(target, source.stat(), identity)


def _shift(place: Path, status: os.stat_result, identity: Identity) -> None:
    os.lchown(place, identity.inside(status.st_uid), identity.inside(status.st_gid))
    if not stat.S_ISLNK(status.st_mode):
        place.chmod(stat.S_IMODE(status.st_mode))
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
