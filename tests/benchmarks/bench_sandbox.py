"""How long a whole episode's work takes on each sandbox, without a model.

One cycle: a fresh machine, its setup, one command, the check, the removal. Prints medians
and 95th percentiles in milliseconds, and the load of the machine, since other work on the
same processors makes every figure larger.

    python tests/benchmarks/bench_sandbox.py [CYCLES] [ROOTFS]
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable

from lifelong_gym.backends.sandbox import Command, SandboxProvider, bash, open_sandboxes
from lifelong_gym.envs.operating_system import OperatingSystemEnv
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError
from lifelong_gym.tasks import OperatingSystemTask

SETUP = "mkdir -p /var/log/app && echo 'ERROR: Disk full' > /var/log/app/errors.log"
COMMAND = "cd /var/log/app && grep -c ERROR errors.log > count.txt"
CHECK = "test $(cat /var/log/app/count.txt) -eq 1"
STEPS = ("start", "setup", "command", "check", "remove", "cycle")


def cycle(provider: SandboxProvider) -> list[float]:
    """The milliseconds of each step, and of all."""
    marks = [time.perf_counter()]

    def done() -> None:
        marks.append(time.perf_counter())

    sandbox = provider.create()
    done()
    sandbox.run(Command(bash(SETUP)))
    done()
    sandbox.run(Command(bash(COMMAND)))
    done()
    assert sandbox.check(Command(bash(CHECK))).exit_code == 0
    done()
    sandbox.close()
    done()
    steps = [1000 * (end - start) for start, end in itertools.pairwise(marks)]
    return [*steps, 1000 * (marks[-1] - marks[0])]


def episode(env: OperatingSystemEnv) -> list[float]:
    """The milliseconds of an episode through the environment."""
    started = time.perf_counter()
    env.reset()
    env.step(f"Act: bash\n```bash\n{COMMAND}\n```")
    assert env.step("Act: finish")[1] == 1.0
    return [1000 * (time.perf_counter() - started)]


def show(names: tuple[str, ...], work: Callable[[], list[float]], cycles: int) -> None:
    rows = [work() for _ in range(cycles)]
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        middle, slow = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"  {name:<10} median {middle:7.1f} ms   95% {slow:7.1f} ms   min {min(values):7.1f}")


def measure(name: str, rootfs: str, cycles: int) -> None:
    provider = open_sandboxes(name, rootfs)
    try:
        started = time.perf_counter()
        provider.create().close()
    except (BackendUnavailableError, MissingExtraError) as error:
        print(f"{name}: {error}")
        return
    print(f"{name} ({provider.version}): first machine {time.perf_counter() - started:.2f} s")
    show(STEPS, lambda: cycle(provider), cycles)
    task = OperatingSystemTask(id="x", instruction="", setup=SETUP, check=CHECK, solution=COMMAND)
    env = OperatingSystemEnv([task], provider)
    show(("episode",), lambda: episode(env), cycles)
    env.close()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{count} cycles, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for root in sys.argv[2:] or ["auto"]:
        measure("bubblewrap", root, count)
    print(f"load at the end {os.getloadavg()[0]:.1f}")
