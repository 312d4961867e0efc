"""A file of tasks, given by its path: native, or in a published form."""

from __future__ import annotations

from lifelong_gym.core import Task
from lifelong_gym.tasks.domains import DOMAINS
from lifelong_gym.tasks.entries import check_ids, read_entries
from lifelong_gym.tasks.native import native_task
from lifelong_gym.tasks.reference import Reference, located
from lifelong_gym.tasks.sources import agentbench, lifelongagentbench
from lifelong_gym.tasks.sources.source import Source


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of the file; the first entry's fields tell its form."""
    path = located(reference.path or "")
    entries = read_entries(path)
    seen = entries[0].fields.keys() if entries else frozenset()
    lifelong = lifelongagentbench.PUBLISHED.get(domain)
    if lifelong and lifelong.marks <= seen:
        return lifelong.tasks(entries)
    agents = agentbench.PUBLISHED.get(domain)
    if agents and agents.marks <= seen:
        return agents.tasks(entries, agentbench.split_of(path))
    tasks = [native_task(entry, domain) for entry in entries]
    check_ids(entries, tasks)
    return tasks


SOURCE = Source("file", read, tuple(DOMAINS))
"""A path to a `.jsonl`, `.json` or `.parquet` file."""
