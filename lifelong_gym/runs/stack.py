"""Stack: an environment, its wrappers and its agent, seen as the runner sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium

from lifelong_gym.core import Agent
from lifelong_gym.errors import UsageError
from lifelong_gym.runs.stream import Stream


def layers(env: gymnasium.Env[Any, Any]) -> Iterator[gymnasium.Env[Any, Any]]:
    """Every layer of a stack, the environment first and the outermost wrapper last."""
    if isinstance(env, gymnasium.Wrapper):
        yield from layers(env.env)
    yield env


def find_stream(env: gymnasium.Env[Any, Any]) -> Stream:
    """The one layer that decides which task comes next.

    Raises:
        UsageError: There is none, or more than one.
    """
    streams = [layer for layer in layers(env) if isinstance(layer, Stream)]
    if not streams:
        raise UsageError(
            f"a run needs a stream of tasks, got {env}: put "
            "lifelong_gym.wrappers.TaskStream(env) around the environment"
        )
    if len(streams) > 1:
        raise UsageError(f"a stack has one TaskStream, got {len(streams)} in {env}")
    return streams[0]


def check_agent(env: gymnasium.Env[Any, Any]) -> None:
    """Refuses a stack in which nothing acts, or something that is no `core.Agent` does.

    Raises:
        UsageError: See above; the message says what to change.
    """
    acting = [layer for layer in layers(env) if hasattr(type(layer), "act")]
    for layer in acting:
        if not isinstance(layer, Agent):
            raise UsageError(
                f"{type(layer).__name__} defines act but is no agent: "
                "derive it from lifelong_gym.core.Agent"
            )
    if not acting:
        raise UsageError(
            f"a run needs an agent, got {env}: put one around it, for example "
            "lifelong_gym.baselines.OracleAgent(env)"
        )


def stateful_layers(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """The layers that have `state_dict` and `load_state_dict`, by place and class.

    The place counts stateful layers only, so that one without a state may come or go.
    """
    found = [
        layer
        for layer in layers(env)
        if hasattr(type(layer), "state_dict") and hasattr(type(layer), "load_state_dict")
    ]
    return {f"{place}:{type(layer).__name__}": layer for place, layer in enumerate(found)}
