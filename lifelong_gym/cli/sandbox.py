"""`lifelong-gym sandbox`: root filesystems for the operating-system environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lifelong_gym.cli.console import write
from lifelong_gym.cli.options import examples

app = typer.Typer(name="sandbox", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _sandbox() -> None:
    """Make the machines that operating-system tasks are played on."""


@app.command("build", epilog=examples("sandbox build debian12"))
def build(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where; it must be new.")],
    suite: Annotated[str, typer.Option(help="The Debian release.")] = "bookworm",
) -> None:
    """Make a Debian root filesystem with what the paper's tasks need (as root)."""
    from lifelong_gym.backends.sandbox.roots import build_root

    build_root(folder, suite)
    write(f"Play on it with --env-arg rootfs={folder}")
