"""`--agent`: who acts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifelong_gym.errors import UsageError

if TYPE_CHECKING:
    import gymnasium

    from lifelong_gym.core import Agent

AGENTS = "oracle, idle or scripted:FILE"
"""What `--agent` takes."""


def make_agent(text: str, env: gymnasium.Env[str, Any]) -> Agent:
    """Puts the agent that `--agent` names around `env`.

    Raises:
        UsageError: There is no such agent, or its file cannot be read.
    """
    from lifelong_gym.baselines import IdleAgent, OracleAgent, ScriptedAgent

    name, _, argument = text.partition(":")
    if name == "scripted" and argument:
        return ScriptedAgent(env, Path(argument).expanduser())
    if text == "oracle":
        return OracleAgent(env)
    if text == "idle":
        return IdleAgent(env)
    if name == "llm":
        raise UsageError(
            f"--agent llm is not there yet; this version has {AGENTS}. In Python, derive an "
            "agent of your own from lifelong_gym.Agent"
        )
    raise UsageError(f"--agent must be {AGENTS}, got {text!r}")
