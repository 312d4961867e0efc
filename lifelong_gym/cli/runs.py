"""`lifelong-gym run`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from lifelong_gym.cli.console import show, tell, write
from lifelong_gym.cli.failures import INTERRUPTED, PAUSED
from lifelong_gym.cli.options import EnvArgs, Limit, Quiet, TaskIds, TaskReference, examples
from lifelong_gym.cli.request import AGENTS, RunRequest
from lifelong_gym.errors import RunPaused

if TYPE_CHECKING:
    from lifelong_gym.runs import Run


EXAMPLES = examples(
    "run --env Database-v0 --tasks builtin --agent oracle --output runs/oracle",
    "run --env Database-v0 --tasks mine.jsonl --agent scripted:actions.jsonl --limit 10",
    "run --env Database-v0 --agent idle --env-arg database=local --env-arg max_turns=5",
    "run --env Database-v0 --agent llm --model main=openai:gpt-4o-mini --workers 4",
    "run --config experiment.toml",
)


class Order(StrEnum):
    """`--order`."""

    sequential = "sequential"
    shuffle = "shuffle"


_Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A TOML file that says it all; docs/experiments.md.",
        show_default=False,
    ),
]
_EnvId = Annotated[
    str | None,
    typer.Option("--env", metavar="ID", help="See `lifelong-gym envs`.", show_default=False),
]
_Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="AGENT", help=f"{AGENTS}.", show_default=False),
]
_Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        metavar="NAME=PROVIDER:MODEL",
        help="A language model; --agent llm asks the one called main. Repeatable.",
        show_default=False,
    ),
]
_Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Play in N processes; not with wrappers that remember.",
        show_default="1",
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the first prompt and stop; asks no model.")
]
_Order = Annotated[
    Order | None,
    typer.Option(
        help="In the order of the task set, or shuffled by seed.", show_default="sequential"
    ),
]
_Seed = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="Decides the shuffled order and every episode.", show_default="0"
    ),
]
_Attempts = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="How many times each task is played; the report has pass@k.",
        show_default="1",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="The folder of the run.",
        show_default="runs/..., one for each set of arguments",
    ),
]


def run(
    config: _Config = None,
    env: _EnvId = None,
    agent: _Agent = None,
    tasks: TaskReference = None,
    limit: Limit = None,
    task_id: TaskIds = [],  # noqa: B006 - typer makes a new list for each call
    order: _Order = None,
    seed: _Seed = None,
    attempts: _Attempts = None,
    env_arg: EnvArgs = [],  # noqa: B006
    model: _Models = [],  # noqa: B006
    workers: _Workers = None,
    output: _Output = None,
    quiet: Quiet = False,
    dry_run: _DryRun = False,
) -> None:
    """Play a stream of tasks and record it.

    What is played is said by --env, --agent and the options beside them, or by a file.
    The same command again resumes: what is finished is kept, whatever happens. Going on with
    other settings is refused where they would change results; a larger --limit is fine.
    Exits with 3 if the run was paused.
    """
    request = RunRequest(
        config=config,
        env=env,
        agent=agent,
        tasks=tasks,
        limit=limit,
        task_ids=tuple(task_id),
        order=None if order is None else order.value,
        seed=seed,
        attempts=attempts,
        env_args=tuple(env_arg),
        models=tuple(model),
        workers=workers,
        output=output,
        quiet=quiet,
    )
    if dry_run:
        _show_first_prompt(request)
        return
    try:
        played = _play(request)
    except (RunPaused, KeyboardInterrupt) as stopped:
        _tell_how_to_resume(request, stopped)
    _tell_result(played, request)


def _show_first_prompt(request: RunRequest) -> None:
    from lifelong_gym.experiments.prompt import first_prompt

    prompt = first_prompt(request.experiment)
    for message in prompt.messages:
        write(f"== {message['role']}\n{message['content']}\n")
    if prompt.tools:
        write(f"== tools\n{json.dumps(prompt.tools, indent=2, ensure_ascii=False)}")


def _play(request: RunRequest) -> Run:
    return request.experiment.play(request.folder, progress=not request.quiet)


def _tell_how_to_resume(request: RunRequest, stopped: RunPaused | KeyboardInterrupt) -> NoReturn:
    is_paused = isinstance(stopped, RunPaused)
    tell(f"paused: {stopped}" if is_paused else "interrupted: what is finished is recorded")
    tell(f"Resume with:\n  {request.command}")
    if "***" in request.command:
        tell("with the password in the place of ***")
    raise typer.Exit(PAUSED if is_paused else INTERRUPTED) from None


def _tell_result(played: Run, request: RunRequest) -> None:
    from lifelong_gym.runs import report_table

    show(report_table(played))
    write(f"Recorded in {request.folder}")
    if unscored := played.metrics().unscored:
        tell(f"{unscored} unscored, because the system failed: the same command tries them again")
