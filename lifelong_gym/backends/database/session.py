"""An agent's connection: its account, its session, its statements, within bounds."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pymysql

from lifelong_gym.backends.database.contract import Result, Row
from lifelong_gym.backends.database.dialects import Dialect
from lifelong_gym.backends.database.drivers import Endpoint
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.backends.database.names import Names
from lifelong_gym.backends.database.streaming import StreamingCursor

_DRAIN_S = 5.0
_GRACE_S = 2.0
"""How long after its own limit the server may take to stop a statement."""


class StatementTimeout(Exception):
    """A statement was still running past its limit."""


class Session:
    """One connection of one workspace's account.

    Args:
        judge: Stops what runs too long or returns too much.
        names: The database and the account.
        password: The account's.
        limit_s: How long a statement may run.

    Attributes:
        thread: The server's number of the connection.
        is_spent: Whether the connection cannot run another statement.
    """

    def __init__(self, judge: Judge, names: Names, password: str, limit_s: float) -> None:
        self._judge, self._limit_s = judge, limit_s
        endpoint, dialect = judge.endpoint, judge.dialect
        self._connection = _connect(endpoint, dialect, names, password, limit_s)
        self.is_spent = False
        self.thread = int(self._connection.thread_id())  # type: ignore[no-untyped-call]

    def execute(self, sql: str, max_bytes: int) -> Result:
        """Runs one statement and reads at most about `max_bytes` of its rows.

        Raises:
            pymysql.MySQLError: The server refused it, or the connection is lost.
            StatementTimeout: It ran too long; the connection cannot be used any more.
        """
        deadline = time.monotonic() + self._limit_s + _GRACE_S
        cursor = StreamingCursor(self._connection)
        try:
            cursor.execute(sql.encode("utf-8", "replace").decode())
            result = _read(cursor, max_bytes, deadline)
            if result.is_cut:
                self._drop_the_rest(cursor)
            return result
        except (pymysql.MySQLError, StatementTimeout, UnicodeDecodeError) as error:
            cursor.forget()
            if isinstance(error, pymysql.MySQLError) and time.monotonic() >= deadline:
                raise StatementTimeout from None
            raise

    def run(self, sql: str) -> None:
        """Runs one statement of the task."""
        with self._connection.cursor() as cursor:
            cursor.execute(sql)

    def _drop_the_rest(self, cursor: StreamingCursor) -> None:
        """Stops a statement whose rows are not wanted; the session stays, if that is quick."""
        self._judge.stop_statement(self.thread)
        patience = time.monotonic() + _DRAIN_S
        with contextlib.suppress(pymysql.MySQLError):  # "Query execution was interrupted"
            while cursor.fetchone() is not None or cursor.nextset():
                if time.monotonic() > patience:  # MariaDB looks up every 65,536 rows only
                    cursor.forget()
                    self.is_spent = True
                    return
        # A stop that came after the last row would hit the agent's next statement instead.
        with contextlib.suppress(pymysql.MySQLError):
            self.run("SELECT 1")

    def close(self) -> None:
        """Says goodbye to the server, if it can still be reached."""
        if self._connection.open:
            self._connection.close()

    def abandon(self) -> None:
        """Lets go of the socket and nothing else."""
        if self._connection.open:
            self._connection._force_close()  # type: ignore[attr-defined]


def _connect(
    endpoint: Endpoint, dialect: Dialect, names: Names, password: str, limit_s: float
) -> pymysql.Connection[Any]:
    return pymysql.connect(
        **endpoint.options,
        user=names.account,
        password=password,
        database=names.database,
        charset="utf8mb4",
        collation=dialect.collation,
        init_command=f"{dialect.session(limit_s)}, autocommit=1",
        autocommit=None,  # the command above says it without a round trip of its own
        connect_timeout=10,
        read_timeout=limit_s + _GRACE_S,
        write_timeout=limit_s + _GRACE_S,
    )


def _read(cursor: StreamingCursor, max_bytes: int, deadline: float) -> Result:
    """The rows of all result sets: a procedure may return several."""
    rows: list[Row] = []
    size = 0
    while True:
        if time.monotonic() > deadline:  # a procedure may return empty sets for ever
            raise StatementTimeout
        while (row := cursor.fetchone()) is not None:
            if size >= max_bytes:
                return Result(tuple(rows), is_cut=True)
            if time.monotonic() > deadline:
                raise StatementTimeout
            rows.append(row)
            size += len(repr(row))
        if not cursor.nextset():
            return Result(tuple(rows))
