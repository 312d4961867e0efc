"""`lifelong-gym play`."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer

from lifelong_gym.cli.console import show, tell, write
from lifelong_gym.cli.failures import PAUSED
from lifelong_gym.cli.options import EnvArgs, Limit, TaskIds, TaskReference, examples
from lifelong_gym.errors import RunPaused

EXAMPLES = examples(
    "play --env Database-v0",
    "play --env Database-v0 --tasks mine.jsonl --task-id first --output runs/me",
)


_EnvId = Annotated[str, typer.Option("--env", metavar="ID", help="See `lifelong-gym envs`.")]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Record it here, and go on where you stopped.",
        show_default="not recorded",
    ),
]


def play(
    env: _EnvId = "Database-v0",
    tasks: TaskReference = None,
    task_id: TaskIds = [],  # noqa: B006 - typer makes a new list for each call
    limit: Limit = None,
    env_arg: EnvArgs = [],  # noqa: B006
    output: _Output = None,
) -> None:
    """Play tasks yourself.

    You see what an agent sees, choose an action by its number and type what goes with it;
    :help says more. With --env-arg action_format=text you type whole actions, as a language
    model does.
    """
    from lifelong_gym.cli.environment import make_env
    from lifelong_gym.cli.person import Left, PersonAgent
    from lifelong_gym.runs import report_table, run_stream
    from lifelong_gym.wrappers import TaskStream

    given = {pair.partition("=")[0] for pair in env_arg}
    pairs = [*env_arg, *(["action_format=tools"] if "action_format" not in given else [])]
    _use_line_editing()
    with contextlib.closing(make_env(env, tasks, pairs)) as made:
        stream = TaskStream(made, limit=limit, task_ids=task_id or None)
        try:
            played = run_stream(PersonAgent(stream, input, write), output)
        except RunPaused as stopped:
            tell(f"stopped: {stopped}")
            if output is not None:
                tell("the same command goes on with the task that you left")
            if isinstance(stopped, Left):
                return
            raise typer.Exit(PAUSED) from None
    show(report_table(played))


def _use_line_editing() -> None:
    """Arrow keys and a history of what was typed, where there is a terminal."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):  # some builds of Python have none
            importlib.import_module("readline")
