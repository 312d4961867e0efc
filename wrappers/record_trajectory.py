"""RecordTrajectory: episodes as frozen records, in any loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.runs.recorder import Recorder
from lifelong_gym.trajectory import Trajectory


class RecordTrajectory(
    gymnasium.Wrapper[str, "str | None", str, "str | None"],
    RecordConstructorArgs,
):
    """Records each episode as a `Trajectory`, as `run_stream` does, in a loop of one's own.

    It stands above the agent, if there is one, so that it sees what the agent did. An
    episode that is reset before its end leaves no record; one that the system broke is
    recorded as unscored.

    Args:
        env: What to record.
        path: Appends each trajectory to this file, one JSON line each.
        keep: How many trajectories `trajectories` holds, the latest; None for all.

    Attributes:
        trajectories: The recorded episodes, in the order in which they were played.

    Raises:
        UsageError: `keep` is below 0.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> env = RecordTrajectory(ScriptedEnv([("Say please.", "please")]))
        >>> observation, info = env.reset()
        >>> _ = env.step("please")
        >>> env.trajectories[0].turns[0].action, env.trajectories[0].success
        ('please', True)
    """

    changes_results: ClassVar[bool] = False

    def __init__(
        self,
        env: gymnasium.Env[str, Any],
        path: Path | str | None = None,
        keep: int | None = None,
    ) -> None:
        recorded_path = None if path is None else str(path)
        RecordConstructorArgs.__init__(self, path=recorded_path, keep=keep)
        gymnasium.Wrapper.__init__(self, env)
        if keep is not None and keep < 0:
            raise UsageError(f"keep must be at least 0, got {keep}")
        self.trajectories: list[Trajectory] = []
        self._path = None if path is None else Path(path)
        self._keep = keep
        self._recorder = Recorder()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begins a new record."""
        self._recorder.begin()
        observation, info = self.env.reset(seed=seed, options=options)
        self._recorder.opened(observation, info)
        return observation, info

    def step(self, action: str | None) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Records the turn and, at the end, the episode."""
        try:
            result = self.env.step(action)
        except BackendError as error:
            self._keep_record(self._recorder.failed(error))
            raise
        trajectory = self._recorder.stepped(action, result)
        if trajectory is not None:
            self._keep_record(trajectory)
        return result

    def _keep_record(self, trajectory: Trajectory) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(trajectory.model_dump_json() + "\n")
        self.trajectories.append(trajectory)
        if self._keep is not None:
            del self.trajectories[: len(self.trajectories) - self._keep]
