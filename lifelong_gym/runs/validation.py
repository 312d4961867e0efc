"""validate_tasks: whether every task can be solved, and not by doing nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium

from lifelong_gym.core import LanguageEnv, Task
from lifelong_gym.errors import BackendError, BackendUnavailableError, UsageError
from lifelong_gym.runs.recorder import Recorder
from lifelong_gym.trajectory import Trajectory, Turn

_Actions = Generator[str, str, None]


@dataclass(frozen=True, slots=True)
class Finding:
    """What playing one task showed.

    Attributes:
        task_id: The task.
        problems: What is wrong with it, one sentence each; empty for a sound task.
    """

    task_id: str
    problems: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the task is sound."""
        return not self.problems


def validate_tasks(env: gymnasium.Env[str, Any]) -> Iterator[Finding]:
    """Plays every task of an environment: twice by its reference and once by doing nothing.

    The reference must succeed, doing nothing must not, and both plays of the reference must
    show the same observations and come to the same verdict.

    Args:
        env: An environment, with no `TaskStream` and no agent around it.

    Yields:
        One finding for each task, as soon as it was played.

    Raises:
        UsageError: `env` is not a `LanguageEnv`, or something around it decides for itself.
        BackendUnavailableError: The backend cannot start, so nothing can be played.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> list(validate_tasks(ScriptedEnv(["Hello."])))
        [Finding(task_id='task-0', problems=())]
    """
    base = env.unwrapped
    if not isinstance(base, LanguageEnv):
        raise UsageError(f"validate_tasks plays a LanguageEnv, got {base}")
    for task in base.task_set:
        yield Finding(task.id, tuple(_problems(env, base, task)))


def _problems(env: gymnasium.Env[str, Any], base: LanguageEnv[Any], task: Task) -> Iterator[str]:
    idle = str(getattr(base, "idle_action", ""))

    def reference() -> _Actions:
        return base.reference_actions(base.task)

    def nothing() -> _Actions:
        while True:
            yield idle

    try:
        first, second = (_play(env, task.id, reference, idle) for _ in range(2))
        yield from _reference_problems(first, second)
        if _play(env, task.id, nothing, idle).success:
            yield "doing nothing succeeds"
    except BackendUnavailableError:
        raise
    except BackendError as error:
        yield f"the backend failed: {error}"


def _play(
    env: gymnasium.Env[str, Any], task_id: str, begin: Callable[[], _Actions], idle: str
) -> Trajectory:
    recorder = Recorder()
    recorder.opened(*env.reset(seed=0, options={"task_id": task_id}))
    actions = begin()
    action = next(actions, idle)
    while True:
        result = env.step(action)
        trajectory = recorder.stepped(action, result)
        if trajectory is not None:
            actions.close()
            return trajectory
        action = _next_action(actions, result[0], idle)


def _next_action(actions: _Actions, observation: str, idle: str) -> str:
    try:
        return actions.send(observation)
    except StopIteration:
        return idle


def _reference_problems(first: Trajectory, second: Trajectory) -> Iterator[str]:
    if not first.success:
        reason = first.error or first.grading.get("reason") or "no reason was given"
        yield f"the reference does not succeed ({first.status}): {reason}"
    if first.messages != second.messages:
        yield "the reference was shown two different openings"
    pairs = zip(first.turns, second.turns, strict=False)
    different = [(n, *pair) for n, pair in enumerate(pairs, 1) if _said(pair[0]) != _said(pair[1])]
    if different:
        number, once, again = different[0]
        yield (
            f"the reference saw two different things in turn {number}: "
            f"{_said(once)} and then {_said(again)}"
        )
    verdicts = [(one.status, one.success, one.grading, len(one.turns)) for one in (first, second)]
    if verdicts[0] != verdicts[1]:
        yield f"the reference came to two verdicts: {verdicts[0]} and then {verdicts[1]}"


def _said(turn: Turn) -> tuple[str, str, dict[str, Any]]:
    return turn.action, turn.observation, turn.info
