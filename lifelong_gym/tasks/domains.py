"""The domains, and the task model of each."""

from __future__ import annotations

from lifelong_gym.core import Task
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks.database import DatabaseTask
from lifelong_gym.tasks.knowledge_graph import KnowledgeGraphTask
from lifelong_gym.tasks.operating_system import OperatingSystemTask

DOMAINS: dict[str, type[Task]] = {
    "database": DatabaseTask,
    "knowledge_graph": KnowledgeGraphTask,
    "operating_system": OperatingSystemTask,
}
"""Domain to task model; a domain of an environment is one of these."""


def check_domain(domain: str) -> None:
    """Refuses what is no domain.

    Raises:
        UsageError: Names the domains.
    """
    if domain not in DOMAINS:
        raise UsageError(f"no domain is called {domain!r}; the domains are {', '.join(DOMAINS)}")
