"""run_stream: plays a stream of tasks, records it, and goes on where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from lifelong_gym.errors import LifelongGymError, UsageError
from lifelong_gym.runs.connection import pausing_when_full
from lifelong_gym.runs.fingerprint import describe
from lifelong_gym.runs.player import Player
from lifelong_gym.runs.progress import Progress, progress_bar
from lifelong_gym.runs.resuming import check_backend, check_retries, check_settings, left_to_play
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
    check_retries(retries)
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
        self._agent, self._store = agent, store
        self._layers = stateful_layers(agent)
        self._recorded: dict[str, str] = {}  # the states as of the last recorded task
        self._player = Player(
            agent, retries, self.restore, lambda served: check_backend(store, served)
        )

    def resume(self) -> None:
        """Begins the run, or brings the stack to where it stopped."""
        settings = describe(self._agent)
        if self._store.settings is None:
            self._begin(settings, self._capture())
            return
        check_settings(self._store, self._agent, settings)
        self._begin(settings, {})
        for name, layer in self._layers.items():
            restore(layer, *self._stored(name))

    def _begin(self, settings: Mapping[str, Any], states: Mapping[str, LayerState]) -> None:
        self._store.begin(settings, states)
        self._recorded = {name: self._stored(name)[0] for name in self._layers}

    def play(self, progress: Progress) -> None:
        """Plays what is left, then what was unscored before."""
        positions = left_to_play(self._store, find_stream(self._agent).positions)
        done = [success for success in self._store.outcomes.values() if success is not None]
        with progress_bar(progress, done, len(positions)) as advance:
            for position in positions:
                advance(self._play_task(position).success)

    def restore(self) -> None:
        """Brings every layer to what was last recorded, where it is not there already."""
        for name, text in self._recorded.items():
            if capture(self._layers[name], name).text != text:
                restore(self._layers[name], *self._stored(name))

    def _play_task(self, position: int) -> Trajectory:
        trajectory = self._player.play(position)
        if trajectory.is_scored:
            states = self._capture()
            self._store.record(trajectory, states, self._player.served)
            self._recorded = {name: state.text for name, state in states.items()}
        else:
            self.restore()
            self._store.record(trajectory, {})
        return trajectory

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
