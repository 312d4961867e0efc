"""Experiments: a TOML file, or what was typed, becomes a stack of wrappers and a run."""

from __future__ import annotations

from lifelong_gym.experiments.experiment import Experiment
from lifelong_gym.experiments.settings import Settings
from lifelong_gym.experiments.toml import load_experiment

__all__ = ["Experiment", "Settings", "load_experiment"]
