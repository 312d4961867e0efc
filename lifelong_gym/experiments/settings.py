"""The settings of an experiment, as the tables of a TOML file have them."""

from __future__ import annotations

from typing import Any, Literal

import pydantic


class _Table(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")


class EnvTable(_Table):
    """`[env]`: where the agent acts.

    Attributes:
        id: A registered id; the namespace may be left out.
        tasks: A task reference; without it the environment's default.
        args: The environment's other arguments.
    """

    id: str
    tasks: str | None = None
    args: dict[str, Any] = {}


class StreamTable(_Table):
    """`[stream]`: the arguments of `TaskStream`, which workers share out by themselves.

    Attributes:
        order: `"sequential"` or `"shuffle"`.
        limit: How many tasks are played at most.
        task_ids: These tasks only, in this order.
        attempts: How many times in a row each task is played.
        seed: Decides the shuffled order and seeds every episode.
    """

    order: Literal["sequential", "shuffle"] = "sequential"
    limit: int | None = pydantic.Field(default=None, ge=1, strict=True)
    task_ids: tuple[str, ...] | None = None
    attempts: int = pydantic.Field(default=1, ge=1, strict=True)
    seed: int = pydantic.Field(default=0, ge=0, strict=True)


class LayerTable(_Table):
    """One of `[[wrappers]]` or `[[agents]]`; what stands beside `type` are its arguments.

    Attributes:
        type: A name that the package exports, or an import path `"module:Class"`.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="allow")

    type: str

    @property
    def arguments(self) -> dict[str, Any]:
        """What the class is called with, beside what it stands around."""
        return dict(self.model_extra or {})


class RunTable(_Table):
    """`[run]`: how it is played; nothing here changes an episode.

    Attributes:
        output: The folder of the run.
        workers: How many processes play.
        retries: How often a task that the system broke is played again.
        attempts: As `[stream]` has it; give it in one of the two.
        cache: A file of model replies: what was asked before is answered from it.
        budget_tokens: After how many tokens the run pauses.
        budget_money: After what cost it pauses, by the prices of the models.
    """

    output: str | None = None
    workers: int = pydantic.Field(default=1, ge=1, strict=True)
    retries: int = pydantic.Field(default=2, ge=0, strict=True)
    attempts: int | None = pydantic.Field(default=None, ge=1, strict=True)
    cache: str | None = None
    budget_tokens: int | None = pydantic.Field(default=None, ge=1, strict=True)
    budget_money: float | None = pydantic.Field(default=None, gt=0)


class Settings(_Table):
    """Everything that an experiment is.

    Attributes:
        env: The environment.
        stream: Which task comes next.
        wrappers: What stands around the stream, the innermost first.
        agents: Who acts, the innermost first; at least one.
        models: Tables of models by name, or model references as texts.
        run: How it is played.
    """

    env: EnvTable
    stream: StreamTable = StreamTable()
    wrappers: tuple[LayerTable, ...] = ()
    agents: tuple[LayerTable, ...] = pydantic.Field(min_length=1)
    models: dict[str, dict[str, Any]] | tuple[str, ...] = {}
    run: RunTable = RunTable()

    @property
    def attempts(self) -> int:
        """How many times each task is played, wherever that is said."""
        return self.run.attempts or self.stream.attempts
