"""`tests/Scripted-v0`: an environment for the command line that needs no server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import gymnasium

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.testing import ScriptedEnv, ScriptedTask

ENV_ID = "tests/Scripted-v0"


class SlowEnv(ScriptedEnv):
    """A `ScriptedEnv` that takes its time, and stops while a file is there."""

    def __init__(self, tasks, pause_s: float, stop_file: str | None, **options: Any) -> None:
        super().__init__(tasks, **options)
        self._pause_s, self._stop_file = pause_s, stop_file

    def _respond(self, action, task):
        time.sleep(self._pause_s)
        if self._stop_file and task.id == "t2" and Path(self._stop_file).exists():
            raise RunPaused("the budget of [5 $] is spent")
        return super()._respond(action, task)

    @property
    def idle_action(self) -> str:
        return "say 1" if self.task_set[0].id == "unsound" else super().idle_action


def make_scripted(
    tasks: str = "3",
    *,
    note: str = "",
    pause_s: float = 0.0,
    stop_file: str | None = None,
    password: str = "",
    fail_resets: tuple[int, ...] = (),
    **options: Any,
) -> SlowEnv:
    """`tasks` is how many; `unsound` is one that idling solves."""
    if password == "broken":
        raise TypeError("a bug in an entry point")
    if tasks == "unsound":
        texts = [ScriptedTask(id="unsound", instruction="say 1")]
    elif tasks.isdigit():
        texts = [
            ScriptedTask(id=f"t{n}", instruction=f"say {n}", skills=("talking",))
            for n in range(int(tasks))
        ]
    else:
        raise UsageError(f"tasks must be a number, got {tasks!r}")
    return SlowEnv(texts, pause_s, stop_file, fail_resets=fail_resets, **options)


if ENV_ID not in gymnasium.registry:
    gymnasium.register(ENV_ID, entry_point=make_scripted)
