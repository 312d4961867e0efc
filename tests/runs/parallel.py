"""A stack for `run_parallel`, and a script that plays it: `parallel.py FOLDER WORKERS PAUSE_S`.

A module of its own, because workers import what makes their stack.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import time

from lifelong_gym.core import Agent
from lifelong_gym.errors import BackendUnavailableError, RunPaused, UsageError
from lifelong_gym.runs import run_parallel
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import TaskStream

COUNT = 23


class Unsendable(RunPaused):
    def __init__(self, budget, spent):
        super().__init__(f"{spent} of {budget} are spent")


class Odd(Agent):
    """Solves every other task, slowly, and says who played; meets a `fault` in task 7."""

    harmless_settings = frozenset({"pause_s", "fault"})

    def __init__(self, env, pause_s=0.0, fault=""):
        super().__init__(env, pause_s=pause_s, fault=fault)
        self._pause_s, self._fault = pause_s, fault

    def act(self, messages):
        time.sleep(self._pause_s)
        words = messages[1]["content"]
        if words == "say 7":
            self._meet_fault()
        return words if int(words.split()[1]) % 2 else f"hm {len(messages)}"

    def _meet_fault(self):
        faults = {
            "usage": UsageError("no such thing"),
            "paused": RunPaused("the budget is spent"),
            "unsendable": Unsendable(5, 3),
            "unavailable": BackendUnavailableError("no server"),
            "bug": ZeroDivisionError("a bug"),
        }
        if self._fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault:
            raise faults[self._fault]


class Remembering(Odd):
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        """There is nothing to load."""


class OtherBackend(ScriptedEnv):
    shard = None

    @property
    def backend(self):
        return {"name": f"server-{self.shard and self.shard[0]}", "version": "1"}


def make(shard=None, *, kind=Odd, env=ScriptedEnv, limit=COUNT, **options):
    of_env = {key: options.pop(key) for key in list(options) if key.startswith("fail_")}
    made = env([f"say {n}" for n in range(COUNT)], **of_env)
    made.shard = shard
    return kind(TaskStream(made, order="shuffle", limit=limit, shard=shard), **options)


def maker(**options):
    return functools.partial(make, **options)


if __name__ == "__main__":
    import parallel  # under the name that the tests use: a run remembers it

    sys.stdout.write("playing\n")
    sys.stdout.flush()
    folder, workers, pause_s = sys.argv[1:]
    run_parallel(parallel.maker(pause_s=float(pause_s)), folder, workers=int(workers))
