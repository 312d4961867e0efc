"""How a builtin database task is written down: as a question or as a change."""

from __future__ import annotations

from lifelong_gym.backends.database.contract import Cell, Column, Table
from lifelong_gym.tasks.database import DatabaseTask


def table(name: str, columns: dict[str, str], rows: tuple[tuple[Cell, ...], ...]) -> Table:
    """A table.

    Args:
        name: Its name.
        columns: Name to MySQL definition, in order.
        rows: The rows that it starts with.
    """
    defined = tuple(Column(name=column, type=form) for column, form in columns.items())
    return Table(name=name, columns=defined, rows=rows)


def question(
    task_id: str,
    *tables: Table,
    skills: str,
    ask: str,
    sql: str,
    answer: tuple[tuple[Cell, ...], ...],
) -> DatabaseTask:
    """A task that asks for rows.

    Args:
        task_id: Its id, `"theme/what-it-asks"`.
        tables: What the database holds.
        skills: The names of its skills, with blanks between them.
        ask: The instruction; it says columns, order and ties, so that one answer is right.
        sql: The reference solution.
        answer: What the reference gives on a server.
    """
    return DatabaseTask(
        id=task_id,
        instruction=_one_line(ask),
        skills=tuple(sorted(skills.split())),
        source="builtin",
        tables=tables,
        sql=_one_line(sql),
        answer=answer,
    )


def change(task_id: str, *tables: Table, skills: str, ask: str, sql: str) -> DatabaseTask:
    """A task that asks for another state of the tables.

    Args:
        task_id: Its id, `"theme/what-it-asks"`.
        tables: What the database holds at the start.
        skills: The names of its skills, with blanks between them.
        ask: The instruction; it says which rows change and how, so that one state is right.
        sql: The reference solution; it changes at least one row.
    """
    return DatabaseTask(
        id=task_id,
        instruction=_one_line(ask),
        skills=tuple(sorted(skills.split())),
        source="builtin",
        tables=tables,
        sql=_one_line(sql),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
