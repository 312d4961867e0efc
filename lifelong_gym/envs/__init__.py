"""The environments, one module a domain, and their registration with Gymnasium."""

from __future__ import annotations

import gymnasium

ENTRY_POINTS = {
    "lifelong_gym/Database-v0": "lifelong_gym.envs.database:make_database_env",
    "lifelong_gym/KnowledgeGraph-v0": (
        "lifelong_gym.envs.knowledge_graph:make_knowledge_graph_env"
    ),
    "lifelong_gym/OperatingSystem-v0": (
        "lifelong_gym.envs.operating_system:make_operating_system_env"
    ),
}
"""Every registered id and the function of plain values that builds it."""


def register() -> None:
    """Registers the environments; doing it again changes nothing.

    Gymnasium's passive checker stays off: after a first `reset` that raised, it breaks the
    next `step`, and a reset that raises `BackendError` is to be repeated.
    """
    for env_id, entry_point in ENTRY_POINTS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=entry_point, disable_env_checker=True)


def full_id(env_id: str) -> str:
    """`env_id` with the namespace in front, if it has none.

    Examples:
        >>> full_id("Database-v0"), full_id("my_package:Maze-v1")
        ('lifelong_gym/Database-v0', 'my_package:Maze-v1')
    """
    return env_id if "/" in env_id or ":" in env_id else f"lifelong_gym/{env_id}"
