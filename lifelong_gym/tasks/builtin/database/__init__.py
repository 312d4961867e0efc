"""The builtin database tasks, one module a theme; `docs/tasks.md` says how to write one."""

from __future__ import annotations

from lifelong_gym.tasks.builtin.database import cinema, clinic, library, shop, staff, weather

TASKS = (
    *library.TASKS,
    *shop.TASKS,
    *staff.TASKS,
    *clinic.TASKS,
    *weather.TASKS,
    *cinema.TASKS,
)
"""Every builtin database task."""
