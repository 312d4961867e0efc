"""The wrappers: methods for lifelong learning, and what every stack needs."""

from __future__ import annotations

from lifelong_gym.wrappers.record_trajectory import RecordTrajectory
from lifelong_gym.wrappers.task_stream import TaskStream

__all__ = ["RecordTrajectory", "TaskStream"]
