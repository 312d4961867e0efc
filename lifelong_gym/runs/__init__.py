"""Runs: play a stream, record it, resume it, measure it."""

from __future__ import annotations

from lifelong_gym.runs.compare import Comparison, compare
from lifelong_gym.runs.compare_report import compare_sections, compare_text
from lifelong_gym.runs.export import export_trajectories, read_trajectories
from lifelong_gym.runs.metrics import Metrics
from lifelong_gym.runs.report import report, report_table
from lifelong_gym.runs.run import Run
from lifelong_gym.runs.runner import run_stream
from lifelong_gym.runs.store import RunStore
from lifelong_gym.runs.validation import Finding, validate_tasks
from lifelong_gym.runs.workers import run_parallel

__all__ = [
    "Comparison",
    "Finding",
    "Metrics",
    "Run",
    "RunStore",
    "compare",
    "compare_sections",
    "compare_text",
    "export_trajectories",
    "read_trajectories",
    "report",
    "report_table",
    "run_parallel",
    "run_stream",
    "validate_tasks",
]
