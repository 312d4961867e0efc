"""How a judge reads a whole database, whatever an agent left in it."""

from __future__ import annotations

import time

import pymysql

from lifelong_gym.backends.database.contract import Row, Snapshot, TableState
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.backends.database.names import Names, literal, quoted
from lifelong_gym.backends.database.streaming import TooLarge

MOST_BYTES = 1 << 26
"""About how many bytes of rows a snapshot holds; what is more is cut, and marked so."""

MOST_TABLES = 200
"""How many tables are read; where there are more, all are marked as cut."""

_WITHIN_S = 4.0
"""How long reading may take: an agent can write columns that take hours to compute."""

_NO_SUCH_DATABASE = 1049


def read(judge: Judge, names: Names, *, most_bytes: int = MOST_BYTES) -> Snapshot:
    """Every table and view of a workspace, under its agent's names; nothing if it is gone."""
    database = names.database
    kinds = _kinds(judge, database)
    if len(kinds) > MOST_TABLES:
        state = {name: TableState((), (), kind, is_cut=True) for name, kind in kinds.items()}
        return {names.leave(name): table for name, table in state.items()}
    deadline = time.monotonic() + _WITHIN_S
    try:
        state = _read_together(judge, database, kinds, most_bytes)
    except (pymysql.MySQLError, TooLarge):  # an agent left something odd
        state = _read_each(judge, database, kinds, most_bytes, deadline)
    definitions = _definitions(judge, database) if "VIEW" in kinds.values() else {}
    return {
        names.leave(name): TableState(
            columns=table.columns,
            rows=tuple(map(names.leave_row, table.rows)),
            kind=table.kind,
            is_cut=table.is_cut,
            definition=names.leave(definitions.get(name, "")),
        )
        for name, table in state.items()
    }


def _read_together(judge: Judge, database: str, kinds: dict[str, str], most_bytes: int) -> Snapshot:
    """One round trip for all tables: what a task's own tables need."""
    statements = [judge.dialect.limited(_WITHIN_S)]
    for name, kind in kinds.items():
        place = _place(database, name)
        statements.append(f"SHOW COLUMNS FROM {place}")
        statements += [] if kind == "VIEW" else [f"SELECT * FROM {place}"]
    statements.append(judge.dialect.judge_session())
    results = iter(judge.read(*statements, most_bytes=most_bytes)[1:])
    return {
        name: TableState(
            columns=_columns(next(results)),
            rows=() if kind == "VIEW" else next(results),
            kind=kind,
        )
        for name, kind in kinds.items()
    }


def _read_each(
    judge: Judge, database: str, kinds: dict[str, str], most_bytes: int, deadline: float
) -> Snapshot:
    """Table by table: one that cannot be read, a broken view for example, stays empty."""
    state: Snapshot = {}
    for name, kind in kinds.items():
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            state[name] = TableState((), (), kind, is_cut=True)
            continue
        judge.run(judge.dialect.limited(left_s))
        state[name] = _read_one(judge, _place(database, name), kind, most_bytes)
        most_bytes -= sum(len(repr(row)) for row in state[name].rows)
    judge.run(judge.dialect.judge_session())
    return state


def _read_one(judge: Judge, place: str, kind: str, most_bytes: int) -> TableState:
    columns: tuple[tuple[str | None, ...], ...] = ()
    try:
        columns = _columns(judge.run(f"SHOW COLUMNS FROM {place}")[0])
        rows = () if kind == "VIEW" else judge.read(f"SELECT * FROM {place}", most_bytes=most_bytes)
    except TooLarge as error:
        return TableState(columns, error.rows, kind, is_cut=True)
    except pymysql.MySQLError:
        return TableState(columns, (), kind, is_cut=kind != "VIEW")
    return TableState(columns, rows[0] if rows else (), kind)


def joined_rows(judge: Judge, names: Names, table: str) -> list[str] | None:
    """`CONCAT_WS(',', ...)` over every row of `table`; None if there is no such table."""
    if _kinds(judge, names.database).get(table, "VIEW") == "VIEW":
        return None
    place = _place(names.database, table)
    columns = ", ".join(quoted(str(row[0])) for row in judge.run(f"SHOW COLUMNS FROM {place}")[0])
    select = f"SELECT CONCAT_WS(',', {columns}) FROM {place}"
    judge.run(judge.dialect.limited(_WITHIN_S))
    try:
        rows = judge.read(select, most_bytes=MOST_BYTES)[0]
    except TooLarge as error:
        rows = error.rows
    except pymysql.MySQLError:  # a table that cannot be read equals none
        return None
    finally:
        judge.run(judge.dialect.judge_session())
    return [names.leave(_text(row)) for row in rows]


def _text(row: Row) -> str:
    return row[0].decode("utf-8", "replace") if isinstance(row[0], bytes) else str(row[0])


def _place(database: str, table: str) -> str:
    return f"{quoted(database)}.{quoted(table)}"


def _columns(described: tuple[Row, ...]) -> tuple[tuple[str | None, ...], ...]:
    return tuple(tuple(None if v is None else str(v) for v in row) for row in described)


def _definitions(judge: Judge, database: str) -> dict[str, str]:
    """The SELECT of each view; none is run."""
    question = (
        "SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS "
        f"WHERE TABLE_SCHEMA = {literal(database)}"
    )
    return {str(name): str(definition) for name, definition in judge.run(question)[0]}


def _kinds(judge: Judge, database: str) -> dict[str, str]:
    """Table name to `BASE TABLE` or `VIEW`."""
    try:
        found = judge.run(f"SHOW FULL TABLES FROM {quoted(database)}")[0]
    except pymysql.MySQLError as error:
        if error.args[0] == _NO_SUCH_DATABASE:
            return {}
        raise
    return {str(name): "VIEW" if "VIEW" in kind else "BASE TABLE" for name, kind in found}
