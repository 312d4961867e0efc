"""The environments, one module a domain, and their registration with Gymnasium."""

from __future__ import annotations

import gymnasium

ENTRY_POINTS = {
    "lifelong_gym/Database-v0": "lifelong_gym.envs.database:make_database_env",
    "lifelong_gym/OperatingSystem-v0": (
        "lifelong_gym.envs.operating_system:make_operating_system_env"
    ),
}
"""Every registered id and the function of plain values that builds it."""


def register() -> None:
    """Registers the environments; doing it again changes nothing."""
    for env_id, entry_point in ENTRY_POINTS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(env_id, entry_point=entry_point)


def full_id(env_id: str) -> str:
    """`env_id` with the namespace in front, if it has none.

    Examples:
        >>> full_id("Database-v0")
        'lifelong_gym/Database-v0'
    """
    return env_id if "/" in env_id else f"lifelong_gym/{env_id}"
