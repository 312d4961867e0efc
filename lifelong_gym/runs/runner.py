"""run_stream: plays a stream of tasks, records it, and goes on where it stopped."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from lifelong_gym.errors import (
    BackendError,
    BackendUnavailableError,
    LifelongGymError,
    UsageError,
)
from lifelong_gym.runs.changes import check_unchanged, settings_changed
from lifelong_gym.runs.connection import pausing_when_full
from lifelong_gym.runs.fingerprint import describe, harmless_settings
from lifelong_gym.runs.progress import Progress, progress_bar
from lifelong_gym.runs.recorder import Recorder
from lifelong_gym.runs.run import Run
from lifelong_gym.runs.stack import check_agent, find_stream, stateful_layers
from lifelong_gym.runs.states import LayerState, capture, restore
from lifelong_gym.runs.store import RunStore
from lifelong_gym.trajectory import Trajectory


def run_stream(
    agent: gymnasium.Env[Any, Any],
    output: Path | str | None = None,
    *,
    progress: Progress = False,
    retries: int = 2,
) -> Run:
    """Plays every task of a stream once and records it.

    Running the same again resumes: it plays what is left, then retries what stayed unscored,
    with what the wrappers remember by then. A task that the system broke is played again on
    a fresh backend and then recorded as unscored; it leaves every wrapper as it was before.

    Args:
        agent: A stack with a `TaskStream` and an agent in it. It is not closed.
        output: The folder of the run; None keeps it in memory.
        progress: Shows a bar on stderr if that is a terminal; `"force"` shows it anyway.
        retries: How often a task that the system broke is played again.

    Returns:
        The run.

    Raises:
        UsageError: The stack has no agent or no stream, or another process writes `output`.
        SettingsChangedError: `output` holds a run with other settings.
        BackendUnavailableError: The backend cannot start, so nothing can be played.
        RunPaused: Something stopped the run, a full disk for example; it can be resumed.

    Examples:
        >>> from lifelong_gym.baselines import OracleAgent
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> from lifelong_gym.wrappers import TaskStream
        >>> run = run_stream(OracleAgent(TaskStream(ScriptedEnv(["one", "two"]))))
        >>> run.metrics().success_rate
        1.0
    """
    check_agent(agent)
    if isinstance(retries, bool) or operator.index(retries) < 0:
        raise UsageError(f"retries must be at least 0, got {retries!r}")
    with RunStore(output) as store:
        runner = _Runner(agent, store, retries)
        try:
            with pausing_when_full(store.path):
                runner.resume()
                runner.play(progress)
        except LifelongGymError:
            runner.restore()
            raise
        return Run(store)


class _Runner:
    """One call of `run_stream`."""

    def __init__(self, agent: gymnasium.Env[Any, Any], store: RunStore, retries: int) -> None:
        self._agent, self._store, self._retries = agent, store, retries
        self._stream = find_stream(agent)
        self._layers = stateful_layers(agent)
        self._recorder = Recorder()
        self._folder = None if store.path is None else store.path.parent
        self._served: Mapping[str, Any] | None = None
        self._recorded: dict[str, str] = {}  # the states as of the last recorded task

    def resume(self) -> None:
        """Begins the run, or brings the stack to where it stopped."""
        settings = describe(self._agent)
        if self._store.settings is None:
            self._begin(settings, self._capture())
            return
        self._check(self._store.settings, settings)
        self._begin(settings, {})
        for name, layer in self._layers.items():
            restore(layer, *self._stored(name))

    def _begin(self, settings: Mapping[str, Any], states: Mapping[str, LayerState]) -> None:
        self._store.begin(settings, states)
        self._recorded = {name: self._stored(name)[0] for name in self._layers}

    def play(self, progress: Progress) -> None:
        """Plays what is left, then what was unscored before."""
        outcomes = self._store.outcomes
        left = [position for position in self._stream.positions if position not in outcomes]
        unscored = [position for position, success in outcomes.items() if success is None]
        done = [success for success in outcomes.values() if success is not None]
        with progress_bar(progress, done, len(left) + len(unscored)) as advance:
            for position in left + unscored:
                advance(self._play_task(position).success)

    def restore(self) -> None:
        """Brings every layer to what was last recorded, where it is not there already."""
        for name, text in self._recorded.items():
            if capture(self._layers[name], name).text != text:
                restore(self._layers[name], *self._stored(name))

    def _play_task(self, position: int) -> Trajectory:
        trajectory = self._played(position, self._retries)
        if trajectory.is_scored:
            states = self._capture()
            self._store.record(trajectory, states, self._served)
            self._recorded = {name: state.text for name, state in states.items()}
        else:
            self.restore()
            self._store.record(trajectory, {})
        return trajectory

    def _played(self, position: int, retries: int) -> Trajectory:
        try:
            return self._episode(position)
        except BackendUnavailableError:
            raise
        except BackendError as error:
            self._served = None  # the next reset may be served by another one
            if retries == 0:
                return self._recorder.failed(error, **self._known(position))
        self.restore()
        return self._played(position, retries - 1)

    def _episode(self, position: int) -> Trajectory:
        self._recorder.begin()
        observation, info = self._agent.reset(options={"position": position})
        self._check_opening(position, info)
        self._recorder.opened(observation, info)
        while True:
            trajectory = self._recorder.stepped(None, self._agent.step(None))
            if trajectory is not None:
                return trajectory

    def _known(self, position: int) -> dict[str, Any]:
        entry = self._stream.entry(position)
        return {
            "task_id": entry.task_id,
            "domain": str(self._agent.get_wrapper_attr("domain")),
            "skills": entry.skills,
            "position": position,
            "attempt": entry.attempt,
        }

    def _capture(self) -> dict[str, LayerState]:
        return {name: capture(layer, name) for name, layer in self._layers.items()}

    def _stored(self, name: str) -> tuple[str, Any]:
        stored = self._store.state(name)
        if stored is None:
            raise UsageError(
                f"{self._store.path} has no state of {name}, which this stack has: "
                "use another output folder"
            )
        return stored

    def _backend(self) -> Mapping[str, Any] | None:
        if not self._agent.has_wrapper_attr("backend"):
            return None
        backend = self._agent.get_wrapper_attr("backend")
        return backend if isinstance(backend, Mapping) else None

    def _check_opening(self, position: int, info: Mapping[str, Any]) -> None:
        if info.get("position") != position:
            raise UsageError(
                f"position {position} was to be played, but reset began {info.get('position')}: "
                "a wrapper around the TaskStream keeps reset's options to itself; pass them on"
            )
        if self._served is None:
            self._served = self._backend()
            self._check_backend(self._served, self._store.backend)

    def _check_backend(
        self, served: Mapping[str, Any] | None, recorded: Mapping[str, Any] | None
    ) -> None:
        if served and recorded and served["name"] != recorded["name"]:
            change = f"backend: recorded {recorded['name']!r}, now {served['name']!r}"
            raise settings_changed(self._folder, [change])

    def _check(self, recorded: Mapping[str, Any], current: Mapping[str, Any]) -> None:
        check_unchanged(recorded, current, harmless_settings(self._agent), self._folder)
        positions = self._stream.positions
        if lost := [position for position in self._store.outcomes if position not in positions]:
            limits = [
                f"{name}: recorded {recorded[name]!r}, now {value!r}"
                for name, value in current.items()
                if name.endswith(".limit") and name in recorded
            ]
            left_out = (
                f"{len(lost)} recorded episodes, the first at position {lost[0]}, are left out"
            )
            raise settings_changed(self._folder, [*limits, left_out])
