"""How far a run is, on stderr."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

Progress: TypeAlias = "bool | Literal['force']"
"""Whether to show a bar: only on a terminal, or whatever stderr is."""


@contextlib.contextmanager
def progress_bar(
    show: Progress, outcomes: Iterable[bool | None], remaining: int
) -> Iterator[Callable[[bool | None], None]]:
    """Shows a bar with the success rate and the time that remains.

    Args:
        show: Whether to show it.
        outcomes: The verdicts of the episodes that are recorded already.
        remaining: How many episodes are to come.

    Yields:
        A function to call with the verdict of each episode, None for an unscored one.
    """
    if not show:
        yield lambda outcome: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, force_terminal=True if show == "force" else None)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    verdicts = list(outcomes)
    with Bar(*columns, console=console, disable=not console.is_terminal) as bar:
        total = len(verdicts) + remaining
        shown = bar.add_task(_rate(verdicts), total=total, completed=len(verdicts))

        def advance(outcome: bool | None) -> None:
            verdicts.append(outcome)
            bar.update(shown, advance=1, description=_rate(verdicts))

        yield advance


def _rate(verdicts: list[bool | None]) -> str:
    scored = [verdict for verdict in verdicts if verdict is not None]
    rate = f"{sum(scored) / len(scored):.1%}" if scored else "-"
    unscored = len(verdicts) - len(scored)
    return f"solved {rate}" + (f", {unscored} unscored" if unscored else "")
