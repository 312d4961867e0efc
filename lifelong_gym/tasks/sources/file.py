"""A file of tasks, given by its path: native, or in a published form."""

from __future__ import annotations

from lifelong_gym.core import Task
from lifelong_gym.tasks.domains import DOMAINS
from lifelong_gym.tasks.entries import read_entries
from lifelong_gym.tasks.native import native_task
from lifelong_gym.tasks.reference import Reference, located
from lifelong_gym.tasks.sources import lifelongagentbench
from lifelong_gym.tasks.sources.source import Source


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of the file; the first entry's fields tell its form."""
    entries = read_entries(located(reference.path or ""))
    published = lifelongagentbench.PUBLISHED.get(domain)
    if published and entries and published.marks <= entries[0].fields.keys():
        return published.tasks(entries)
    return [native_task(entry, domain) for entry in entries]


SOURCE = Source("file", read, tuple(DOMAINS))
"""A path to a `.jsonl`, `.json` or `.parquet` file."""
