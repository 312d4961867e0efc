"""Turn and Trajectory: the frozen record of one episode.

What the paper calls a session is a trajectory here, and its sample a task.
"""

from __future__ import annotations

from typing import Any

import pydantic

from lifelong_gym.conversation import Message


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class Turn(_Record):
    """One action and what it led to.

    Attributes:
        action: The agent's whole reply.
        observation: What the environment answered.
        reward: 0.0 until the last turn.
        info: The step's `info`, without what the trajectory itself says.
        duration_s: How long deciding and acting took, in seconds.
    """

    action: str
    observation: str
    reward: float
    info: dict[str, Any] = {}
    duration_s: float = 0.0


class Trajectory(_Record):
    """One episode, from the opening to the verdict.

    Attributes:
        task_id: The task that was played.
        domain: `"database"`, `"operating_system"` or `"knowledge_graph"`.
        skills: The task's skills.
        position: Where in the stream it stood, from 0.
        attempt: Which attempt at the task it was, from 0.
        messages: What the agent was shown first, experiences included.
        turns: What happened.
        status: Why it ended, one of `core.STATUSES`.
        success: The verdict; None where the episode is unscored.
        reward: The sum of the rewards.
        grading: Why, as in `info["grading"]`.
        error: What the system said, where the episode is unscored.
        usage: Model calls and tokens, summed over the turns.
        duration_s: From the call of `reset` to the end, in seconds.
        finished_at: When it ended, in seconds since the epoch.
    """

    task_id: str
    domain: str
    skills: tuple[str, ...] = ()
    position: int = 0
    attempt: int = 0
    messages: tuple[Message, ...] = ()
    turns: tuple[Turn, ...] = ()
    status: str
    success: bool | None = None
    reward: float = 0.0
    grading: dict[str, Any] = {}
    error: str | None = None
    usage: dict[str, int] = {}
    duration_s: float = 0.0
    finished_at: float = 0.0

    @property
    def is_scored(self) -> bool:
        """Whether the episode counts."""
        return self.success is not None

    def without_times(self) -> Trajectory:
        """The same episode with every time set to 0: what a repeated run must reproduce."""
        turns = tuple(turn.model_copy(update={"duration_s": 0.0}) for turn in self.turns)
        return self.model_copy(update={"turns": turns, "duration_s": 0.0, "finished_at": 0.0})
