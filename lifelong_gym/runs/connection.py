"""The SQLite file beneath a run: its tables, how it is opened, what a full disk becomes."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pydantic

from lifelong_gym.errors import RunPaused, UsageError

_FORMAT = 1

_SCHEMA = f"""
BEGIN;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trajectories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- in the order in which they were played
    position INTEGER NOT NULL UNIQUE,
    task_id TEXT NOT NULL,
    success INTEGER,                            -- NULL where the episode is unscored
    trajectory TEXT NOT NULL                    -- JSON, as `Trajectory` has it
);
CREATE TABLE states (layer TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state_items (
    layer TEXT, path TEXT, number INTEGER, item TEXT NOT NULL,
    PRIMARY KEY (layer, path, number)
) WITHOUT ROWID;
PRAGMA user_version = {_FORMAT};
COMMIT;
"""

_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_UNWRITABLE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY_TIMEOUT_S = 60.0  # a reader on a filesystem without write-ahead logging blocks us briefly


def connect(path: Path | None) -> sqlite3.Connection:
    """Opens the file of a run to write it, made if it is not there.

    Args:
        path: The file; None keeps everything in memory.

    Raises:
        UsageError: The file is no run, or a later version of this package wrote it.
    """
    connection = sqlite3.connect(
        ":memory:" if path is None else path, isolation_level=None, timeout=_BUSY_TIMEOUT_S
    )
    try:
        with refusing_other_files(path):
            # One flush a transaction, and readers never wait for the writer.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            if _format(connection) == 0:
                _check_empty(connection, path)
                connection.executescript(_SCHEMA)
            _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Opens the file of a run to read it, also while another process writes it.

    Raises:
        UsageError: There is no run, or a later version of this package wrote it.
    """
    if not path.is_file():
        raise UsageError(f"{path.parent} holds no run: there is no {path.name} in it")
    uri = f"{path.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_BUSY_TIMEOUT_S)
    try:
        with refusing_other_files(path):
            _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def disconnect(connection: sqlite3.Connection) -> None:
    """Closes a file that was written, as one file that can be copied and read anywhere."""
    with contextlib.suppress(sqlite3.Error):  # a reader or a full disk: the log stays, unharmed
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


@contextlib.contextmanager
def pausing_when_full(path: Path | None) -> Iterator[None]:
    """Turns "the disk is full", whoever says it, into `RunPaused`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _UNWRITABLE:
            raise
        raise _paused(path, error) from error
    except OSError as error:
        if error.errno not in _FULL_DISK:
            raise
        raise _paused(path, error) from error


def _paused(path: Path | None, error: Exception) -> RunPaused:
    return RunPaused(
        f"the disk is full or cannot be written ({path or 'in memory'}: {error}): make room and "
        "run the same again; nothing but the task in flight is lost"
    )


@contextlib.contextmanager
def refusing_other_files(path: Path | None) -> Iterator[None]:
    """Turns what SQLite says of a damaged or foreign file into a `UsageError`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        is_damaged = error.sqlite_errorcode & 0xFF in _DAMAGED
        if not is_damaged and isinstance(error, sqlite3.OperationalError):
            raise
        raise UsageError(f"{path} is not the file of a run, or is damaged: {error}") from error
    except pydantic.ValidationError as error:
        raise UsageError(f"{path} is damaged: an episode in it cannot be read: {error}") from error


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_empty(connection: sqlite3.Connection, path: Path | None) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise UsageError(f"{path} is a database of something else: use another folder")


def _check_format(connection: sqlite3.Connection, path: Path | None) -> None:
    found = _format(connection)
    if found != _FORMAT:
        raise UsageError(
            f"{path} has format {found}, this version of lifelong_gym reads {_FORMAT}: "
            "update lifelong_gym, or use another folder"
        )
