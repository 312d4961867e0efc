"""make_vec: many copies of an environment side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import gymnasium

import lifelong_gym.envs

_Wrapper: TypeAlias = gymnasium.Wrapper[Any, Any, Any, Any]


def make_vec(
    env_id: str,
    num_envs: int = 1,
    vectorization_mode: str = "sync",
    *,
    vector_kwargs: dict[str, Any] | None = None,
    wrappers: Sequence[Callable[[gymnasium.Env[Any, Any]], _Wrapper]] = (),
    **kwargs: Any,
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Makes a vector environment whose observations and actions are tuples of `str`.

    It is `gymnasium.make_vec` with shared memory off: texts have no fixed size.

    Args:
        env_id: A registered id; the namespace may be left out.
        num_envs: How many copies.
        vectorization_mode: `"sync"`, one after the other in this process, or `"async"`, one
            process each.
        vector_kwargs: For the vector environment: `autoreset_mode`, and `context` (`"fork"`,
            `"spawn"`) in the async mode.
        wrappers: Applied to each copy, the innermost first.
        **kwargs: For the environment.

    Examples:
        >>> envs = make_vec("Database-v0", num_envs=2, tasks="builtin?limit=2")
        >>> envs.num_envs
        2
        >>> envs.close()
    """
    vector_kwargs = dict(vector_kwargs or {})
    if vectorization_mode == "async":
        vector_kwargs.setdefault("shared_memory", False)
    return gymnasium.make_vec(
        lifelong_gym.envs.full_id(env_id),
        num_envs=num_envs,
        vectorization_mode=vectorization_mode,
        vector_kwargs=vector_kwargs,
        wrappers=wrappers,
        **kwargs,
    )
