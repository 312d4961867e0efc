"""OracleAgent: the reference solution, played as an agent would play it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, cast

import gymnasium

from lifelong_gym.baselines.agents.turns import idle_action, last_observation, turns_taken
from lifelong_gym.core import Agent, LanguageEnv, Message
from lifelong_gym.errors import UsageError


class OracleAgent(Agent):
    """Plays every task's reference solution, and answers with what it saw.

    Each observation goes into the environment's `reference_actions`, so that an answer is
    what the backend returned and not what the task says it should. Its success rate is the
    share of tasks that can be solved on this backend.

    Args:
        env: The environment to act in.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> agent = OracleAgent(ScriptedEnv([("Say please.", "please")]))
        >>> observation, info = agent.reset()
        >>> agent.step(None)[-1]["action"]
        'please'
    """

    def __init__(self, env: gymnasium.Env[str, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, LanguageEnv):
            raise UsageError(
                f"OracleAgent needs an environment with reference_actions, got {env.unwrapped}"
            )
        self._reference: Generator[str, str, None] | None = None
        self._planned: list[str] = []
        self._opening_length = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode and takes up its task's reference."""
        observation, info = super().reset(seed=seed, options=options)
        env = cast("LanguageEnv[Any]", self.env.unwrapped)
        self._reference = env.reference_actions(env.task)
        self._planned = []
        self._opening_length = len(self.conversation)
        return observation, info

    def act(self, messages: Sequence[Message]) -> str:
        """The reference's next action; the `idle_action` once it has no more."""
        # An outer agent may ask several times a turn; the reference moves on once a turn.
        number = turns_taken(self.conversation[self._opening_length :])
        while len(self._planned) <= number:
            self._planned.append(self._next_action(messages))
        return self._planned[number]

    def _next_action(self, messages: Sequence[Message]) -> str:
        if self._reference is None:
            return idle_action(self.env)
        try:
            if not self._planned:
                return str(next(self._reference))
            return str(self._reference.send(last_observation(messages)))
        except StopIteration:
            self._reference = None
            return idle_action(self.env)
