"""What a command that fails says, and its exit code."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from lifelong_gym.cli.console import tell
from lifelong_gym.errors import LifelongGymError, UsageError

FOUND = 1
"""`tasks validate` found a task that is not sound."""

REFUSED = 2
"""What was asked cannot be done; the message says why. As typer has it for bad options."""

PAUSED = 3
"""The run stopped and can be resumed."""

INTERRUPTED = 130
"""Ctrl-C, as shells have it."""


class CommandGroup(TyperGroup):
    """Commands whose errors are one message on stderr; only bugs show a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was asked for."""
        try:
            return super().invoke(ctx)
        except LifelongGymError as error:
            tell(str(error), "Error:")
            raise typer.Exit(REFUSED) from None
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            tell(f"the output cannot be written: {error.strerror}", "Error:")
            raise typer.Exit(REFUSED) from None
        except KeyboardInterrupt:
            tell("interrupted")
            raise typer.Exit(INTERRUPTED) from None


@contextlib.contextmanager
def writing_to(path: Path, option: str) -> Iterator[None]:
    """Blames `option` where `path` cannot be written.

    Raises:
        UsageError: Says what the system said.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{option} {path} cannot be written: {reason}") from error
