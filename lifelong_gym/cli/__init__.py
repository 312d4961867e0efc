"""The command line: arguments only. What is done stands in the modules beside this one.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import lifelong_gym
from lifelong_gym.cli import doctor, envs, graph, play, reports, runs, sandbox, tasks
from lifelong_gym.cli.console import write
from lifelong_gym.cli.failures import CommandGroup
from lifelong_gym.cli.options import examples

__all__ = ["app", "main"]

app = typer.Typer(
    cls=CommandGroup,
    name="lifelong-gym",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they show local variables, passwords among them
    rich_markup_mode=None,  # help texts are full of brackets, which markup would swallow
    epilog=examples(
        "run --env Database-v0 --tasks builtin --agent oracle --output runs/first",
        "report runs/first",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("envs", epilog=envs.EXAMPLES)(envs.list_envs)
app.command("doctor", epilog=doctor.EXAMPLES)(doctor.doctor)
app.add_typer(tasks.app)
app.add_typer(graph.app)
app.add_typer(sandbox.app)
app.command("play", epilog=play.EXAMPLES)(play.play)
app.command("run", epilog=runs.EXAMPLES)(runs.run)
app.command("report", epilog=reports.REPORT_EXAMPLES)(reports.report)
app.command("compare", epilog=reports.COMPARE_EXAMPLES)(reports.compare)
app.command("export", epilog=reports.EXPORT_EXAMPLES)(reports.export)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        write(f"lifelong-gym {lifelong_gym.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Language agents that learn over a stream of tasks on real systems."""


def main() -> None:
    """Runs the program `lifelong-gym`."""
    if sys.stdout is None:  # closed by the shell
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the program
    app(prog_name="lifelong-gym")
