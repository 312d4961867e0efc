"""`lifelong-gym graph`: build."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lifelong_gym.cli.console import show
from lifelong_gym.cli.options import Quiet, examples

app = typer.Typer(name="graph", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _graph() -> None:
    """Make knowledge graphs ready to play on."""


@app.command(
    "build",
    epilog=examples(
        "graph build freebase.nt --output graphs/freebase",
        "graph build fb15k-237 --output graphs/fb15k",
    ),
)
def build(
    source: Annotated[
        Path, typer.Argument(help="An .nt or .ttl file, or a folder of TSV files; each may be .gz.")
    ],
    output: Annotated[Path, typer.Option(help="The folder to build.", show_default=False)],
    quiet: Quiet = False,
) -> None:
    """Load a graph into a folder that opens in milliseconds."""
    from lifelong_gym.backends.graph import build_graph

    built = build_graph(source, output, progress=not quiet)
    show(f"{built.triples:,} triples, {built.entities:,} entities in {built.folder}")
