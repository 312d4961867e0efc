"""Who acts: agents that need no model, and the one that asks a model."""

from __future__ import annotations

from lifelong_gym.baselines.agents.idle import IdleAgent
from lifelong_gym.baselines.agents.language_model import LanguageModelAgent
from lifelong_gym.baselines.agents.oracle import OracleAgent
from lifelong_gym.baselines.agents.scripted import ScriptedAgent

__all__ = ["IdleAgent", "LanguageModelAgent", "OracleAgent", "ScriptedAgent"]
