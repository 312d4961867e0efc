"""Experiment: settings that become a stack, and a stack that becomes a run."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium

from lifelong_gym.experiments.environments import make_env
from lifelong_gym.experiments.layers import put_around
from lifelong_gym.experiments.models import closing_models, open_models
from lifelong_gym.experiments.settings import Settings
from lifelong_gym.experiments.source import Source
from lifelong_gym.runs import Run, run_parallel, run_stream
from lifelong_gym.runs.progress import Progress
from lifelong_gym.runs.worker import Shard
from lifelong_gym.wrappers import TaskStream

Env = gymnasium.Env[Any, Any]

_DIGEST_LENGTH = 8


@dataclass(frozen=True)
class Experiment:
    """What is played, with whom and how: the same from a file, from options or from Python.

    Args:
        settings: The tables.
        source: Where they came from; messages name it, and paths are relative to it.

    Examples:
        >>> from lifelong_gym.experiments import Settings
        >>> experiment = Experiment(Settings(
        ...     env={"id": "Database-v0"}, stream={"limit": 3}, agents=[{"type": "oracle"}]
        ... ))
        >>> print(experiment.stack())
        <OracleAgent<TaskStream<OrderEnforcing<DatabaseEnv<lifelong_gym/Database-v0>>>>>
    """

    settings: Settings
    source: Source = field(default_factory=Source)

    @property
    def folder(self) -> Path:
        """The folder of the run: `output`, or one for each set of settings that change it."""
        if self.settings.run.output is not None:
            return self.source.base / Path(self.settings.run.output).expanduser()
        told = self.settings.model_dump_json(exclude={"run": True, "stream": {"limit"}})
        told += str(self.settings.attempts)
        digest = hashlib.sha256(told.encode()).hexdigest()[:_DIGEST_LENGTH]
        return Path("runs") / f"{self._name}-{digest}"

    def stack(self, shard: Shard | None = None) -> Env:
        """The environment, the stream over it, the wrappers and the agents over that.

        The models of the stack live as long as the process; `opened` closes them.

        Args:
            shard: The part of the stream that a worker plays.

        Raises:
            UsageError: A setting is wrong.
        """
        share = 1 if shard is None else shard[1]
        return self._stack(shard, open_models(self.settings, self.source, share))

    @contextlib.contextmanager
    def opened(self) -> Iterator[Env]:
        """The whole stack; it and its models are closed at the end."""
        with closing_models(open_models(self.settings, self.source)) as models:
            stack = self._stack(None, models)
            with contextlib.closing(stack):
                yield stack

    def play(self, output: Path | str | None = None, *, progress: Progress = False) -> Run:
        """Plays the stream, or goes on with it; see `run_stream` and `run_parallel`.

        Args:
            output: The folder of the run instead of the one that the settings name.
            progress: Shows a bar on stderr if that is a terminal.

        Raises:
            UsageError: A setting is wrong.
            RunPaused: The run stopped and can be resumed.
        """
        target = self.folder if output is None else output
        run = self.settings.run
        if run.workers > 1:
            return run_parallel(
                self.stack, target, workers=run.workers, progress=progress, retries=run.retries
            )
        with self.opened() as agent:
            return run_stream(agent, target, progress=progress, retries=run.retries)

    @property
    def _name(self) -> str:
        if self.source.file is not None:
            return self.source.file.stem
        env = self.settings.env.id.rpartition("/")[2]
        return f"{env}-{self.settings.agents[-1].type.rpartition(':')[2]}"

    def _stack(self, shard: Shard | None, models: Mapping[str, Any]) -> Env:
        env: Env = make_env(self.settings.env, self.source)
        try:
            stream = self.settings.stream.model_dump(exclude={"attempts"})
            with self.source.blaming("[stream]"):
                env = TaskStream(env, **stream, attempts=self.settings.attempts, shard=shard)
            for number, table in enumerate(self.settings.wrappers, 1):
                env = put_around(env, "wrappers", number, table, self.source, models)
            for number, table in enumerate(self.settings.agents, 1):
                env = put_around(env, "agents", number, table, self.source, models)
        except BaseException:
            env.close()
            raise
        return env
