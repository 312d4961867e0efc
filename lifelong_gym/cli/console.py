"""Where the commands write: results to stdout, everything else to stderr.

Texts of tasks and paths are shown as they are: no markup is read in them. Rich leaves out
colours where the output is not a terminal, and ends the program silently where the reader
of a pipe has gone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_PIPE_WIDTH = 10_000  # what is not a screen has no edge to wrap a row at


def table(*columns: str, **settings: Any) -> Table:
    """A table that folds a long word where it has no room, so that nothing is lost."""
    from rich.table import Table

    made = Table(**settings)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def show(*renderables: RenderableType) -> None:
    """Shows tables and texts on stdout."""
    console = _console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    for renderable in renderables:
        console.print(renderable)


def write(text: str) -> None:
    """Writes a text to stdout exactly as it is, with a newline behind it."""
    _console().out(text.removesuffix("\n"), highlight=False)


def tell(text: str, mark: str = "") -> None:
    """Tells the user something on stderr, without passwords.

    Args:
        text: What to tell.
        mark: A word in front, in red where there are colours.
    """
    from rich.text import Text

    from lifelong_gym.runs.described import hide_secrets

    line = Text.assemble((mark, "bold red"), " " if mark else "", hide_secrets(text))
    _console(stderr=True).print(line, soft_wrap=True)


def plain(*renderables: RenderableType) -> str:
    """Tables and texts as they look without colours, for a file."""
    console = _console(width=_PIPE_WIDTH, no_color=True, force_terminal=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable)
    return capture.get()


def _console(**settings: Any) -> Console:
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, **settings)
