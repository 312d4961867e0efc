"""`lifelong-gym tasks`: list, show, validate."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong_gym.cli.console import show, table, write
from lifelong_gym.cli.failures import FOUND
from lifelong_gym.cli.options import EnvArgs, EnvId, Quiet, Reference, examples
from lifelong_gym.errors import UsageError

if TYPE_CHECKING:
    from lifelong_gym.core import Task
    from lifelong_gym.runs import Finding

_INSTRUCTION_WIDTH = 100
_DEFAULT_ENV = "Database-v0"

app = typer.Typer(name="tasks", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _tasks() -> None:
    """List, show and check tasks."""


@app.command(
    "list",
    epilog=examples("tasks list builtin", "tasks list 'builtin?skills=insert,update&limit=5'"),
)
def list_tasks(reference: Reference, env: EnvId = _DEFAULT_ENV) -> None:
    """List the tasks that a reference names."""
    tasks = _load(reference, env)
    rows = table("id", "skills", "instruction")
    for task in tasks:
        instruction = textwrap.shorten(task.instruction, _INSTRUCTION_WIDTH, placeholder=" ...")
        rows.add_row(task.id, ", ".join(task.skills), instruction)
    show(rows, _count(len(tasks)))


@app.command("show", epilog=examples("tasks show builtin library/new-book"))
def show_task(
    reference: Reference,
    task_id: Annotated[str, typer.Argument(metavar="ID", help="The task's id.")],
    env: EnvId = _DEFAULT_ENV,
) -> None:
    """Show one task: what is asked, what it starts from, its solution."""
    from lifelong_gym.cli.task_view import view

    tasks = _load(reference, env)
    found = next((task for task in tasks if task.id == task_id), None)
    if found is None:
        raise _no_such_task(task_id, [task.id for task in tasks], reference)
    show(*view(found))


@app.command("validate", epilog=examples("tasks validate mine.jsonl --env-arg database=local"))
def validate(
    reference: Reference,
    env: EnvId = _DEFAULT_ENV,
    env_arg: EnvArgs = [],  # noqa: B006 - typer makes a new list for each call
    quiet: Quiet = False,
) -> None:
    """Play every task to see whether it is sound.

    The reference solution must succeed, twice with the same outcome, and doing nothing must
    not. Exits with 1 if a task is not sound.
    """
    from rich.console import Console
    from rich.progress import track

    from lifelong_gym.cli.environment import make_env
    from lifelong_gym.runs import validate_tasks

    with contextlib.closing(make_env(env, reference, env_arg)) as made:
        total = len(made.get_wrapper_attr("task_set"))
        console = Console(stderr=True)
        hidden = quiet or not console.is_terminal
        played = track(
            validate_tasks(made), "validating", total=total, console=console, disable=hidden
        )
        unsound = [finding for finding in played if not finding.is_valid]
    _tell_findings(unsound, total)
    if unsound:
        raise typer.Exit(FOUND)


def _load(reference: str, env_id: str) -> Sequence[Task]:
    from lifelong_gym.cli.environment import make_env

    with contextlib.closing(make_env(env_id, reference)) as env:
        if not env.has_wrapper_attr("task_set"):
            raise UsageError(f"--env {env_id} has no tasks: see `lifelong-gym envs`")
        tasks: Sequence[Task] = env.get_wrapper_attr("task_set")
        return tasks


def _tell_findings(unsound: Iterable[Finding], total: int) -> None:
    rows = table("task", "what is wrong", show_lines=True)
    for finding in unsound:
        rows.add_row(finding.task_id, "\n".join(finding.problems))
    if rows.row_count == 0:
        write(f"{_count(total)}, all sound")
        return
    show(rows, f"{_count(total)}, {rows.row_count} not sound")


def _no_such_task(task_id: str, ids: Sequence[str], reference: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(task_id, ids, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return UsageError(
        f"no task of {reference} has the id {task_id!r}.{hint} "
        f"`lifelong-gym tasks list {shlex.quote(reference)}` lists its {len(ids)}"
    )


def _count(number: int) -> str:
    return "1 task" if number == 1 else f"{number} tasks"
