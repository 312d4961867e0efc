"""What several commands have: arguments, options, examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Reference: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="REFERENCE",
        help="Which tasks: builtin, lifelongagentbench?path=FOLDER, a .jsonl file, ...",
        show_default=False,
    ),
]

EnvId: TypeAlias = Annotated[
    str,
    typer.Option("--env", metavar="ID", help="A registered id, see `lifelong-gym envs`."),
]

EnvArgs: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--env-arg",
        metavar="KEY=VALUE",
        help="An argument of the environment; VALUE is JSON or else a text. Repeatable.",
        show_default=False,
    ),
]

TaskReference: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        metavar="REFERENCE",
        help="Which tasks: builtin, lifelongagentbench?path=FOLDER, a .jsonl file, ...",
        show_default="the environment's, mostly builtin",
    ),
]

Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Play this many tasks at most.", show_default="all"),
]

TaskIds: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--task-id", metavar="ID", help="Play this task only. Repeatable.", show_default=False
    ),
]

Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]

OutputFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to this file.", show_default="stdout"
    ),
]


def examples(*commands: str) -> str:
    """The end of a command's help: `lifelong-gym` commands, not wrapped.

    Args:
        *commands: Without the program's name.
    """
    # A paragraph that begins with a backspace keeps its lines.
    lines = [f"  lifelong-gym {command}" for command in commands]
    return "\n".join(["\b", "For example:", *lines])
