"""The builtin database tasks, one module a theme; `docs/tasks.md` says how to write one."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database import library

TASKS = (*library.TASKS,)
"""Every builtin database task."""
