"""A comparison for programs, for pages and for the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Literal

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.compare import Comparison
from lifelong_gym.runs.report import Section, markdown, percent

CompareFormat = Literal["json", "markdown"]

_SHOWN = 20


def compare_text(comparison: Comparison, format: CompareFormat = "json") -> str:
    """A comparison as JSON or Markdown.

    Raises:
        UsageError: There is no such format.
    """
    writers: dict[str, Callable[[], str]] = {
        "json": lambda: json.dumps(comparison.model_dump(mode="json"), indent=2),
        "markdown": lambda: markdown("Comparison", compare_sections(comparison)),
    }
    if format not in writers:
        raise UsageError(f"format must be one of {', '.join(writers)}, got {format!r}")
    return writers[format]()


def compare_sections(comparison: Comparison) -> list[Section]:
    """The tables of a comparison; empty ones left out."""
    c = comparison
    low, high = c.difference_interval
    summary = [
        ("A", c.a),
        ("B", c.b),
        ("pairs", str(c.pairs)),
        ("success rate of A", percent(c.rate_a)),
        ("success rate of B", percent(c.rate_b)),
        ("B - A", f"{_points(c.difference)} (95 %: {_points(low)} to {_points(high)})"),
        ("p (exact McNemar)", f"{c.p_value:.3g}"),
    ]
    left_out = [
        ("pairs with an unscored episode", c.unscored),
        ("episodes only in A", c.only_in_a),
        ("episodes only in B", c.only_in_b),
    ]
    summary += [(name, str(count)) for name, count in left_out if count]
    cells = [
        ("A solved", str(c.both), str(c.a_only)),
        ("A did not", str(c.b_only), str(c.neither)),
    ]
    settings = [(name, str(old), str(new)) for name, (old, new) in c.settings.items()]
    found = [
        Section("Summary", ("", ""), summary),
        Section("Pairs", ("", "B solved", "B did not"), cells),
        Section("Solved by one alone", ("run", "tasks"), list(_alone(c))),
        Section("Settings that differ", ("setting", "A", "B"), settings),
    ]
    return [section for section in found if section.rows]


def _alone(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for name, tasks in (
        ("A", comparison.solved_by_a_only),
        ("B", comparison.solved_by_b_only),
    ):
        if tasks:
            more = f" and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else ""
            yield name, ", ".join(tasks[:_SHOWN]) + more


def _points(difference: float) -> str:
    """A difference of rates, in percentage points."""
    return f"{100 * difference:+.1f}"
