"""Agent: the one wrapper that acts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from lifelong_gym.conversation import Decision, Message, Stop, turn


class Agent(gymnasium.Wrapper[str, "str | None", str, "str | None"], RecordConstructorArgs):
    """A wrapper that decides what to do: `step(None)` plays one turn by itself.

    Subclasses define `act`. The innermost agent of a stack owns the conversation; an agent
    around another one finds the inner `act` with `self.env.get_wrapper_attr("act")` and may
    call it any number of times, with any messages.

    Args:
        env: The environment to act in, or another agent.
        **settings: The subclass's own arguments, recorded in `spec` so that the stack can
            be described, compared and rebuilt.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> class Polite(Agent):
        ...     def act(self, messages):
        ...         return "please"
        >>> agent = Polite(ScriptedEnv(["What do you say?"]))
        >>> observation, info = agent.reset()
        >>> info = agent.step(None)[-1]
        >>> info["action"], info["usage"]["calls"]
        ('please', 0)
    """

    def __init__(self, env: gymnasium.Env[str, Any], **settings: Any) -> None:
        RecordConstructorArgs.__init__(self, _disable_deepcopy=True, **settings)
        gymnasium.Wrapper.__init__(self, env)
        self._is_innermost = not env.has_wrapper_attr("act")
        self._conversation: list[Message] = []

    @property
    def conversation(self) -> list[Message]:
        """The opening and every turn so far, as the innermost agent saw them."""
        if self._is_innermost:
            return self._conversation
        return cast("list[Message]", self.env.get_wrapper_attr("conversation"))

    def act(self, messages: Sequence[Message]) -> str:
        """Decides on one action.

        Args:
            messages: The conversation so far, in OpenAI's form.

        Returns:
            An action as `step` takes it; a `Decision` also says what it cost, and a `Stop`
            ends the episode where the agent cannot act.
        """
        raise NotImplementedError(f"{type(self).__name__} must define act(messages)")

    def act_batch(self, conversations: Sequence[Sequence[Message]]) -> list[str]:
        """Decides on one action for each conversation; models override it to batch."""
        return [self.act(messages) for messages in conversations]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode and, in the innermost agent, a conversation."""
        observation, info = self.env.reset(seed=seed, options=options)
        if self._is_innermost:
            if "messages" not in info:
                raise TypeError(
                    f"{type(self).__name__} needs an environment of lifelong_gym beneath it, whose "
                    f"reset gives info['messages']; got {self.env.unwrapped}"
                )
            self._conversation = list(info["messages"])
        return observation, info

    def step(self, action: str | None = None) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Plays one turn.

        Args:
            action: What to do; None lets this agent decide.

        Returns:
            What the environment returned. `info["action"]` says what was done and, where
            this agent decided, `info["usage"]` what deciding cost.
        """
        decided = self.act(self.conversation) if action is None else action
        if not isinstance(decided, str):
            raise TypeError(f"{type(self).__name__}.act must return a str, got {decided!r}")
        observation, reward, terminated, truncated, info = self.env.step(decided)
        if self._is_innermost and not isinstance(decided, Stop):
            self._conversation += turn(decided, observation)
        info["action"] = str(decided)
        if action is None:
            info["usage"] = (decided if isinstance(decided, Decision) else Decision("")).usage
        return observation, reward, terminated, truncated, info
