"""What the machine itself has: Python, optional packages, a package manager."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Callable, Iterator

from lifelong_gym.diagnosis import Check
from lifelong_gym.errors import MissingExtraError

_MANAGERS = ("apt-get", "dnf", "apk", "pacman", "zypper", "brew")
_PACKAGES = {
    "mariadb": {
        "apt-get": "apt-get install -y mariadb-server-core",
        "dnf": "dnf install -y mariadb-server",
        "apk": "apk add mariadb mariadb-server-utils",
        "pacman": "pacman -S --noconfirm mariadb",
        "zypper": "zypper install -y mariadb",
        "brew": "brew install mariadb",
    },
    "docker": {
        "apt-get": "apt-get install -y docker.io",
        "dnf": "dnf install -y podman-docker",
        "apk": "apk add docker",
        "pacman": "pacman -S --noconfirm docker",
        "zypper": "zypper install -y docker",
        "brew": "brew install --cask docker",
    },
}


def checks() -> Iterator[Check]:
    """Python, and the optional packages that no driver asks for."""
    yield Check("python", platform.python_implementation(), platform.python_version)
    yield package_check("export", "parquet", "pyarrow", "parquet", "A Parquet file")


def package_check(group: str, name: str, package: str, extra: str, purpose: str) -> Check:
    """The check of a package from an extra.

    Args:
        group: As `Check` has it.
        name: As `Check` has it.
        package: The distribution.
        extra: The extra of this package that installs it.
        purpose: What needs it, as the start of a sentence.
    """
    return Check(group, name, _version_of(package, extra, purpose))


def install(what: str) -> str:
    """The command that installs something here; empty where no package manager is known.

    Args:
        what: `"mariadb"` or `"docker"`.
    """
    for manager in _MANAGERS:
        if shutil.which(manager):
            needs_root = manager != "brew" and os.geteuid() != 0
            return ("sudo " if needs_root else "") + _PACKAGES[what][manager]
    return ""


def _version_of(package: str, extra: str, purpose: str) -> Callable[[], str]:
    def version() -> str:
        try:
            return f"{package} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            raise MissingExtraError(package, extra, purpose) from None

    return version
