"""The sources of tasks, one module each.

A source is a name and a function from a reference and a domain to tasks. To add one, write
its module with a `SOURCE` and list it here; nothing else knows the sources by name.
"""

from __future__ import annotations

from lifelong_gym.tasks.sources import agentbench, builtin, file, lifelongagentbench
from lifelong_gym.tasks.sources.source import Source

SOURCES: dict[str, Source] = {
    module.SOURCE.name: module.SOURCE for module in (builtin, lifelongagentbench, agentbench)
}
"""Every source that is chosen by its name."""

FILE = file.SOURCE
"""The source that is chosen by a path."""
