"""The environment of a command, from `--env`, a task reference and `--env-arg`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import gymnasium


def make_env(
    env_id: str, tasks: str | None = None, pairs: Iterable[str] = ()
) -> gymnasium.Env[str, Any]:
    """Makes an environment from texts.

    Args:
        env_id: A registered id; the namespace may be left out.
        tasks: A task reference; None leaves the environment's default.
        pairs: Its other arguments, each `KEY=VALUE`.

    Raises:
        UsageError: There is no such environment or argument, or a value does not fit.
    """
    from lifelong_gym.experiments import environments
    from lifelong_gym.experiments.settings import EnvTable

    args = environments.read_pairs(pairs)
    return environments.make_env(EnvTable(id=env_id, tasks=tasks, args=args))
