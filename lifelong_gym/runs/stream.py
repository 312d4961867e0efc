"""What the runner needs to know of a stream of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """What is played at one position of a stream.

    Attributes:
        position: Where in the whole stream it stands, from 0.
        attempt: Which attempt at the task it is, from 0.
        task_id: The task.
        skills: The task's skills.
        seed: What the episode is seeded with.
    """

    position: int
    attempt: int
    task_id: str
    skills: tuple[str, ...]
    seed: int


@runtime_checkable
class Stream(Protocol):
    """A wrapper that decides which task comes next; `wrappers.TaskStream` is the one here.

    Its `reset` takes the option `{"position": p}`, which plays that position.
    """

    @property
    def positions(self) -> range:
        """Every position that this stream plays, in order."""

    def entry(self, position: int) -> StreamEntry:
        """What is played at `position`."""

    def state_dict(self) -> dict[str, Any]:
        """Where the stream stands."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes back to where `state_dict` stood."""
