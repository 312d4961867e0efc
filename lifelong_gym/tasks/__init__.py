"""The tasks: what they are, and the references that name sets of them."""

from __future__ import annotations

from pathlib import Path

from lifelong_gym.tasks import reference as _reference
from lifelong_gym.tasks.database import DATABASE_SKILLS, DatabaseTask
from lifelong_gym.tasks.domains import DOMAINS
from lifelong_gym.tasks.knowledge_graph import GRAPH_SKILLS, KnowledgeGraphTask
from lifelong_gym.tasks.operating_system import OPERATING_SYSTEM_SKILLS, OperatingSystemTask
from lifelong_gym.tasks.sources import SOURCES
from lifelong_gym.tasks.task_set import TaskSet

__all__ = [
    "DATABASE_SKILLS",
    "DOMAINS",
    "GRAPH_SKILLS",
    "OPERATING_SYSTEM_SKILLS",
    "SOURCES",
    "DatabaseTask",
    "KnowledgeGraphTask",
    "OperatingSystemTask",
    "TaskSet",
    "resolve",
]


def resolve(reference: str, base: Path) -> str:
    """`reference` with its relative paths under `base`: what it means in a file there.

    Args:
        reference: A task reference.
        base: The folder of the file that it stands in.

    Raises:
        UsageError: It is no task reference.

    Examples:
        >>> resolve("agentbench?path=data&limit=5", Path("/experiments"))
        'agentbench?path=/experiments/data&limit=5'
        >>> resolve("builtin", Path("/experiments"))
        'builtin'
    """
    return _reference.resolve(reference, base, SOURCES)
