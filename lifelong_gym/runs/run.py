"""Run: what a stream's episodes came to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lifelong_gym.runs.metrics import Metrics, measure
from lifelong_gym.runs.store import RunStore
from lifelong_gym.trajectory import Trajectory


class Run:
    """The record of a run, as `run_stream` returns it.

    Args:
        store: The store to read; it may be closed afterwards.

    Attributes:
        path: The output folder; None if the run was kept in memory.
        settings: What was run, as `fingerprint.describe` has it.
        backend: The name and version of the backend that served, where there is one.
    """

    def __init__(self, store: RunStore) -> None:
        self.path: Path | None = None if store.path is None else store.path.parent
        self.settings: Mapping[str, Any] = store.settings or {}
        self.backend: Mapping[str, Any] | None = store.backend
        if self.path is None:
            self.__dict__["trajectories"] = tuple(store.trajectories())

    @classmethod
    def load(cls, folder: Path | str) -> Run:
        """Opens the run in `folder`, also while it is being played.

        Raises:
            UsageError: There is no run in it.
        """
        with RunStore(folder, read_only=True) as store:
            return cls(store)

    @cached_property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """Every episode, in the order of the stream; read when first asked for."""
        if self.path is None:
            return ()
        with RunStore(self.path, read_only=True) as store:
            return tuple(store.trajectories())

    def metrics(self, window: int | None = None) -> Metrics:
        """What the episodes came to.

        Args:
            window: How many positions make one point of the curve over time; by default a
                tenth of the run.
        """
        return measure(self.trajectories, window=window)

    def __repr__(self) -> str:
        return f"Run(path={str(self.path) if self.path else None!r})"
