"""Where the randomness of an episode's replies comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from lifelong_gym.core import Message
from lifelong_gym.models.keys import derived_seed


class EpisodeSeeds:
    """A seed for each question of an episode, the same whenever the episode is played again.

    It depends on the episode's seed, on the messages, and on how often they were asked about
    before in this episode: an outer agent that asks the same twice gets two samples. It does
    not depend on what was played or asked before.

    Args:
        env: The stack beneath the agent.
    """

    def __init__(self, env: gymnasium.Env[str, Any]) -> None:
        self._env = env
        self._episode: list[int] = [0]
        self._asked: Counter[int] = Counter()
        self._generator: object = None
        self._since_seeded = 0

    def begin(self, seed: int | None, info: Mapping[str, Any]) -> None:
        """Starts an episode.

        Args:
            seed: What `reset` was given.
            info: What `reset` returned.
        """
        self._asked.clear()
        # An environment that was seeded has a new generator. Further resets draw from it.
        generator = self._env.unwrapped.np_random
        self._since_seeded = 0 if generator is not self._generator else self._since_seeded + 1
        self._generator = generator
        if seed is None and "position" in info and self._env.has_wrapper_attr("entry"):
            seed = int(self._env.get_wrapper_attr("entry")(info["position"]).seed)
        if seed is not None:
            self._episode = [seed]
        else:
            self._episode = [self._env.unwrapped.np_random_seed or 0, self._since_seeded]

    def draw(self, messages: Sequence[Message]) -> int:
        """The seed of the next reply to `messages`, in 0 to 2**31 - 1."""
        question = derived_seed(self._episode, list(messages))
        self._asked[question] += 1
        return derived_seed(question, self._asked[question] - 1)
