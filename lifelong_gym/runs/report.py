"""report: a run's metrics for programs, for pages and for the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.html import html_page
from lifelong_gym.runs.metrics import Metrics
from lifelong_gym.runs.run import Run

if TYPE_CHECKING:
    from rich.table import Table

Format = Literal["json", "markdown", "html"]


@dataclass(frozen=True)
class Section:
    """A table of a report.

    Attributes:
        title: What it shows.
        columns: The heads of its columns.
        rows: Its cells, as text.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def report(folder: Path | str, format: Format = "json") -> str:
    """The report of a run, also while it is being played.

    Args:
        folder: The output folder of the run.
        format: `"json"`, `"markdown"` or `"html"`.

    Raises:
        UsageError: There is no run in `folder`, or no such format.
    """
    writers: dict[str, Callable[[Run], str]] = {
        "json": lambda run: json.dumps(report_data(run), indent=2, ensure_ascii=False),
        "markdown": lambda run: markdown(_title(run), sections(run)),
        "html": lambda run: html_page(_title(run), sections(run), run.metrics().over_time),
    }
    if format not in writers:
        raise UsageError(f"format must be one of {', '.join(writers)}, got {format!r}")
    return writers[format](Run.load(folder))


def report_data(run: Run) -> dict[str, Any]:
    """The report as JSON values: the metrics, the backend and the settings."""
    return {
        **run.metrics().model_dump(mode="json"),
        "backend": None if run.backend is None else dict(run.backend),
        "settings": dict(run.settings),
    }


def report_table(run: Run) -> Table:
    """The summary of a run for the terminal, to print with rich."""
    from rich.table import Table

    summary = sections(run)[0]
    table = Table(title=_title(run), show_header=False)
    for row in summary.rows:
        table.add_row(*row)
    return table


def sections(run: Run) -> list[Section]:
    """The tables of a report: summary, skills, statuses, time, settings; empty ones left out."""
    metrics = run.metrics()
    skills = [
        (name, str(skill.tasks), str(skill.scored), percent(skill.success_rate))
        for name, skill in metrics.by_skill.items()
    ]
    statuses = [(name, str(count)) for name, count in metrics.by_status.items()]
    settings = [(name, str(value)) for name, value in run.settings.items()]
    found = [
        Section("Summary", ("", ""), list(_summary(metrics, run.backend))),
        Section("By skill", ("skill", "tasks", "scored", "success rate"), skills),
        Section("By status", ("status", "tasks"), statuses),
        Section("Over time", ("tasks", "scored", "success rate", "so far"), _points(metrics)),
        Section("Settings", ("setting", "value"), settings),
    ]
    return [section for section in found if section.rows]


def percent(rate: float | None) -> str:
    """A rate for people; a dash where nothing is scored."""
    return "-" if rate is None else f"{rate:.1%}"


def _title(run: Run) -> str:
    return f"Run {run.path.name}" if run.path else "Run"


def _summary(metrics: Metrics, backend: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    interval = metrics.success_interval
    around = f" (95 %: {percent(interval[0])} to {percent(interval[1])})" if interval else ""
    yield "tasks", str(metrics.tasks)
    yield "scored", str(metrics.scored)
    yield "unscored", str(metrics.unscored)
    yield "success rate", percent(metrics.success_rate) + around
    yield "mean turns", "-" if metrics.mean_turns is None else f"{metrics.mean_turns:.2f}"
    yield "prompt tokens", f"{metrics.tokens.prompt:,}"
    yield "completion tokens", f"{metrics.tokens.completion:,}"
    for k, rate in metrics.pass_at.items():
        if k.bit_count() == 1 or k == max(metrics.pass_at):  # 1, 2, 4, ... and the last
            yield f"pass@{k}", percent(rate)
    if backend:
        name, version = str(backend["name"]), str(backend["version"])
        yield "backend", version if version.startswith(name) else f"{name}: {version}"


def _points(metrics: Metrics) -> list[tuple[str, ...]]:
    return [
        (
            f"{point.first} to {point.last}",
            str(point.scored),
            percent(point.success_rate),
            percent(point.cumulative_success_rate),
        )
        for point in metrics.over_time
    ]


def markdown(title: str, tables: Sequence[Section]) -> str:
    """A page of tables."""
    return "\n\n".join([f"# {title}", *map(_markdown_table, tables)]) + "\n"


def _markdown_table(section: Section) -> str:
    def line(cells: Sequence[str]) -> str:
        escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
        return f"| {' | '.join(escaped)} |"

    rule = f"|{'---|' * len(section.columns)}"
    rows = [line(row) for row in section.rows]
    return "\n".join([f"## {section.title}\n", line(section.columns), rule, *rows])
