"""The order in which a stream plays its tasks, and the checks of its arguments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

from lifelong_gym.core import Task
from lifelong_gym.errors import UsageError

Order = Literal["sequential", "shuffle"]


def ordered(
    tasks: Sequence[Task], order: Order, task_ids: Sequence[str] | None, seed: int
) -> list[Task]:
    """The tasks that a stream may play, in the order in which it plays them.

    Args:
        tasks: The environment's.
        order: `"sequential"` or `"shuffle"`.
        task_ids: Keeps these only, in this order; None keeps all.
        seed: Decides the shuffled order.

    Raises:
        UsageError: `task_ids` is not a list of different ids of `tasks`.
    """
    chosen = _choose(tasks, task_ids)
    if order == "shuffle":
        chosen.sort(key=lambda task: _shuffle_key(seed, task.id))
    return chosen


def _choose(tasks: Sequence[Task], task_ids: Sequence[str] | None) -> list[Task]:
    if task_ids is None:
        return list(tasks)
    if isinstance(task_ids, str) or not isinstance(task_ids, Iterable):
        raise UsageError(f"task_ids is a list of ids, got {task_ids!r}: write [{task_ids!r}]")
    task_ids = list(task_ids)
    if not task_ids:
        raise UsageError("task_ids names no task: leave it out to play all")
    by_id = {task.id: task for task in tasks}
    if unknown := [task_id for task_id in task_ids if task_id not in by_id]:
        raise UsageError(
            f"task_ids names {unknown[0]!r}, which the task set does not have; "
            f"its {len(by_id)} ids begin with {', '.join(list(by_id)[:3])}"
        )
    if len(set(task_ids)) < len(task_ids):
        raise UsageError("task_ids names a task twice: use attempts to play tasks again")
    return [by_id[task_id] for task_id in task_ids]


def _shuffle_key(seed: int, task_id: str) -> bytes:
    # A hash rather than a generator: the order of two tasks then depends on nothing else,
    # neither on a limit nor on NumPy's version.
    return hashlib.sha256(f"{seed}:{task_id}".encode()).digest()


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuses a `value` that is not among `allowed`, naming both."""
    if value not in allowed:
        raise UsageError(f"{name} must be one of {allowed}, got {value!r}")


def check_at_least(name: str, value: object, least: int) -> None:
    """Refuses a `value` that is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, got {value!r}")
