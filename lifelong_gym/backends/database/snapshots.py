"""How a judge reads a whole database, whatever an agent left in it."""

from __future__ import annotations

import pymysql

from lifelong_gym.backends.database.contract import Row, Snapshot, TableState
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.backends.database.names import quoted

_NO_SUCH_DATABASE = 1049


def read(judge: Judge, database: str) -> Snapshot:
    """Every table and view of `database`; nothing if an agent dropped it."""
    kinds = _kinds(judge, database)
    statements = []
    for name, kind in kinds.items():
        statements.append(f"SHOW COLUMNS FROM {quoted(name)} FROM {quoted(database)}")
        if kind != "VIEW":
            statements.append(f"SELECT * FROM {quoted(database)}.{quoted(name)}")
    results = iter(judge.run(*statements) if statements else ())
    return {
        name: TableState(
            columns=tuple((str(row[0]), str(row[1])) for row in next(results)),
            rows=() if kind == "VIEW" else next(results),
            kind=kind,
        )
        for name, kind in kinds.items()
    }


def joined_rows(judge: Judge, database: str, table: str) -> list[str] | None:
    """`CONCAT_WS(',', ...)` over every row of `table`; None if there is no such table."""
    if _kinds(judge, database).get(table, "VIEW") == "VIEW":
        return None
    place = f"{quoted(database)}.{quoted(table)}"
    columns = ", ".join(quoted(str(row[0])) for row in judge.run(f"SHOW COLUMNS FROM {place}")[0])
    return [_text(row) for row in judge.run(f"SELECT CONCAT_WS(',', {columns}) FROM {place}")[0]]


def _text(row: Row) -> str:
    return row[0].decode("utf-8", "replace") if isinstance(row[0], bytes) else str(row[0])


def _kinds(judge: Judge, database: str) -> dict[str, str]:
    """Table name to `BASE TABLE` or `VIEW`."""
    try:
        found = judge.run(f"SHOW FULL TABLES FROM {quoted(database)}")[0]
    except pymysql.MySQLError as error:
        if error.args[0] == _NO_SUCH_DATABASE:
            return {}
        raise
    return {str(name): "VIEW" if "VIEW" in kind else "BASE TABLE" for name, kind in found}
