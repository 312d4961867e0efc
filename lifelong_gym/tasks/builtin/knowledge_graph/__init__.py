"""The builtin knowledge-graph tasks, over the builtin graph; `docs/knowledge-graph.md`."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.knowledge_graph.festival import TASKS as _FESTIVAL

TASKS = _FESTIVAL
"""Every builtin knowledge-graph task."""
