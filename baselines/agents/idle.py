"""IdleAgent: what doing nothing is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from lifelong_gym.baselines.agents.turns import idle_action
from lifelong_gym.core import Agent, Message


class IdleAgent(Agent):
    """Finishes every task at once and does nothing; a task set is broken where it succeeds.

    It sends the environment's `idle_action`.

    Args:
        env: The environment to act in.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> agent = IdleAgent(ScriptedEnv(["Say something."]))
        >>> observation, info = agent.reset()
        >>> agent.step(None)[-1]["success"]
        False
    """

    def __init__(self, env: gymnasium.Env[str, Any]) -> None:
        super().__init__(env)

    def act(self, messages: Sequence[Message]) -> str:
        """The environment's `idle_action`, whatever was said."""
        return idle_action(self.env)
