"""lifelong_gym: language agents that learn over a stream of tasks on real systems.

Importing this package registers its environments with Gymnasium and starts nothing:

    import gymnasium as gym
    import lifelong_gym

    env = gym.make("lifelong_gym/Database-v0", tasks="builtin")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifelong_gym import envs as _envs

if TYPE_CHECKING:
    from lifelong_gym.core import Agent, Decision, Grading, LanguageEnv, Reply, Stop, Task
    from lifelong_gym.runs import run_stream
    from lifelong_gym.spaces import Unicode
    from lifelong_gym.tasks import TaskSet
    from lifelong_gym.trajectory import Trajectory, Turn
    from lifelong_gym.vector import make_vec

__all__ = [
    "Agent",
    "Decision",
    "Grading",
    "LanguageEnv",
    "Reply",
    "Stop",
    "Task",
    "TaskSet",
    "Trajectory",
    "Turn",
    "Unicode",
    "make_vec",
    "run_stream",
]

__version__ = "0.1.0"

_HOMES = {
    "Trajectory": "trajectory",
    "Turn": "trajectory",
    "TaskSet": "tasks",
    "Unicode": "spaces",
    "make_vec": "vector",
    "run_stream": "runs",
}

_envs.register()


def __getattr__(name: str) -> Any:
    """Imports a public name on first use: importing the package itself stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'core')}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
