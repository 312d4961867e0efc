"""RunStore: one SQLite file that holds everything a run has done.

A finished task is one transaction: its trajectory, what the wrappers remember after it, and
thereby the position. What interrupts a run, `kill -9` or a full disk, costs the task in
flight and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lifelong_gym.core import AppendOnly
from lifelong_gym.errors import UsageError
from lifelong_gym.runs.connection import (
    connect,
    connect_to_read,
    disconnect,
    pausing_when_full,
    refusing_other_files,
)
from lifelong_gym.runs.lock import FolderLock
from lifelong_gym.runs.states import LayerState, added
from lifelong_gym.trajectory import Trajectory

FILE_NAME = "run.sqlite"


class RunStore:
    """What a run has done, on disk or in memory.

    A store that writes locks its folder against other processes; reading needs no lock and
    works while another process writes.

    Args:
        folder: Where `run.sqlite` is, or will be; None keeps everything in memory.
        read_only: Opens what is there without locking or creating anything.

    Raises:
        UsageError: Another run writes the folder, or there is nothing to read.
        RunPaused: The disk is full.

    Examples:
        >>> with RunStore(None) as store:
        ...     store.begin({"seed": 0}, {})
        ...     store.settings
        {'seed': 0}
    """

    def __init__(self, folder: Path | str | None, *, read_only: bool = False) -> None:
        self.path = None if folder is None else Path(folder) / FILE_NAME
        self._is_read_only = read_only
        self._lock: FolderLock | None = None
        self._stored: dict[str, dict[str, int]] = {}
        with pausing_when_full(self.path):
            self._connection = self._open()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def settings(self) -> dict[str, Any] | None:
        """The settings of the run; None if it has not begun."""
        return self._fact("settings")

    @property
    def backend(self) -> dict[str, Any] | None:
        """The name and version of the backend that served, where the environment has one."""
        return self._fact("backend")

    @property
    def outcomes(self) -> dict[int, bool | None]:
        """Every recorded position and its episode's verdict, None where it is unscored."""
        rows = self._connection.execute(
            "SELECT position, success FROM trajectories ORDER BY position"
        )
        return {position: None if success is None else bool(success) for position, success in rows}

    def trajectories(self) -> Iterator[Trajectory]:
        """Every recorded episode, in the order of the stream."""
        with refusing_other_files(self.path):
            rows = self._connection.execute("SELECT trajectory FROM trajectories ORDER BY position")
            for (text,) in rows:
                yield Trajectory.model_validate_json(text)

    def state(self, layer: str) -> tuple[str, dict[str, AppendOnly]] | None:
        """What a layer remembers, for `states.restore`: its JSON and its lists.

        Args:
            layer: Its name, as `stack.stateful_layers` has it.
        """
        row = self._connection.execute(
            "SELECT state FROM states WHERE layer = ?", (layer,)
        ).fetchone()
        if row is None:
            return None
        lists: dict[str, AppendOnly] = {}
        for path, item in self._connection.execute(
            "SELECT path, item FROM state_items WHERE layer = ? ORDER BY path, number", (layer,)
        ):
            lists.setdefault(path, AppendOnly()).append(json.loads(item))
        return row[0], lists

    def begin(self, settings: Mapping[str, Any], states: Mapping[str, LayerState]) -> None:
        """Records what the run starts from, or goes on with."""
        with self._transaction():
            self._set_fact("settings", settings)
            lengths = self._write_states(states)
        self._stored.update(lengths)

    def record(
        self,
        trajectory: Trajectory,
        states: Mapping[str, LayerState],
        backend: Mapping[str, Any] | None = None,
    ) -> None:
        """Records a finished task, all of it or nothing.

        Args:
            trajectory: The episode; it takes the place of an earlier one at its position.
            states: What each layer remembers now; empty for an unscored episode, which
                leaves them as they were.
            backend: The name and version of the backend that served, once that is known.

        Raises:
            RunPaused: The disk is full; the store is as it was before.
        """
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO trajectories (position, task_id, success, trajectory)"
                " VALUES (?, ?, ?, ?)",
                (
                    trajectory.position,
                    trajectory.task_id,
                    trajectory.success,
                    trajectory.model_dump_json(),
                ),
            )
            lengths = self._write_states(states)
            if backend is not None and backend != self.backend:
                self._set_fact("backend", backend)
        self._stored.update(lengths)

    def close(self) -> None:
        """Closes the file and lets others write; doing it twice is fine."""
        if self._is_read_only:
            self._connection.close()
        else:
            disconnect(self._connection)
        self._unlock()

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return connect(None)
        if self._is_read_only:
            return connect_to_read(self.path)
        self._lock = _locked(self.path.parent)
        try:
            return connect(self.path)
        except BaseException:
            self._unlock()
            raise

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _write_states(self, states: Mapping[str, LayerState]) -> dict[str, dict[str, int]]:
        for layer, state in states.items():
            self._connection.execute(
                "INSERT OR REPLACE INTO states VALUES (?, ?)", (layer, state.text)
            )
            items = added(layer, state, self._stored_lengths(layer))
            self._connection.executemany(
                "INSERT INTO state_items VALUES (?, ?, ?, ?)",
                ((layer, path, number, item) for path, number, item in items),
            )
        return {layer: state.lengths() for layer, state in states.items()}

    def _stored_lengths(self, layer: str) -> dict[str, int]:
        if layer not in self._stored:
            rows = self._connection.execute(
                "SELECT path, max(number) + 1 FROM state_items WHERE layer = ? GROUP BY path",
                (layer,),
            )
            self._stored[layer] = dict(rows.fetchall())
        return self._stored[layer]

    def _fact(self, name: str) -> dict[str, Any] | None:
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def _set_fact(self, name: str, value: Mapping[str, Any]) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value))
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with pausing_when_full(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself has rolled back already where the disk is full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _locked(folder: Path) -> FolderLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FolderLock(folder)
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        reason = error.strerror or error
        raise UsageError(f"the output folder {folder} cannot be written: {reason}") from error
