"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Protocol

from lifelong_gym.runs.metrics import Window

_WIDTH, _HEIGHT = 640, 200
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin-bottom:2rem}"
    "td,th{border-bottom:1px solid #ddd;padding:.2rem .8rem;text-align:left;vertical-align:top}"
    "svg{border-left:1px solid #999;border-bottom:1px solid #999}"
)


class _Table(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Sequence[str]]: ...


def html_page(title: str, tables: Sequence[_Table], curve: Sequence[Window]) -> str:
    """The page: a title, the success rate along the stream, and the tables.

    Args:
        title: The heading.
        tables: `report.Section`s.
        curve: `Metrics.over_time`.
    """
    body = "\n".join([_curve(curve), *map(_table, tables)])
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _table(table: _Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.columns if cell)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    heading = f"<tr>{head}</tr>\n" if head else ""
    return f"<h2>{escape(table.title)}</h2>\n<table>\n{heading}{rows}\n</table>"


def _curve(curve: Sequence[Window]) -> str:
    points = [
        (point.last, point.cumulative_success_rate)
        for point in curve
        if point.cumulative_success_rate is not None
    ]
    if len(points) < 2:
        return ""
    last = points[-1][0] or 1
    path = " ".join(f"{x * _WIDTH / last:.1f},{_HEIGHT * (1 - y):.1f}" for x, y in points)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        'aria-label="Success rate so far, from 0 to 100 %, along the stream">'
        f'<polyline points="{path}" fill="none" stroke="#06c" stroke-width="2"/></svg>\n'
        "<p>Success rate so far, from 0 to 100 %, along the stream.</p>"
    )
