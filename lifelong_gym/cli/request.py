"""RunRequest: everything that `lifelong-gym run` was asked for."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lifelong_gym.errors import UsageError

if TYPE_CHECKING:
    from lifelong_gym.experiments import Experiment
    from lifelong_gym.experiments.settings import LayerTable

AGENTS = "oracle, idle, llm, scripted:FILE or module:Class"
"""What `--agent` takes."""


@dataclass(frozen=True)
class RunRequest:
    """The options of `lifelong-gym run`, as they were typed; None where one was not."""

    config: Path | None
    env: str | None
    agent: str | None
    tasks: str | None
    limit: int | None
    task_ids: tuple[str, ...]
    order: Literal["sequential", "shuffle"] | None
    seed: int | None
    attempts: int | None
    env_args: tuple[str, ...]
    models: tuple[str, ...]
    workers: int | None
    output: Path | None
    quiet: bool

    @property
    def folder(self) -> Path:
        """`--output`, or what the experiment says."""
        return self.experiment.folder if self.output is None else self.output

    @property
    def command(self) -> str:
        """The command that goes on with this run, passwords hidden."""
        from lifelong_gym.runs.described import hide_secrets

        words = ["lifelong-gym", "run", *map(hide_secrets, self._options())]
        if self.limit is not None:
            words += ["--limit", str(self.limit)]
        if self.workers is not None:
            words += ["--workers", str(self.workers)]
        if self.quiet:
            words += ["--quiet"]
        if self.output is not None or self.config is None:
            words += ["--output", str(self.folder)]
        return shlex.join(words)

    @cached_property
    def experiment(self) -> Experiment:
        """The settings as an experiment.

        Raises:
            UsageError: An option is missing or wrong.
        """
        if self.config is not None:
            return self._from_file(self.config)
        return self._from_options()

    def _from_file(self, config: Path) -> Experiment:
        from lifelong_gym.experiments import Experiment, load_experiment

        if given := next(self._belonging_in_the_file(), None):
            raise UsageError(
                f"{given} cannot stand beside --config: write it into {config}. Only --limit, "
                "--workers, --output and --quiet may be added"
            )
        loaded = load_experiment(config)
        changes = {"limit": self.limit} if self.limit is not None else {}
        stream = loaded.settings.stream.model_copy(update=changes)
        run = loaded.settings.run
        if self.workers is not None:
            run = run.model_copy(update={"workers": self.workers})
        settings = loaded.settings.model_copy(update={"stream": stream, "run": run})
        return Experiment(settings, loaded.source)

    def _from_options(self) -> Experiment:
        from lifelong_gym.experiments import Experiment, Settings
        from lifelong_gym.experiments.environments import read_pairs
        from lifelong_gym.experiments.settings import EnvTable, RunTable, StreamTable

        if self.env is None or self.agent is None:
            missing = "--env" if self.env is None else "--agent"
            raise UsageError(f"{missing} is missing: give --env and --agent, or --config FILE")
        stream = StreamTable(
            order=self.order or "sequential",
            limit=self.limit,
            task_ids=self.task_ids or None,
            attempts=self.attempts or 1,
            seed=self.seed or 0,
        )
        settings = Settings(
            env=EnvTable(id=self.env, tasks=self.tasks, args=read_pairs(self.env_args)),
            stream=stream,
            agents=(agent_table(self.agent),),
            models=self.models,
            run=RunTable(workers=self.workers or 1),
        )
        return Experiment(settings)

    def _belonging_in_the_file(self) -> Iterator[str]:
        return (word for word in self._options() if word.startswith("--") and word != "--config")

    def _options(self) -> Iterator[str]:
        """What decides the results, where it is no default."""
        single = {
            "--config": self.config,
            "--env": self.env,
            "--agent": self.agent,
            "--tasks": self.tasks,
            "--order": None if self.order == "sequential" else self.order,
            "--seed": self.seed or None,
            "--attempts": None if self.attempts == 1 else self.attempts,
        }
        for option, value in single.items():
            if value is not None:
                yield from (option, str(value))
        for task_id in self.task_ids:
            yield from ("--task-id", task_id)
        for pair in self.env_args:
            yield from ("--env-arg", without_secrets(pair))
        for model in self.models:
            yield from ("--model", model)


def agent_table(text: str) -> LayerTable:
    """`--agent` as a table of an experiment.

    Raises:
        UsageError: It has none of the forms.
    """
    from lifelong_gym.experiments.layers import AGENTS as SHORT
    from lifelong_gym.experiments.settings import LayerTable

    name, colon, argument = text.partition(":")
    if name == "scripted" and argument:
        return LayerTable.model_validate(
            {"type": name, "actions": str(Path(argument).expanduser())}
        )
    is_short = name in SHORT and name != "scripted" and not colon
    if is_short or (name not in SHORT and name and argument):
        return LayerTable(type=text)
    raise UsageError(f"--agent must be {AGENTS}, got {text!r}")


def without_secrets(pair: str) -> str:
    """A `KEY=VALUE` text with what is secret in it replaced by `***`.

    Examples:
        >>> without_secrets("database=mysql://root:hunter2@db:3306")
        'database=mysql://root:***@db:3306'
        >>> without_secrets("password=hunter2")
        'password=***'
    """
    from lifelong_gym.experiments.environments import read_value
    from lifelong_gym.runs.described import described

    key, _, text = pair.partition("=")
    value = read_value(text)
    told = described({key: value})[key]
    if told == value:
        return pair
    return f"{key}={told if isinstance(told, str) else json.dumps(told)}"
