"""`lifelong-gym run`."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from lifelong_gym.cli.console import show, tell, write
from lifelong_gym.cli.failures import INTERRUPTED, PAUSED, writing_to
from lifelong_gym.cli.options import EnvArgs, Quiet, examples
from lifelong_gym.cli.request import RunRequest
from lifelong_gym.errors import RunPaused

if TYPE_CHECKING:
    from lifelong_gym.runs import Run


EXAMPLES = examples(
    "run --env Database-v0 --tasks builtin --agent oracle --output runs/oracle",
    "run --env Database-v0 --tasks mine.jsonl --agent scripted:actions.jsonl --limit 10",
    "run --env Database-v0 --agent idle --env-arg database=local --env-arg max_turns=5",
)


class Order(StrEnum):
    """`--order`."""

    sequential = "sequential"
    shuffle = "shuffle"


_EnvId = Annotated[str, typer.Option("--env", metavar="ID", help="See `lifelong-gym envs`.")]
_Agent = Annotated[
    str, typer.Option("--agent", metavar="AGENT", help="oracle, idle or scripted:FILE.")
]
_Tasks = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        metavar="REFERENCE",
        help="Which tasks: builtin, lifelongagentbench?path=FOLDER, a .jsonl file, ...",
        show_default="the environment's, mostly builtin",
    ),
]
_Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Play this many tasks at most.", show_default="all"),
]
_TaskIds = Annotated[
    list[str],
    typer.Option(
        "--task-id", metavar="ID", help="Play this task only. Repeatable.", show_default=False
    ),
]
_Order = Annotated[Order, typer.Option(help="In the order of the task set, or shuffled by seed.")]
_Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="Decides the shuffled order and every episode.")
]
_Attempts = Annotated[
    int, typer.Option(min=1, metavar="N", help="How many times each task is played.")
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
    env: _EnvId,
    agent: _Agent,
    tasks: _Tasks = None,
    limit: _Limit = None,
    task_id: _TaskIds = [],  # noqa: B006 - typer makes a new list for each call
    order: _Order = Order.sequential,
    seed: _Seed = 0,
    attempts: _Attempts = 1,
    env_arg: EnvArgs = [],  # noqa: B006
    output: _Output = None,
    quiet: Quiet = False,
) -> None:
    """Play a stream of tasks and record it.

    The same command again resumes: what is finished is kept, whatever happens. Going on with
    other settings is refused where they would change results; a larger --limit is fine.
    Exits with 3 if the run was paused.
    """
    request = RunRequest(
        env=env,
        agent=agent,
        tasks=tasks,
        limit=limit,
        task_ids=tuple(task_id),
        order=order.value,
        seed=seed,
        attempts=attempts,
        env_args=tuple(env_arg),
        output=output,
        quiet=quiet,
    )
    try:
        played = _play(request)
    except (RunPaused, KeyboardInterrupt) as stopped:
        _tell_how_to_resume(request, stopped)
    _tell_result(played, request)


def _play(request: RunRequest) -> Run:
    from lifelong_gym.runs import run_stream

    with contextlib.closing(request.stack()) as agent:
        with writing_to(request.folder, "--output"):
            request.folder.mkdir(parents=True, exist_ok=True)
        return run_stream(agent, request.folder, progress=not request.quiet)


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
