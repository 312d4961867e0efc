"""The builtin operating-system tasks, one module a theme; `docs/tasks.md` says how to write one."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.operating_system import accounts, files, scripts, sharing, texts

TASKS = (
    *accounts.TASKS,
    *files.TASKS,
    *sharing.TASKS,
    *texts.TASKS,
    *scripts.TASKS,
)
"""Every builtin operating-system task."""
