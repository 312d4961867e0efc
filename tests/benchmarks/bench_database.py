"""What a database task costs beside what the server itself needs, on one server in one run.

Run it with `python tests/benchmarks/bench_database.py [DATABASE] [REPEATS]`, DATABASE being
`local` (default), `seekdb`, `docker` or a `mysql://` URL. It measures and asserts nothing.
Where the published tasks are (`LIFELONG_GYM_DATA`), the first 30 of them are timed as well,
with right answers: LifelongAgentBench's own code takes 123 ms for each on MySQL.

The floor is the same work in plain PyMySQL over one open connection: create a database and a
table of 20 rows, SELECT, UPDATE, read the table, drop; and the same again for the reference.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
from rich.console import Console
from rich.table import Table as Grid

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.backends.database import open_database
from lifelong_gym.backends.database.contract import Column, Table
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.envs.database import DatabaseEnv
from lifelong_gym.tasks import DatabaseTask

ROWS = tuple((n, f"name {n}", n * 10) for n in range(20))
STAFF = Table(
    name="staff",
    columns=(
        Column(name="id", type="INT"),
        Column(name="name", type="TEXT"),
        Column(name="pay", type="INT"),
    ),
    rows=ROWS,
)
UPDATE = "UPDATE staff SET pay = pay + 1 WHERE id < 10"
SELECT = "SELECT name, pay FROM staff WHERE pay > 50"
TASK = DatabaseTask(id="raise", instruction="Raise pay.", tables=(STAFF,), sql=UPDATE)
ACTIONS = (
    f"Action: Operation\n```sql\n{SELECT}\n```",
    f"Action: Operation\n```sql\n{UPDATE}\n```",
    "Action: Answer\nFinal Answer: done",
)


def milliseconds(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median and 95th percentile of a repeated piece of work."""
    for _ in range(max(repeats // 10, 3)):
        work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def whole_task(env: DatabaseEnv) -> None:
    env.reset()
    for action in ACTIONS:
        *_, info = env.step(action)
    if not info["success"]:
        raise RuntimeError(f"the benchmark's own task failed: {info}")


def published(reference: str) -> tuple[float, float] | None:
    """Median and 95th percentile of the first 30 published tasks, or None without them."""
    folder = Path(os.environ.get("LIFELONG_GYM_DATA", "../shared/data"), "lifelongagentbench")
    if not folder.is_dir():
        return None
    tasks = f"lifelongagentbench?path={folder}&limit=30"
    env = gym.make("lifelong_gym/Database-v0", tasks=tasks, database=reference).unwrapped
    numbers = itertools.cycle(range(30))

    def play() -> None:
        env.reset(options={"task_index": next(numbers)})
        reference_actions = env.reference_actions(env.task)
        observation, *_ = env.step(next(reference_actions))
        env.step(reference_actions.send(observation))

    times = milliseconds(play, 90)
    env.close()
    return times


def floor(judge: Judge) -> None:
    values = ", ".join(f"({n}, '{name}', {pay})" for n, name, pay in ROWS)
    for work in ((SELECT, UPDATE), (UPDATE,)):
        judge.run("CREATE DATABASE floor")
        judge.run("USE floor")
        judge.run("CREATE TABLE staff (id INT, name TEXT, pay INT)")
        judge.run(f"INSERT INTO staff VALUES {values}")
        for statement in work:
            judge.run(statement)
        judge.run("SELECT * FROM staff")
        judge.run("DROP DATABASE floor")


def import_cost() -> tuple[float, float]:
    """Seconds to import gymnasium, and lifelong_gym on top of it, in fresh processes."""
    code = (
        "import time; a = time.perf_counter(); import gymnasium; b = time.perf_counter(); "
        "import lifelong_gym; print(b - a, time.perf_counter() - b)"
    )
    runs = [
        tuple(map(float, subprocess.check_output([sys.executable, "-c", code]).split()))
        for _ in range(7)
    ]
    return statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)


def main() -> None:
    reference = sys.argv[1] if len(sys.argv) > 1 else "local"
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    console = Console()
    database = open_database(reference)
    env = DatabaseEnv([TASK], database)
    wrapped = gym.make("lifelong_gym/Database-v0", tasks="builtin?limit=1", database=reference)
    started = time.perf_counter()
    version = database.version
    start_s = time.perf_counter() - started
    judge = database._judge  # type: ignore[attr-defined]
    grid = Grid("work", "median ms", "p95 ms", "x floor", title=f"{reference}: {version}")
    base, base_p95 = milliseconds(lambda: floor(judge), repeats)
    grid.add_row("the same statements, plain PyMySQL", f"{base:.2f}", f"{base_p95:.2f}", "1.00")
    for name, work in (
        ("a whole task: reset, SELECT, UPDATE, answer, grading", lambda: whole_task(env)),
        ("reset alone", lambda: env.reset()),
        ("reset through gymnasium.make", lambda: wrapped.reset()),
    ):
        median, p95 = milliseconds(work, repeats)
        grid.add_row(name, f"{median:.2f}", f"{p95:.2f}", f"{median / base:.2f}")
    env.reset()
    env.max_turns = 10**9
    for name, action in zip(("a SELECT turn", "an UPDATE turn"), ACTIONS, strict=False):
        median, p95 = milliseconds(lambda action=action: env.step(action), repeats)
        grid.add_row(name, f"{median:.2f}", f"{p95:.2f}", f"{median / base:.2f}")
    console.print(grid)
    if times := published(reference):
        console.print(f"the first 30 published tasks: {times[0]:.2f} ms, p95 {times[1]:.2f} ms")
    console.print(f"server ready after {start_s:.2f} s")
    gymnasium_s, ours_s = import_cost()
    console.print(f"import gymnasium {gymnasium_s:.3f} s, lifelong_gym on top {ours_s:.4f} s")
    env.close()
    wrapped.close()


if __name__ == "__main__":
    main()
