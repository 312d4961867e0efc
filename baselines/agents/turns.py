"""What an agent that needs no model reads from a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from lifelong_gym.core import Message


def idle_action(env: gymnasium.Env[str, Any]) -> str:
    """What ends an episode of `env` without doing anything; the empty text if it has none."""
    return str(env.get_wrapper_attr("idle_action")) if env.has_wrapper_attr("idle_action") else ""


def turns_taken(messages: Sequence[Message]) -> int:
    """How many actions are among `messages`."""
    return len([message for message in messages if message["role"] == "assistant"])


def last_observation(messages: Sequence[Message]) -> str:
    """What the last action among `messages` was answered with.

    It is the message after the action: of several tool calls only the first was run.
    """
    acted = max(n for n, message in enumerate(messages) if message["role"] == "assistant")
    return str(messages[acted + 1]["content"])
