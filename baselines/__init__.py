"""The provided agents."""

from __future__ import annotations

from lifelong_gym.baselines.agents import (
    IdleAgent,
    LanguageModelAgent,
    OracleAgent,
    ScriptedAgent,
)

__all__ = ["IdleAgent", "LanguageModelAgent", "OracleAgent", "ScriptedAgent"]
