"""A task as a person reads it: `tasks show`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.table import Table as RichTable
from rich.text import Text

from lifelong_gym.backends.database.contract import Table
from lifelong_gym.core import Task

if TYPE_CHECKING:
    from rich.console import RenderableType

_ROWS = 20
_TITLES = {"sql": "Reference solution"}
_WHERE_NONE = {"answer": "none: the final state is judged"}


def view(task: Task) -> Iterator[RenderableType]:
    """What to show of `task`: what every task has, then each field of its domain."""
    yield Text(task.id, style="bold")
    for name in ("instruction", "skills", "source", "split"):
        value = getattr(task, name)
        if value:
            yield from _part(name, value if isinstance(value, str) else ", ".join(value))
    for name, field in type(task).model_fields.items():
        value = getattr(task, name)
        if name not in Task.model_fields and (name in _WHERE_NONE or value != field.default):
            yield from _field(name, value)


def _field(name: str, value: Any) -> Iterator[RenderableType]:
    if value is None:
        yield from _part(name, _WHERE_NONE.get(name, "none"))
    elif isinstance(value, tuple) and value and isinstance(value[0], Table):
        yield Text(f"\n{_title(name)}", style="bold")
        yield from map(_table, value)
    else:
        yield from _part(name, value if isinstance(value, str) else _lines(value))


def _part(name: str, text: str) -> Iterator[RenderableType]:
    yield Text(f"\n{_title(name)}", style="bold")
    yield Text(text)


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("_", " ").capitalize())


def _lines(value: Any) -> str:
    """JSON, a list with one element a line."""
    elements = value if isinstance(value, list | tuple) else [value]
    return "\n".join(json.dumps(each, ensure_ascii=False, default=str) for each in elements)


def _table(table: Table) -> RichTable:
    shown = RichTable(title=table.name, title_justify="left")
    for column in table.columns:
        shown.add_column(f"{column.name}\n{column.type}", overflow="fold")
    for row in table.rows[:_ROWS]:
        shown.add_row(*("NULL" if cell is None else str(cell) for cell in row))
    if left := len(table.rows) - _ROWS:
        shown.caption = f"and {left} rows more" if left > 0 else None
    return shown
