"""FolderLock: one process at a time writes a run."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from lifelong_gym.errors import UsageError

_held: set[Path] = set()


class FolderLock:
    """A lock on a folder that vanishes with the process that holds it, `kill -9` included.

    It is a record lock: a child that the process forked does not inherit it, as it would a
    lock of `flock`, so an orphan cannot keep a dead run locked. Record locks do not see each
    other within one process, hence the set beside it.

    Args:
        folder: What to lock; `run.lock` is written in it.

    Raises:
        UsageError: Another run writes the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = (folder / "run.lock").resolve()
        if self._path in _held:
            raise _refusal(folder, str(os.getpid()))
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            owner = os.read(self._descriptor, 20).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise _refusal(folder, owner) from None
        _held.add(self._path)
        with contextlib.suppress(OSError):  # the number is a courtesy; a full disk may refuse it
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Lets others write; doing it twice is fine."""
        if self._path in _held:
            _held.discard(self._path)
            os.close(self._descriptor)


def _refusal(folder: Path, owner: str) -> UsageError:
    return UsageError(
        f"the run in {folder} is being written by process {owner or 'unknown'}: "
        "wait for it, stop it, or choose another output folder"
    )
