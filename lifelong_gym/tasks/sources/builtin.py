"""The tasks that come with the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lifelong_gym.core import Task
from lifelong_gym.tasks.reference import Reference
from lifelong_gym.tasks.sources.source import Source


def _database() -> Sequence[Task]:
    from lifelong_gym.tasks.builtin.database import TASKS

    return TASKS


def _knowledge_graph() -> Sequence[Task]:
    from lifelong_gym.tasks.builtin.knowledge_graph import TASKS

    return TASKS


def _operating_system() -> Sequence[Task]:
    from lifelong_gym.tasks.builtin.operating_system import TASKS

    return TASKS


_TASKS: dict[str, Callable[[], Sequence[Task]]] = {
    "database": _database,
    "knowledge_graph": _knowledge_graph,
    "operating_system": _operating_system,
}


def read(reference: Reference, domain: str) -> Sequence[Task]:
    """The domain's builtin tasks."""
    return _TASKS[domain]()


SOURCE = Source("builtin", read, tuple(_TASKS))
"""`builtin`."""
