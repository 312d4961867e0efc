"""`lifelong-gym report`, `lifelong-gym compare` and `lifelong-gym export`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lifelong_gym.cli.console import plain, show, table, write
from lifelong_gym.cli.failures import writing_to
from lifelong_gym.cli.options import OutputFile, examples
from lifelong_gym.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from lifelong_gym.runs import Run
    from lifelong_gym.runs.report import Section


class ReportFormat(StrEnum):
    """`report --format`."""

    table = "table"
    json = "json"
    markdown = "markdown"
    html = "html"


class ExportFormat(StrEnum):
    """`export --format`."""

    jsonl = "jsonl"
    parquet = "parquet"


class CompareFormat(StrEnum):
    """`compare --format`."""

    table = "table"
    json = "json"
    markdown = "markdown"


REPORT_EXAMPLES = examples(
    "report runs/oracle",
    "report runs/oracle runs/idle",
    "report runs/oracle --format json | jq .success_rate",
    "report runs/oracle --format html --output oracle.html",
)
COMPARE_EXAMPLES = examples(
    "compare runs/plain runs/memory",
    "compare runs/plain runs/memory --format json | jq .difference",
)
EXPORT_EXAMPLES = examples(
    "export runs/oracle --output oracle.jsonl",
    "export runs/oracle --output oracle.parquet",
)

_SIDE_BY_SIDE = ("run", "tasks", "scored", "success rate", "95 % interval", "mean turns", "tokens")
_IN_DETAIL = ("By skill", "By status")

_Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")]
_Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DIR", help="The folder of a run; several stand side by side."),
]


def report(
    folders: _Folders,
    format: Annotated[ReportFormat, typer.Option(help="How to write it.")] = ReportFormat.table,
    output: OutputFile = None,
) -> None:
    """Report what a run came to, also while it is being played."""
    if format is ReportFormat.table:
        tables = _tables(folders)
        if output is None:
            show(*tables)
            return
        text = plain(*tables)
    else:
        text = _text(folders, format)
    _deliver(text, output)


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The folder of a run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The folder of another.")],
    format: Annotated[CompareFormat, typer.Option(help="How to write it.")] = CompareFormat.table,
    output: OutputFile = None,
) -> None:
    """Compare two runs of the same tasks, task by task.

    Shows which of the two solved what, the difference of their success rates with its 95 %
    interval, and whether chance explains it (exact McNemar test).
    """
    from lifelong_gym.runs import compare, compare_sections, compare_text

    found = compare(a, b)
    if format is not CompareFormat.table:
        _deliver(compare_text(found, format.value), output)  # type: ignore[arg-type]
        return
    tables = [_section_table(section) for section in compare_sections(found)]
    if output is None:
        show(*tables)
    else:
        _deliver(plain(*tables), output)


def export(
    folder: _Folder,
    format: Annotated[
        ExportFormat | None,
        typer.Option(help="How to write it.", show_default="what --output ends in, else jsonl"),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Export the episodes of a run: one JSON object a line, or one row of a Parquet file."""
    from lifelong_gym.runs import RunStore, export_trajectories

    if output is not None:
        with writing_to(output, "--output"):
            export_trajectories(folder, output, None if format is None else format.value)
        return
    if format is ExportFormat.parquet:
        raise UsageError("--format parquet is no text: add --output FILE")
    with RunStore(folder, read_only=True) as store:
        for trajectory in store.trajectories():
            write(trajectory.model_dump_json())


def _text(folders: Sequence[Path], format: ReportFormat) -> str:
    from lifelong_gym.runs import report

    if len(folders) == 1:
        return report(folders[0], format.value)  # type: ignore[arg-type]
    if format is ReportFormat.markdown:
        return _markdown(folders)
    raise UsageError(f"--format {format} takes one folder, got {len(folders)}")


def _tables(folders: Sequence[Path]) -> list[Table]:
    from lifelong_gym.runs import Run, report_table
    from lifelong_gym.runs.report import sections

    if len(folders) == 1:
        played = Run.load(folders[0])
        shown = [section for section in sections(played) if section.title in _IN_DETAIL]
        return [report_table(played), *map(_section_table, shown)]
    rows = table(*_SIDE_BY_SIDE)
    for folder in folders:
        rows.add_row(*_row(folder, Run.load(folder)))
    return [rows]


def _section_table(section: Section) -> Table:
    rows = table(*section.columns, title=section.title)
    for row in section.rows:
        rows.add_row(*row)
    return rows


def _markdown(folders: Sequence[Path]) -> str:
    from lifelong_gym.runs import Run

    rows = [_SIDE_BY_SIDE, *(_row(folder, Run.load(folder)) for folder in folders)]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(_SIDE_BY_SIDE))
    return "\n".join(lines)


def _row(folder: Path, played: Run) -> tuple[str, ...]:
    from lifelong_gym.runs.report import percent

    figures = played.metrics()
    interval = figures.success_interval
    return (
        str(folder),
        str(figures.tasks),
        str(figures.scored),
        percent(figures.success_rate),
        f"{percent(interval[0])} to {percent(interval[1])}" if interval else "-",
        "-" if figures.mean_turns is None else f"{figures.mean_turns:.2f}",
        f"{figures.tokens.prompt + figures.tokens.completion:,}",
    )


def _deliver(text: str, output: Path | None) -> None:
    if output is None:
        write(text)
        return
    with writing_to(output, "--output"):
        output.write_text(text.removesuffix("\n") + "\n", encoding="utf-8")
