"""What an episode is made of: a task, replies to actions, a status, a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pydantic

from lifelong_gym.errors import UsageError

STATUSES = (
    "running",
    "completed",
    "invalid_action",
    "turn_limit",
    "time_limit",
    "context_limit",
    "empty_completion",
    "sandbox_broken",
    "model_error",
    "environment_error",
)
"""Everything that `info["status"]` can be."""

SCORED_STATUSES = frozenset(STATUSES) - {"running", "model_error", "environment_error"}
"""The ends that count for or against the agent."""

STOP_STATUSES = frozenset({"context_limit", "empty_completion", "model_error", "time_limit"})
"""What a `Stop` may end an episode with."""

LIMITS = frozenset({"turn_limit", "time_limit", "context_limit"})
"""The ends that Gymnasium calls truncated, beside the unscored ones."""


class Task(pydantic.BaseModel):
    """One thing to do, with everything needed to set it up, judge it and solve it.

    Subclasses add what their domain needs: the initial state, how success is decided, a
    reference solution.

    Attributes:
        id: Unique in its task set.
        instruction: What the agent is asked, in natural language.
        skills: The skills that the reference solution uses.
        source: The task reference that it was loaded from.
        split: The part of a published set that it belongs to, if that has parts.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    id: str
    instruction: str
    skills: tuple[str, ...] = ()
    source: str = ""
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What an environment answers to one action.

    Attributes:
        observation: What the agent reads next.
        finished: Whether the agent has ended the episode.
        status: Why it ended, where that is not `completed`.
        info: Added to the step's `info`, for example `exit_code`.
    """

    observation: str
    finished: bool = False
    status: str = "completed"
    info: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = [status for status in STATUSES if status != "running"]
        if self.status not in ends:
            raise UsageError(f"a Reply's status is one of {ends}, got {self.status!r}")


@dataclass(frozen=True, slots=True)
class Grading:
    """The verdict on an episode.

    Attributes:
        success: Whether the task is solved.
        reason: Why, in one sentence for people.
        score: Partial credit from 0 to 1, for training; 1 exactly for a success.
        details: More for `info["grading"]`: differing rows, precision and recall.
    """

    success: bool
    reason: str
    score: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)


class AppendOnly(list[Any]):
    """A list in a `state_dict` that only ever grows, of JSON values.

    The run store writes just what was added since the last task, so that a wrapper that
    remembers ten thousand episodes costs no more at the end of a stream than at its start.
    A wrapper returns the same list each time and never removes or changes an item.
    """
