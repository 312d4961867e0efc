"""What recording a run costs: beside the disk's flush, and at the end of a long stream.

Run it with `python tests/benchmarks/bench_runs.py [FOLDER]`. It measures and asserts nothing.
The folder should be on the disk that runs are written to; by default it is a new one in the
working directory, because /tmp is often in memory, where a flush costs nothing.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
from rich.console import Console
from rich.table import Table

from lifelong_gym.baselines import OracleAgent
from lifelong_gym.core import AppendOnly
from lifelong_gym.runs import RunStore, run_stream
from lifelong_gym.runs.states import capture
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.trajectory import Trajectory, Turn
from lifelong_gym.wrappers import TaskStream

REPEATS = 2000
LONG = 10_000


class Memory(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Remembers every episode, as a replay method would: half a kilobyte each."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.episodes = AppendOnly()

    def step(self, action: Any) -> Any:
        """Keeps a transcript at the end of each episode."""
        result = self.env.step(action)
        if result[2] or result[3]:
            self.episodes.append({"turns": "x" * 500, "number": len(self.episodes)})
        return result

    def state_dict(self) -> dict[str, Any]:
        """All that was met."""
        return {"episodes": self.episodes}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes back to it."""
        self.episodes = state["episodes"]


def timed_ms(action: Callable[[], object]) -> float:
    """How long `action` takes, in milliseconds."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def measure_record(folder: Path) -> list[tuple[str, list[float]]]:
    """Times recording a typical task and the smallest transaction, in turns, in one file."""
    turns = tuple(
        Turn(action="Action: Operation\n" * 10, observation="row " * 250, reward=0.0, info={})
        for _ in range(3)
    )
    messages = ({"role": "system", "content": "r" * 2000}, {"role": "user", "content": "t" * 1000})
    memory = Memory(ScriptedEnv(["one"]))
    records, flushes = [], []
    with RunStore(folder) as store:
        connection = store._connection
        for position in range(REPEATS):
            trajectory = Trajectory(
                task_id=f"t{position}",
                domain="database",
                position=position,
                messages=messages,
                turns=turns,
                status="completed",
                success=True,
            )
            memory.episodes.append({"turns": "x" * 500})
            records.append(
                timed_ms(
                    lambda trajectory=trajectory: store.record(
                        trajectory, {"0:Memory": capture(memory, "0:Memory")}
                    )
                )
            )
            flushes.append(timed_ms(lambda: smallest_transaction(connection)))
    return [("record one task", records), ("smallest transaction", flushes)]


def smallest_transaction(connection: Any) -> None:
    """One row: what SQLite and the disk cost at least, with the same settings."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT OR REPLACE INTO facts VALUES ('probe', '{}')")
    connection.execute("COMMIT")


class Clock(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Notes when each episode began."""

    changes_results = False

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self.began_s: list[float] = []

    def reset(self, **arguments: Any) -> Any:
        """Notes the time."""
        self.began_s.append(time.perf_counter())
        return self.env.reset(**arguments)


def measure_stream(folder: Path) -> list[tuple[str, list[float]]]:
    """Times each task of a long stream with a memory that grows all along."""
    texts = [f"task {number}" for number in range(LONG)]
    agent = Clock(OracleAgent(Memory(TaskStream(ScriptedEnv(texts)))))
    run_stream(agent, folder)
    began = agent.began_s
    each = [(after - before) * 1000 for before, after in itertools.pairwise(began)]
    return [(f"first thousand of {LONG:,}", each[:1000]), ("last thousand", each[-1000:])]


def measure_resume(folder: Path) -> list[tuple[str, list[float]]]:
    """Times opening the finished long run again: states restored, nothing played."""
    texts = [f"task {number}" for number in range(LONG)]

    def resume() -> None:
        run_stream(OracleAgent(Memory(TaskStream(ScriptedEnv(texts)))), folder)

    return [(f"resume a finished run of {LONG:,}", [timed_ms(resume) for _ in range(3)])]


def table(rows: list[tuple[str, list[float]]]) -> Table:
    """Medians and 95th percentiles, in milliseconds."""
    shown = Table("milliseconds", "median", "mean", "p95")
    for name, times in rows:
        ordered = sorted(times)
        p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
        figures = (statistics.median(times), statistics.mean(times), p95)
        shown.add_row(name, *(f"{figure:.3f}" for figure in figures))
    return shown


def main() -> None:
    """Measures in a temporary folder and prints the tables."""
    console = Console()
    parent = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    with tempfile.TemporaryDirectory(dir=parent) as name:
        folder = Path(name)
        recorded = measure_record(folder / "record")
        console.print(table(recorded))
        record, flush = (statistics.median(times) for _, times in recorded)
        console.print(
            f"beside the flush: {record - flush:.3f} ms a task, ratio {record / flush:.2f}\n"
        )
        console.print(table(measure_stream(folder / "long")))
        size = (folder / "long" / "run.sqlite").stat().st_size
        console.print(f"{size / LONG:.0f} bytes a task on disk\n")
        console.print(table(measure_resume(folder / "long")))


if __name__ == "__main__":
    main()
