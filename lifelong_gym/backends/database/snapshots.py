"""How a judge reads a whole database, whatever an agent left in it."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator

import pymysql

from lifelong_gym.backends.database.contract import Row, Snapshot, TableState
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.backends.database.names import Names, literal, quoted
from lifelong_gym.backends.database.streaming import TooLarge

MOST_BYTES = 1 << 26
"""About how many bytes of rows a snapshot holds; what is more is cut, and marked so."""
MOST_TABLES = 500
"""How many tables are read; those after them are marked as cut."""
MOST_S = 2.0
"""How long reading may take: a task's own tables need milliseconds, an agent's may be slow."""

_NO_SUCH_DATABASE = 1049
_COLUMN = re.compile(r"\s*`((?:[^`]|``)+)` (.*?),?$")
_COUNTER = re.compile(r" AUTO_INCREMENT ?= ?\d+")  # moves with statements that fail, too


def read(judge: Judge, names: Names, *, most_bytes: int = MOST_BYTES) -> Snapshot:
    """Every table and view of a workspace, under its agent's names; nothing if it is gone."""
    database = names.database
    deadline = time.monotonic() + MOST_S
    kinds = _kinds(judge, database)
    read = dict(itertools.islice(kinds.items(), MOST_TABLES))
    try:
        state = _read_together(judge, database, read, most_bytes)
    except (pymysql.MySQLError, TooLarge):  # an agent left something odd
        state = _read_each(judge, database, read, most_bytes, deadline)
    state |= {name: _unread(kind) for name, kind in kinds.items() if name not in state}
    definitions = _definitions(judge, database) if "VIEW" in kinds.values() else {}
    return {
        names.leave(name): TableState(
            columns=table.columns,
            rows=tuple(map(names.leave_row, table.rows)),
            kind=table.kind,
            is_cut=table.is_cut,
            definition=names.leave(definitions.get(name, table.definition)),
        )
        for name, table in state.items()
    }


def _unread(kind: str) -> TableState:
    return TableState((), (), kind, is_cut=kind != "VIEW")


def _read_together(judge: Judge, database: str, kinds: dict[str, str], most_bytes: int) -> Snapshot:
    """One round trip for all tables: what a task's own tables need."""
    statements = []
    for name, kind in kinds.items():
        place = _place(database, name)
        statements.append(_describing(place, kind))
        statements += [] if kind == "VIEW" else [f"SELECT * FROM {place}"]
    results: Iterator[tuple[Row, ...]] = iter(())
    if statements:
        results = iter(judge.read(*statements, most_bytes=most_bytes, within_s=MOST_S / 2))
    return {
        name: _state(kind, next(results), () if kind == "VIEW" else next(results))
        for name, kind in kinds.items()
    }


def _read_each(
    judge: Judge, database: str, kinds: dict[str, str], most_bytes: int, deadline: float
) -> Snapshot:
    """Table by table: one that cannot be read, a broken view for example, stays empty."""
    state: Snapshot = {}
    for name, kind in kinds.items():
        left_s = deadline - time.monotonic()
        if left_s <= 0 or most_bytes <= 0:
            break
        described: tuple[Row, ...] = ()
        rows: tuple[Row, ...] = ()
        is_cut = False
        try:
            described = judge.run(_describing(_place(database, name), kind))[0]
            if kind != "VIEW":
                select = f"SELECT * FROM {_place(database, name)}"
                rows = judge.read(select, most_bytes=most_bytes, within_s=left_s)[0]
        except TooLarge as error:
            rows, is_cut = error.rows, True
        except pymysql.MySQLError:
            is_cut = kind != "VIEW"
        most_bytes -= sum(len(repr(row)) for row in rows)
        state[name] = _state(kind, described, rows, is_cut=is_cut)
    return state


def joined_rows(judge: Judge, names: Names, table: str) -> list[str] | None:
    """`CONCAT_WS(',', ...)` over every row of `table`; None if there is no such table."""
    if _kinds(judge, names.database).get(table, "VIEW") == "VIEW":
        return None
    place = _place(names.database, table)
    columns = ", ".join(quoted(str(row[0])) for row in judge.run(f"SHOW COLUMNS FROM {place}")[0])
    select = f"SELECT CONCAT_WS(',', {columns}) FROM {place}"
    try:
        rows = judge.read(select, most_bytes=MOST_BYTES, within_s=MOST_S)[0]
    except TooLarge as error:
        rows = error.rows
    except pymysql.MySQLError:  # a table that cannot be read equals none
        return None
    return [names.leave(_text(row)) for row in rows]


def _text(row: Row) -> str:
    return row[0].decode("utf-8", "replace") if isinstance(row[0], bytes) else str(row[0])


def _place(database: str, table: str) -> str:
    return f"{quoted(database)}.{quoted(table)}"


def _describing(place: str, kind: str) -> str:
    """What says how a table is made; SHOW COLUMNS says it too, at ten times the cost."""
    return f"SHOW COLUMNS FROM {place}" if kind == "VIEW" else f"SHOW CREATE TABLE {place}"


def _state(
    kind: str, described: tuple[Row, ...], rows: tuple[Row, ...], *, is_cut: bool = False
) -> TableState:
    if kind == "VIEW" or not described:
        shown = tuple((str(row[0]), str(row[1])) for row in described)
        return TableState(shown, rows, kind, is_cut)
    # Line by line: servers escape line breaks in names' comments and defaults.
    columns: list[tuple[str, str]] = []
    rest: list[str] = []
    for line in str(described[0][1]).split("\n")[1:]:
        if column := _COLUMN.match(line):
            columns.append((column[1].replace("``", "`"), column[2]))
        else:
            rest.append(_COUNTER.sub("", line).strip().rstrip(","))
    return TableState(tuple(columns), rows, kind, is_cut, "\n".join(rest))


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
