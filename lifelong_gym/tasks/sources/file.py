"""A file of tasks, given by its path: native, or in a published form."""

from __future__ import annotations

from collections.abc import Sequence

from lifelong_gym.core import Task
from lifelong_gym.tasks.domains import DOMAINS
from lifelong_gym.tasks.entries import Entry, check_ids, read_entries
from lifelong_gym.tasks.native import native_task
from lifelong_gym.tasks.reference import Reference, located
from lifelong_gym.tasks.sources import agentbench, lifelongagentbench
from lifelong_gym.tasks.sources.source import Source


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of the file, in the form that the fields of any entry tell."""
    path = located(reference.path or "")
    entries = read_entries(path)
    lifelong = lifelongagentbench.PUBLISHED.get(domain)
    if lifelong and _has(entries, lifelong.marks):
        return lifelong.tasks(entries)
    agents = agentbench.PUBLISHED.get(domain)
    if agents and _has(entries, agents.marks):
        return agents.tasks(entries, agentbench.split_of(path))
    tasks = [native_task(entry, domain) for entry in entries]
    check_ids(entries, tasks)
    return tasks


def _has(entries: Sequence[Entry], marks: frozenset[str]) -> bool:
    # Any, not the first: where the first lacks a field, that is what has to be said of it.
    return any(marks <= entry.fields.keys() for entry in entries)


SOURCE = Source("file", read, tuple(DOMAINS))
"""A path to a `.jsonl`, `.json` or `.parquet` file."""
