"""Recorder: what `reset` and `step` return, made into a Trajectory."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from lifelong_gym.core import SCORED_STATUSES
from lifelong_gym.text import replace_surrogates
from lifelong_gym.trajectory import Trajectory, Turn

_SAID_BY_THE_TRAJECTORY = frozenset({"action", "turn", "status", "success", "grading"})


class Recorder:
    """Writes one episode down after the other, as it is played.

    Call `begin` before `reset`, then `opened` with what `reset` returned and `stepped` with
    every action and what `step` returned.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> env, recorder = ScriptedEnv(["Hello."]), Recorder()
        >>> recorder.begin()
        >>> recorder.opened(*env.reset())
        >>> trajectory = recorder.stepped("Hello.", env.step("Hello."))
        >>> trajectory.success, len(trajectory.turns)
        (True, 1)
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forgets the episode in progress and starts the clock."""
        self._started_s = self._turn_started_s = time.perf_counter()
        self._reset_info: dict[str, Any] = {}
        self._turns: list[Turn] = []
        self._reward = 0.0
        self._usage: Counter[str] = Counter()

    def opened(self, observation: str, info: Mapping[str, Any]) -> None:
        """Takes what `reset` returned."""
        messages = info.get("messages") or [{"role": "user", "content": observation}]
        self._reset_info = {**info, "messages": messages}
        self._turn_started_s = time.perf_counter()

    def stepped(
        self, action: str | None, result: tuple[str, Any, bool, bool, dict[str, Any]]
    ) -> Trajectory | None:
        """Takes what `step` returned for `action`.

        Args:
            action: What was passed to `step`; None where an agent decided.
            result: Gymnasium's five values.

        Returns:
            The trajectory if the episode is over, else None.
        """
        observation, reward, terminated, truncated, info = result
        # An agent that stopped made no action, and the environment counted no turn.
        if info.get("turn", len(self._turns) + 1) > len(self._turns):
            self._turns.append(self._turn(action, observation, float(reward), info))
        self._reward += float(reward)
        self._usage.update(info.get("usage", {}))
        self._turn_started_s = time.perf_counter()
        if not (terminated or truncated):
            return None
        status = info.get("status", "completed")
        is_scored = status in SCORED_STATUSES
        return self._trajectory(
            status=status,
            success=bool(info.get("success", False)) if is_scored else None,
            reward=self._reward,
            grading=plain(info.get("grading", {})),
            error=None if is_scored else replace_surrogates(observation),
        )

    def failed(self, error: Exception, **known: Any) -> Trajectory:
        """The trajectory of an episode that the system broke: unscored.

        Args:
            error: What was raised.
            **known: Fields that stand in where `reset` did not return: the task, its
                domain and skills, the position.
        """
        text = replace_surrogates(str(error) or type(error).__name__)
        return self._trajectory(status="environment_error", error=text, known=known)

    def _turn(
        self, action: str | None, observation: str, reward: float, info: Mapping[str, Any]
    ) -> Turn:
        kept = {key: info[key] for key in info if key not in _SAID_BY_THE_TRAJECTORY}
        return Turn(
            action=replace_surrogates(str(info.get("action", action))),
            observation=replace_surrogates(observation),
            reward=reward,
            info=plain(kept),
            duration_s=time.perf_counter() - self._turn_started_s,
        )

    def _trajectory(self, *, known: Mapping[str, Any] | None = None, **outcome: Any) -> Trajectory:
        names = ("task_id", "domain", "skills", "position", "attempt", "messages")
        told = {name: plain(self._reset_info[name]) for name in names if name in self._reset_info}
        return Trajectory(
            **{**(known or {}), **told, **outcome},
            turns=tuple(self._turns),
            usage=dict(self._usage),
            duration_s=time.perf_counter() - self._started_s,
            finished_at=time.time(),
        )


def plain(value: Any) -> Any:
    """`value` as JSON has it, so that what is written is what is read back.

    Arrays and tuples become lists, NumPy's numbers Python's, numbers that JSON lacks their
    names, lone surrogates replacement characters, and objects their text.

    Examples:
        >>> plain({"rows": (1, np.float64(0.5)), "score": float("nan")})
        {'rows': [1, 0.5], 'score': 'nan'}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {replace_surrogates(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return replace_surrogates(str(value))
