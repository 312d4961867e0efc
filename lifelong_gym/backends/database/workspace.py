"""A workspace on any server that speaks MySQL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import pymysql

from lifelong_gym.backends.database import snapshots
from lifelong_gym.backends.database.contract import (
    QueryError,
    Result,
    Snapshot,
    Table,
    Workspace,
)
from lifelong_gym.backends.database.judge import Judge
from lifelong_gym.backends.database.names import Names, literal, quoted
from lifelong_gym.backends.database.session import Session, StatementTimeout
from lifelong_gym.backends.database.streaming import ACCESS_DENIED, interruption, is_lost
from lifelong_gym.errors import BackendError

_INSERT_BYTES = 1 << 20
_TIMEOUT_CODES = frozenset({1969, 3024, 4012})  # MariaDB, MySQL, seekdb
_TIMEOUT_CODE = 3024
_KILLED = frozenset({1317, 1927, 3169})
_LOST_CODE = 2013
_NOT_UTF8 = "The result is not UTF-8: the session's character set was changed."


class MySQLWorkspace(Workspace):
    """One database with an account of its own.

    Args:
        judge: The trusted connection.
        limit_s: How long a statement of the agent may run.
        forget: Called once with the workspace when it is closed.
    """

    def __init__(
        self, judge: Judge, limit_s: float, forget: Callable[[MySQLWorkspace], None]
    ) -> None:
        self._judge, self._limit_s, self._forget = judge, limit_s, forget
        self._account = judge.accounts.take()
        self._session: Session | None = None
        self._is_closed = False

    @property
    def _names(self) -> Names:
        return self._account.names

    def load(self, tables: Sequence[Table]) -> None:
        """Fills the database, over the agent's account: a task's SQL is not trusted either."""
        place = "the account of a new workspace"
        try:
            session = self._session = self._open_first_session()
            for table in tables:
                place = f"table {table.name!r} of the task"
                session.run(_create_statement(table))
                for statement in _insert_statements(table):
                    session.run(statement)
        except pymysql.MySQLError as error:
            label, reason = self._judge.endpoint.label, self._names.leave(str(error.args[-1]))
            raise BackendError(f"{label} refused {place}: {reason}") from error

    def execute(self, statement: str, *, max_bytes: int = 1 << 24) -> Result:
        """Runs one statement as the agent; see `Workspace.execute`."""
        self._check_usable()
        dialect = self._judge.dialect
        for refuse in dialect.refusals:
            refuse(statement)
        sql = self._names.enter(dialect.rewrite(statement))
        try:
            if self._session is None:
                self._session = self._open_session()
            result = self._session.execute(sql, max_bytes)
            if self._session.is_spent:
                self._end_session()
        except StatementTimeout:
            raise self._timeout() from None
        except UnicodeDecodeError:
            self._end_session()
            raise QueryError(_NOT_UTF8) from None
        except pymysql.MySQLError as error:
            raise self._refusal(error) from None
        return Result(tuple(map(self._names.leave_row, result.rows)), result.is_cut)

    def snapshot(self) -> Snapshot:
        """Reads the whole database as a judge; see `Workspace.snapshot`."""
        self._check_usable()
        self._leave_session()
        return snapshots.read(self._judge, self._names)

    def joined_rows(self, table: str) -> list[str] | None:
        """`CONCAT_WS(',', ...)` over every row; see `Workspace.joined_rows`."""
        self._check_usable()
        self._leave_session()
        return snapshots.joined_rows(self._judge, self._names, table)

    def close(self) -> None:
        """Drops the database and its account; twice is fine."""
        if self._is_closed:
            return
        self._is_closed = True
        self._forget(self)
        if self._judge.process != os.getpid():  # the parent's, which still needs it
            if self._session:
                self._session.abandon()
            return
        self._leave_session()
        if not self._judge.is_lost:
            self._judge.accounts.give_back(self._account)

    def _check_usable(self) -> None:
        if self._is_closed:
            raise BackendError("the workspace is closed: create another one")
        if self._judge.process != os.getpid():
            raise BackendError("the workspace belongs to the parent process: create another one")

    # The agent's connection ------------------------------------------------------------

    def _open_session(self) -> Session:
        return Session(self._judge, self._names, self._account.password, self._limit_s)

    def _open_first_session(self) -> Session:
        """An account whose last agent changed the password is replaced."""
        try:
            return self._open_session()
        except pymysql.MySQLError as error:
            if not self._account.is_used or error.args[0] not in ACCESS_DENIED:
                raise
        self._account = self._judge.accounts.replace(self._account)
        return self._open_session()

    def _leave_session(self) -> None:
        """Ends the agent's connection as a client does: the server rolls back and unlocks."""
        session, self._session = self._session, None
        if session:
            session.close()

    def _end_session(self) -> None:
        """Ends the agent's connection from outside, whatever it is doing."""
        session, self._session = self._session, None
        if session:
            session.abandon()
            self._judge.end_connection(session.thread)

    def _timeout(self) -> QueryError:
        self._end_session()
        return QueryError(
            f"The statement ran longer than {self._limit_s:g} s and was stopped.", _TIMEOUT_CODE
        )

    def _refusal(self, error: pymysql.MySQLError) -> QueryError:
        """What the agent is told; raises BackendError where it is the server's failure."""
        if stopped := interruption(error):
            raise stopped
        code = error.args[0] if error.args else 0
        if code in _TIMEOUT_CODES:
            return QueryError(
                f"The statement ran longer than {self._limit_s:g} s and was stopped.",
                _TIMEOUT_CODE,
            )
        if is_lost(error):
            self._end_session()
            self._judge.check_alive()
            return QueryError("Lost connection to MySQL server during query", _LOST_CODE)
        if code in _KILLED:
            self._end_session()
        return QueryError(self._names.leave(str(error.args[1])), code)


def _create_statement(table: Table) -> str:
    columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in table.columns)
    return f"CREATE TABLE {quoted(table.name)} ({columns})"


def _insert_statements(table: Table) -> Iterator[str]:
    """INSERTs of many rows each, none much longer than a packet may be."""
    names = ", ".join(quoted(column.name) for column in table.columns)
    start = f"INSERT INTO {quoted(table.name)} ({names}) VALUES "
    batch: list[str] = []
    size = 0
    for row in table.rows:
        batch.append("(" + ", ".join(map(literal, row)) + ")")
        size += len(batch[-1])
        if size >= _INSERT_BYTES:
            yield start + ", ".join(batch)
            batch, size = [], 0
    if batch:
        yield start + ", ".join(batch)
