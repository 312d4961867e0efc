"""TaskStream: which task comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast, get_args

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from lifelong_gym.core import Task
from lifelong_gym.errors import StreamExhausted, UsageError
from lifelong_gym.runs.stream import StreamEntry
from lifelong_gym.wrappers.order import Order, check_at_least, check_choice, ordered

OnEnd = Literal["raise", "repeat"]


class TaskStream(
    gymnasium.Wrapper[str, "str | None", str, "str | None"],
    RecordConstructorArgs,
):
    """Plays the tasks of an environment one after the other, each `reset` the next one.

    A position of the stream is one attempt at one task. `reset` moves on only if a step was
    made since the last `reset`: resets that nobody acted on skip nothing. Each episode is
    seeded from the stream's seed and its position, whatever was played before it; a seed
    given to `reset` seeds that episode instead and changes nothing in the order. `info`
    after `reset` also has `position` and `attempt`.

    `reset` takes two options. `{"repeat": True}` plays the same position again with the same
    seed. `{"position": p}` plays position `p`, and the stream goes on from there.

    Args:
        env: An environment with a `task_set`, or wrappers around one.
        order: `"sequential"` for the order of the task set or of `task_ids`, `"shuffle"`
            for one that depends on the seed. A longer `limit` only adds to either.
        limit: How many tasks are played at most; None for all.
        task_ids: Plays these tasks only, in this order.
        attempts: How many times in a row each task is played.
        seed: Decides the shuffled order and seeds every episode.
        shard: `(i, n)` plays every n-th position from the i-th, with the positions and
            seeds of the whole stream: n workers together play it once.
        on_end: `"raise"` ends the stream with `StreamExhausted`; `"repeat"` starts it over.

    Raises:
        UsageError: An argument is out of its range, or names a task that is not there.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> env = TaskStream(ScriptedEnv(["one", "two"]), attempts=2)
        >>> for _ in range(len(env)):
        ...     observation, info = env.reset()
        ...     print(info["position"], info["task_id"], info["attempt"])
        ...     _ = env.step("one")
        0 task-0 0
        1 task-0 1
        2 task-1 0
        3 task-1 1
    """

    # A longer limit adds episodes and changes none; a run refuses one that leaves some out.
    harmless_settings: ClassVar[frozenset[str]] = frozenset({"limit", "on_end"})

    def __init__(
        self,
        env: gymnasium.Env[str, Any],
        order: Order = "sequential",
        limit: int | None = None,
        task_ids: Sequence[str] | None = None,
        attempts: int = 1,
        seed: int = 0,
        shard: tuple[int, int] | None = None,
        on_end: OnEnd = "raise",
    ) -> None:
        check_choice("order", order, get_args(Order))
        check_choice("on_end", on_end, get_args(OnEnd))
        check_at_least("attempts", attempts, 1)
        check_at_least("seed", seed, 0)
        if limit is not None:
            check_at_least("limit", limit, 1)
        tasks = ordered(_task_set(env), order, task_ids, seed)
        self._tasks = [(task.id, task.skills) for task in tasks[:limit]]
        self._attempts, self._seed, self._on_end = attempts, seed, on_end
        self._positions = _positions(shard, len(self._tasks) * attempts)
        self._position: int | None = None
        self._has_stepped = False
        RecordConstructorArgs.__init__(
            self,
            order=order,
            limit=limit,
            task_ids=None if task_ids is None else list(task_ids),
            attempts=attempts,
            seed=seed,
            shard=None if shard is None else list(shard),
            on_end=on_end,
        )
        gymnasium.Wrapper.__init__(self, env)

    def __len__(self) -> int:
        """How many positions this stream plays."""
        return len(self._positions)

    @property
    def positions(self) -> range:
        """Every position that this stream plays, in order; with a shard, every n-th."""
        return self._positions

    @property
    def position(self) -> int | None:
        """The position being played, or None before the first `reset`."""
        return self._position

    def entry(self, position: int) -> StreamEntry:
        """What is played at `position`.

        Raises:
            UsageError: This stream has no such position.
        """
        if position not in self._positions:
            raise UsageError(f"position must be in {self._positions}, got {position!r}")
        task_id, skills = self._tasks[position // self._attempts]
        sequence = np.random.SeedSequence([self._seed, position])
        return StreamEntry(
            position=position,
            attempt=position % self._attempts,
            task_id=task_id,
            skills=skills,
            seed=int(sequence.generate_state(1)[0]),
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts the next task, or the same one again if no step was made.

        Args:
            seed: Seeds this episode instead of the stream.
            options: `{"repeat": True}` or `{"position": p}`, see the class; what else is in
                it goes to the environment.

        Raises:
            StreamExhausted: Every task was played.
            UsageError: `options` chooses a task, which only the stream may do.
        """
        passed_on = dict(options or {})
        entry = self.entry(self._take_position(passed_on))
        self._position, self._has_stepped = entry.position, False
        observation, info = self.env.reset(
            seed=entry.seed if seed is None else seed,
            options={**passed_on, "task_id": entry.task_id},
        )
        return observation, {**info, "position": entry.position, "attempt": entry.attempt}

    def step(self, action: str | None) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Passes the action on and remembers that the task was acted on."""
        self._has_stepped = True
        return self.env.step(action)

    def state_dict(self) -> dict[str, Any]:
        """Where the stream stands."""
        return {"position": self._position, "has_stepped": self._has_stepped}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes back to where `state_dict` stood; the next `reset` goes on from there."""
        if state["position"] is not None:
            self.entry(state["position"])
        self._position, self._has_stepped = state["position"], state["has_stepped"]

    def _take_position(self, options: dict[str, Any]) -> int:
        for refused in ("task_id", "task_index"):
            if refused in options:
                raise UsageError(
                    f"a TaskStream decides which task is played, got the option {refused}: "
                    "choose tasks with TaskStream(env, task_ids=[...])"
                )
        repeat, position = options.pop("repeat", False), options.pop("position", None)
        if repeat and position is not None:
            raise UsageError("reset takes the option repeat or position, got both")
        if position is not None:
            return cast("int", position)
        return self._next(repeat=bool(repeat))

    def _next(self, *, repeat: bool) -> int:
        if self._position is None:
            following = self._positions.start
        elif repeat or not self._has_stepped:
            following = self._position
        else:
            following = self._position + self._positions.step
        if following in self._positions:
            return following
        if self._on_end == "repeat" and self._positions:
            return self._positions.start
        raise StreamExhausted(
            f'all {len(self)} positions of the stream were played; on_end="repeat" starts over'
        )


def _task_set(env: gymnasium.Env[str, Any]) -> Sequence[Task]:
    if not env.has_wrapper_attr("task_set"):
        raise UsageError(
            f"TaskStream needs an environment with a task_set, got {env.unwrapped}: "
            'one that gymnasium.make("lifelong_gym/...") returns has it'
        )
    tasks: Sequence[Task] = env.get_wrapper_attr("task_set")
    return tasks


def _positions(shard: tuple[int, int] | None, total: int) -> range:
    if shard is None:
        return range(total)
    try:
        first, count = shard
    except (TypeError, ValueError):
        raise UsageError(f"shard is a pair (i, n), got {shard!r}") from None
    check_at_least("n in shard=(i, n)", count, 1)
    check_at_least("i in shard=(i, n)", first, 0)
    if first >= count:
        raise UsageError(f"shard=(i, n) counts from 0, so i is below n, got {shard!r}")
    return range(first, total, count)
