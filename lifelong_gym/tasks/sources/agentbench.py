"""AgentBench's published tasks, from a folder."""

from __future__ import annotations

from lifelong_gym.core import Task
from lifelong_gym.tasks.reference import Reference
from lifelong_gym.tasks.sources.source import Source

NAME = "agentbench"


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of a split."""
    raise NotImplementedError


SOURCE = Source(NAME, read, (), splits=("dev", "test"), keys=("path",))
"""`agentbench[:split][?path=FOLDER]`."""
