"""RunRequest: everything that `lifelong-gym run` was asked for."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lifelong_gym.core import Agent

_DIGEST_LENGTH = 8


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The arguments of `lifelong-gym run`, as they were typed."""

    env: str
    agent: str
    tasks: str | None
    limit: int | None
    task_ids: tuple[str, ...]
    order: Literal["sequential", "shuffle"]
    seed: int
    attempts: int
    env_args: tuple[str, ...]
    output: Path | None
    quiet: bool

    @property
    def folder(self) -> Path:
        """`--output`, or a folder of its own for each set of arguments that change results."""
        if self.output is not None:
            return self.output
        told = "\n".join([self.env, self.agent, *self._options()])
        digest = hashlib.sha256(told.encode()).hexdigest()[:_DIGEST_LENGTH]
        env, agent = self.env.rpartition("/")[2], self.agent.partition(":")[0]
        return Path("runs") / f"{env}-{agent}-{digest}"

    @property
    def command(self) -> str:
        """The command that goes on with this run, passwords hidden."""
        words = ["lifelong-gym", "run", "--env", self.env, "--agent", self.agent, *self._options()]
        if self.limit is not None:
            words += ["--limit", str(self.limit)]
        if self.quiet:
            words += ["--quiet"]
        return shlex.join([*words, "--output", str(self.folder)])

    def stack(self) -> Agent:
        """The environment, the stream over it and the agent over that.

        Raises:
            UsageError: An argument is wrong.
        """
        from lifelong_gym.cli.agents import make_agent
        from lifelong_gym.cli.environments import make_env
        from lifelong_gym.wrappers import TaskStream

        stream = TaskStream(
            make_env(self.env, self.tasks, self.env_args),
            order=self.order,
            limit=self.limit,
            task_ids=self.task_ids or None,
            attempts=self.attempts,
            seed=self.seed,
        )
        return make_agent(self.agent, stream)

    def _options(self) -> Iterator[str]:
        """What decides the results besides environment and agent, where it is no default."""
        if self.tasks is not None:
            yield from ("--tasks", self.tasks)
        for task_id in self.task_ids:
            yield from ("--task-id", task_id)
        if self.order != "sequential":
            yield from ("--order", self.order)
        if self.seed:
            yield from ("--seed", str(self.seed))
        if self.attempts != 1:
            yield from ("--attempts", str(self.attempts))
        for pair in self.env_args:
            yield from ("--env-arg", without_secrets(pair))


def without_secrets(pair: str) -> str:
    """A `KEY=VALUE` text with what is secret in it replaced by `***`.

    Examples:
        >>> without_secrets("database=mysql://root:hunter2@db:3306")
        'database=mysql://root:***@db:3306'
        >>> without_secrets("password=hunter2")
        'password=***'
    """
    from lifelong_gym.cli.environments import read_value
    from lifelong_gym.runs.described import described

    key, _, text = pair.partition("=")
    value = read_value(text)
    told = described({key: value})[key]
    if told == value:
        return pair
    return f"{key}={told if isinstance(told, str) else json.dumps(told)}"
