"""first_prompt: what an agent is shown before it acts for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifelong_gym.core import Message
from lifelong_gym.experiments.experiment import Experiment
from lifelong_gym.runs.stack import check_agent, find_stream


@dataclass(frozen=True)
class Prompt:
    """What a model would be sent.

    Attributes:
        messages: In OpenAI's form.
        tools: OpenAI tool schemas, where actions are tool calls.
    """

    messages: list[Message]
    tools: list[dict[str, Any]]


def first_prompt(experiment: Experiment) -> Prompt:
    """The first prompt of the first task; sets the task up and asks no model.

    Raises:
        UsageError: A setting is wrong.
    """
    with experiment.opened() as agent:
        check_agent(agent)
        agent.reset(options={"position": find_stream(agent).positions.start})
        messages = agent.get_wrapper_attr("conversation")
        if agent.has_wrapper_attr("prompted"):  # an agent that changes them before it asks
            messages = agent.get_wrapper_attr("prompted")(messages)
        uses_tools = getattr(agent.unwrapped, "action_format", "text") == "tools"
        tools = agent.get_wrapper_attr("tools") if uses_tools else None
        return Prompt(list(messages), list(tools or []))
