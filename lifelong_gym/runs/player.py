"""Player: plays one position of a stream, again where the system failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from lifelong_gym.errors import BackendError, BackendUnavailableError, RunPaused, UsageError
from lifelong_gym.runs.recorder import Recorder
from lifelong_gym.runs.stack import find_stream
from lifelong_gym.trajectory import Trajectory


class Player:
    """Plays positions with one stack; what it makes of them is the caller's business.

    Args:
        agent: A stack with a stream and an agent in it.
        retries: How often a position that the system broke is played again.
        restore: Brings every layer back to where it was before the position.
        check_served: Is told which backend serves as soon as one does; may refuse it.

    Attributes:
        served: The name and version of the backend that serves; None where that is unknown.
    """

    def __init__(
        self,
        agent: gymnasium.Env[Any, Any],
        retries: int,
        restore: Callable[[], None],
        check_served: Callable[[Mapping[str, Any] | None], None],
    ) -> None:
        self._agent, self._retries = agent, retries
        self._restore, self._check_served = restore, check_served
        self._stream = find_stream(agent)
        self._recorder = Recorder()
        self.served: Mapping[str, Any] | None = None
        self._has_served = False

    def play(self, position: int) -> Trajectory:
        """The episode at `position`; unscored if the system broke it every time.

        Raises:
            BackendUnavailableError: The backend cannot start, so nothing can be played.
            RunPaused: It went away after it had served.
        """
        try:
            return self._played(position)
        except BackendUnavailableError as error:
            if not self._has_served:
                raise
            raise RunPaused(f"the backend went away: {error}") from error

    def _played(self, position: int) -> Trajectory:
        for _ in range(self._retries):
            try:
                return self._episode(position)
            except BackendUnavailableError:
                raise
            except BackendError:
                self.served = None  # the next reset may be served by another one
            self._restore()
        return self._last_episode(position)

    def _last_episode(self, position: int) -> Trajectory:
        try:
            return self._episode(position)
        except BackendUnavailableError:
            raise
        except BackendError as error:
            self.served = None
            return self._recorder.failed(error, **self._known(position))

    def _episode(self, position: int) -> Trajectory:
        self._recorder.begin()
        observation, info = self._agent.reset(options={"position": position})
        self._check_opening(position, info)
        self._has_served = True
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

    def _check_opening(self, position: int, info: Mapping[str, Any]) -> None:
        if info.get("position") != position:
            raise UsageError(
                f"position {position} was to be played, but reset began {info.get('position')}: "
                "a wrapper around the TaskStream keeps reset's options to itself; pass them on"
            )
        if self.served is None:
            self.served = self._backend()
            self._check_served(self.served)

    def _backend(self) -> Mapping[str, Any] | None:
        if not self._agent.has_wrapper_attr("backend"):
            return None
        backend = self._agent.get_wrapper_attr("backend")
        return backend if isinstance(backend, Mapping) else None
