"""Root filesystems: what a sandbox's machine is made from."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

from lifelong_gym.errors import UsageError

CACHE_VARIABLE = "LIFELONG_GYM_CACHE"
"""An environment variable that names the folder for root filesystems."""


def cache_folder() -> Path:
    """Where root filesystems are kept."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen) / "rootfs"
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "lifelong_gym" / "rootfs"


def locate_root(rootfs: str) -> str | None:
    """The folder that a root filesystem is in.

    Args:
        rootfs: `"host"` for one made from the machine's own `/usr`; a folder, such as
            debootstrap makes; or a tarball (`.tar`, `.tar.gz`, `.tar.xz`), which is
            unpacked once.

    Returns:
        An absolute path; None for the host's.

    Raises:
        UsageError: There is no such folder or tarball, or it holds no root filesystem.
    """
    if rootfs == "host":
        return None
    path = Path(rootfs).expanduser().absolute()
    if path.is_file():
        path = _unpacked(path)
    if not (path / "usr").is_dir() or not (path / "etc").is_dir():
        raise UsageError(
            f"rootfs must be 'host', a folder with /usr and /etc, or a tarball of one, "
            f"got {rootfs!r}"
        )
    return str(path)


def _unpacked(archive: Path) -> Path:
    found = archive.stat()
    told = f"{archive}:{found.st_size}:{found.st_mtime_ns}"
    target = cache_folder() / hashlib.sha256(told.encode()).hexdigest()[:16]
    if target.is_dir():
        return target
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(part, filter="tar")
    except tarfile.TarError as error:
        raise UsageError(f"{archive} cannot be read as a tarball: {error}") from error
    try:
        part.rename(target)
    except OSError:  # another process was faster
        if not target.is_dir():
            raise
    return target
