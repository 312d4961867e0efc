"""ResponseCache: replies on disk, and what they cost, shared by any number of processes."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.models.contract import Completion

_FORMAT = 1
_SCHEMA = f"""
BEGIN;
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    model TEXT PRIMARY KEY, tokens INTEGER NOT NULL, cost REAL NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
_BUSY_TIMEOUT_S = 60.0
_UNWRITABLE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})


class ResponseCache:
    """Replies by key, in one SQLite file; threads and processes may share it.

    Keys are digests (`keys.call_key`), so that neither prompts nor API keys are in the file;
    replies are there in full.

    Args:
        path: The file; it and its folder are made if they are not there.

    Raises:
        UsageError: The file is no response cache.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = ResponseCache(f"{folder}/replies.sqlite")
        ...     first = cache.put("k", Completion("Hello."))
        ...     second = cache.put("k", Completion("Bye."))
        ...     cache.close()
        >>> first.text, second.text
        ('Hello.', 'Hello.')
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        with self._connected():
            pass

    def get(self, key: str) -> Completion | None:
        """The reply under `key`, or None."""
        with self._connected() as connection:
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return None if row is None else _decode(row[0])

    def put(self, key: str, completion: Completion) -> Completion:
        """Keeps a reply; the first under a key stays.

        Returns:
            The reply that is under `key` now, another process's if that was faster: what
            two runs read is then the same.
        """
        with self._connected() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?)", [key, _encode(completion)]
            )
            row = connection.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return _decode(row[0])

    def spend(self, model: str, tokens: int, cost: float) -> None:
        """Adds to what was spent on a model, in tokens and money."""
        with self._connected() as connection:
            connection.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (model) DO UPDATE SET "
                "tokens = tokens + excluded.tokens, cost = cost + excluded.cost",
                [model, tokens, cost],
            )

    def spent(self) -> tuple[int, float]:
        """What every process has spent through this file: tokens, money."""
        with self._connected() as connection:
            row = connection.execute("SELECT SUM(tokens), SUM(cost) FROM spent").fetchone()
        return int(row[0] or 0), float(row[1] or 0.0)

    def __len__(self) -> int:
        """How many replies there are."""
        with self._connected() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Closes the file; it opens again on use."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translating():
            # A forked child must not use its parent's connection.
            if self._connection is None or self._owner != os.getpid():
                self._connection, self._owner = self._connect(), os.getpid()
            yield self._connection

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, isolation_level=None, timeout=_BUSY_TIMEOUT_S, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        found = int(connection.execute("PRAGMA user_version").fetchone()[0])
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        if found == 0 and not tables:
            # Two processes may begin it at once: one waits, and finds everything there.
            connection.executescript(_SCHEMA.replace("BEGIN", "BEGIN IMMEDIATE"))
        elif found != _FORMAT:
            raise UsageError(
                f"{self.path} is not a response cache of format {_FORMAT} (it says {found}): "
                "choose another file"
            )

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _UNWRITABLE:
                raise
            raise RunPaused(
                f"the response cache {self.path} cannot be written ({error}): make room and "
                "run the same again"
            ) from error
        except sqlite3.DatabaseError as error:
            raise UsageError(f"{self.path} is not a response cache: {error}") from error


def _encode(completion: Completion) -> str:
    # ASCII, since a reply may hold what UTF-8 has no form for.
    return json.dumps(asdict(completion), separators=(",", ":"))


def _decode(text: str) -> Completion:
    fields: dict[str, Any] = json.loads(text)
    for name in ("tool_calls", "prompt_ids", "completion_ids", "logprobs"):
        if fields[name] is not None:
            fields[name] = tuple(fields[name])
    return Completion(**fields)
