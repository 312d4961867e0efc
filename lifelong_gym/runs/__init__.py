"""Runs: play a stream, record it, resume it, measure it."""

from __future__ import annotations

from lifelong_gym.runs.metrics import Metrics
from lifelong_gym.runs.run import Run
from lifelong_gym.runs.runner import run_stream
from lifelong_gym.runs.store import RunStore

__all__ = ["Metrics", "Run", "RunStore", "run_stream"]
