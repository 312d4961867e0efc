"""A stack whose episodes depend on everything it remembers, and ways to play it."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import pytest
from gymnasium.utils import RecordConstructorArgs

from lifelong_gym.core import Agent, AppendOnly, render
from lifelong_gym.runs import RunStore
from lifelong_gym.testing import ScriptedEnv, ScriptedTask
from lifelong_gym.wrappers import TaskStream


class Remember(gymnasium.Wrapper, RecordConstructorArgs):
    """Tells the agent how many tasks it has met and which was the last."""

    def __init__(self, env, note=""):
        RecordConstructorArgs.__init__(self, note=note)
        super().__init__(env)
        self.met = AppendOnly()
        self.resets = 0
        self._task_id = ""

    def reset(self, *, seed=None, options=None):
        observation, info = self.env.reset(seed=seed, options=options)
        self.resets += 1
        self._task_id = info["task_id"]
        info["opening"]["lessons"].append(f"{len(self.met)} met, {self.met[-1:]}, {self.resets}")
        info["messages"], observation = render(info["opening"])
        return observation, info

    def step(self, action):
        result = self.env.step(action)
        if result[2] or result[3]:
            self.met.append({"task": self._task_id, "success": result[4].get("success")})
        return result

    def state_dict(self):
        return {"met": self.met, "resets": self.resets}

    def load_state_dict(self, state):
        self.met, self.resets = state["met"], state["resets"]


class Dice(Agent):
    """Says the right words by chance; its generator is its state."""

    def __init__(self, env, pause_s=0.0):
        super().__init__(env)
        self._random = random.Random(7)
        self._pause_s = pause_s

    def act(self, messages):
        time.sleep(self._pause_s)
        right = messages[1]["content"]
        return right if self._random.random() < 0.4 else f"{len(messages)} {messages[0]['content']}"

    def state_dict(self):
        return {"random": self._random.getstate()}

    def load_state_dict(self, state):
        version, numbers, gauss = state["random"]
        self._random.setstate((version, tuple(numbers), gauss))


def stack(count=12, pause_s=0.0, note="", **options):
    """Chance and memory over a shuffled stream; `options` go to env and stream."""
    of_env = {key: options.pop(key) for key in list(options) if key.startswith("fail")}
    tasks = [
        ScriptedTask(id=f"t{n}", instruction=f"say {n}", skills=("even",) if n % 2 == 0 else ())
        for n in range(200)
    ]
    stream = TaskStream(
        ScriptedEnv(tasks, **of_env), **{"order": "shuffle", "limit": count, **options}
    )
    return Dice(Remember(stream, note=note), pause_s=pause_s)


@pytest.fixture
def make_stack():
    return stack


@pytest.fixture
def contents():
    """What a run folder holds, times apart."""

    def read(folder: Path):
        with RunStore(folder, read_only=True) as store:
            trajectories = [trajectory.without_times() for trajectory in store.trajectories()]
        connection = sqlite3.connect(folder / "run.sqlite")
        try:
            order = connection.execute("SELECT position FROM trajectories ORDER BY number")
            states = connection.execute("SELECT * FROM states ORDER BY layer")
            items = connection.execute("SELECT * FROM state_items ORDER BY layer, path, number")
            return trajectories, order.fetchall(), states.fetchall(), items.fetchall()
        finally:
            connection.close()

    return read


@pytest.fixture
def start():
    """Starts `play.py` in a process of its own, which is killed at the end of the test."""
    processes = []

    def start(folder, count=12, pause_s=0.0, max_file_bytes=0):
        arguments = [str(folder), str(count), str(pause_s), str(max_file_bytes)]
        script = str(Path(__file__).with_name("play.py"))
        process = subprocess.Popen(
            [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True
        )
        processes.append(process)
        assert process.stdout.readline() == "playing\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()
