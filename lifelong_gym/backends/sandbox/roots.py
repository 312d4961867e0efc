"""Root filesystems: what a sandbox's machine is made from."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lifelong_gym.errors import BackendUnavailableError, UsageError

PACKAGES = (
    *("sudo", "git", "vim", "curl", "wget", "unzip", "zip", "tree", "file", "bc", "less"),
    *("net-tools", "acl", "cron", "lsof", "zsh", "adduser", "passwd", "procps", "gawk"),
)
"""What the paper's tasks need besides a minimal Debian."""

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
            `build_root` makes; a tarball (`.tar`, `.tar.gz`, `.tar.xz`), unpacked once; or
            `"docker:IMAGE"` or `"podman:IMAGE"`, exported once for each version of the image.

    Returns:
        An absolute path; None for the host's.

    Raises:
        UsageError: There is no such folder, tarball or image, or it holds no root filesystem.
    """
    if rootfs == "host":
        return None
    tool, colon, image = rootfs.partition(":")
    if colon and tool in ("docker", "podman"):
        return str(_exported(tool, image))
    path = Path(rootfs).expanduser().absolute()
    if path.is_file():
        found = path.stat()
        told = f"{path}:{found.st_size}:{found.st_mtime_ns}"
        path = _cached(told, lambda part: _unpack(path, part))
    if not (path / "usr").is_dir() or not (path / "etc").is_dir():
        raise UsageError(
            "rootfs must be 'host', a folder with /usr and /etc, a tarball of one, docker:IMAGE "
            f"or podman:IMAGE, got {rootfs!r}"
        )
    return str(path)


def build_root(folder: Path, suite: str = "bookworm", packages: Sequence[str] = PACKAGES) -> None:
    """Makes a Debian root filesystem with debootstrap, as root.

    Args:
        folder: Where; it must not exist yet, and does only once it is whole.
        suite: The release.
        packages: What to install besides a minimal system.

    Raises:
        UsageError: The folder exists.
        BackendUnavailableError: debootstrap is missing or failed.
    """
    if folder.exists():
        raise UsageError(f"{folder} exists already: remove it, or choose another folder")
    if not (program := shutil.which("debootstrap")):
        raise BackendUnavailableError("debootstrap is missing. Run: apt-get install debootstrap")
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    command = [program, "--variant=minbase", f"--include={','.join(packages)}", suite, str(part)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(part, ignore_errors=True)
        said = (done.stdout + done.stderr).strip()[-500:]
        raise BackendUnavailableError(f"debootstrap failed (it has to run as root): {said}")
    part.rename(folder)


def _exported(tool: str, image: str) -> Path:
    """The files of a container image, whose id tells one version from the next."""
    version = _output(tool, "image", "inspect", "--format", "{{.Id}}", image).decode().strip()

    def export(part: Path) -> None:
        container = _output(tool, "create", image, "/bin/true").decode().strip()
        archive = part.with_suffix(".tar")
        try:
            _output(tool, "export", "--output", str(archive), container)
            _unpack(archive, part)
        finally:
            archive.unlink(missing_ok=True)
            _output(tool, "rm", container)

    return _cached(f"{tool}:{version}", export)


def _output(*command: str) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except FileNotFoundError:
        raise UsageError(f"rootfs={command[0]}:... needs the program {command[0]}") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise UsageError(f"{' '.join(command[:3])} failed: {said}") from error
    return done.stdout


def _cached(key: str, make: Callable[[Path], None]) -> Path:
    """The folder of the cache that belongs to `key`, made by `make` if it is not there."""
    target = cache_folder() / hashlib.sha256(key.encode()).hexdigest()[:16]
    if target.is_dir():
        return target
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    part.mkdir(parents=True)
    try:
        make(part)
        part.rename(target)
    except OSError:  # another process may have been faster
        if not target.is_dir():
            raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def _unpack(archive: Path, folder: Path) -> None:
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter=_without_devices)
    except tarfile.TarError as error:
        raise UsageError(f"{archive} cannot be read as a tarball: {error}") from error


def _without_devices(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Keeps modes as they are, which Python's own filters do not: /tmp and su need them."""
    if Path(member.name).is_absolute() or ".." in Path(member.name).parts:
        raise tarfile.OutsideDestinationError(member, member.name)
    return None if member.isdev() else member
