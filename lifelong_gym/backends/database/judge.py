"""The trusted connection: makes workspaces, reads them, removes them.

No text of an agent or a task runs here, only statements built from quoted names; so it may
send several statements in one round trip, which an agent's connection may not.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import secrets
import threading
import time
from collections.abc import Sequence
from typing import Any

import pymysql
from pymysql.constants import CLIENT
from pymysql.cursors import SSCursor

from lifelong_gym.backends.database.contract import Row
from lifelong_gym.backends.database.dialects import Dialect, dialect_of
from lifelong_gym.backends.database.drivers import Endpoint
from lifelong_gym.backends.database.names import Names, literal, quoted
from lifelong_gym.backends.database.streaming import TooLarge, interruption, is_lost, rows_within
from lifelong_gym.errors import BackendError, BackendUnavailableError

PREFIX = "lifelonggym"
"""What the name of every database and account begins with that this package makes."""

_NAME = re.compile(PREFIX + r"([0-9a-f]{10})d[0-9a-f]{6}")
_ENDED_WITHIN_S = 3.0
_KILLED_WITHIN_S = 3.0
_ANSWERS_WITHIN_S = 120
_ACCESS_DENIED = frozenset({1044, 1045, 1142, 1227, 1396, 1410})
_NO_SUCH_THREAD = 1094
_CANNOT_CREATE_USER = 1396  # what seekdb says to one of two that create accounts at once
_MANY_TABLES = 100
_SWEPT_WITHIN_S = 30.0
_ATTEMPTS = 8


class Judge:
    """One connection to a server as an account that may make databases and accounts.

    Args:
        endpoint: The server.

    Raises:
        BackendUnavailableError: The server does not let this account in.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.process = os.getpid()
        self._id = secrets.token_hex(5)
        self._made = 0
        self._sweeps: list[threading.Thread] = []
        self.is_lost = False
        self._connection = self._connect()
        self.dialect = self._prepare()

    def _connect(self, answers_within_s: float = _ANSWERS_WITHIN_S) -> pymysql.Connection[Any]:
        try:
            return pymysql.connect(
                **self.endpoint.options,
                user=self.endpoint.user,
                password=self.endpoint.password,
                client_flag=CLIENT.MULTI_STATEMENTS,
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=10,
                read_timeout=answers_within_s,
            )
        except (pymysql.MySQLError, OSError, RuntimeError) as error:
            reason = error.args[-1] if error.args else error
            if stopped := interruption(error):
                raise stopped from None
            denied = bool(error.args) and error.args[0] in _ACCESS_DENIED
            trouble = (
                f"does not let user {self.endpoint.user!r} in" if denied else "does not answer"
            )
            raise BackendUnavailableError(f"{self.endpoint.label} {trouble}: {reason}") from None

    def _prepare(self) -> Dialect:
        """Sets the session up and removes what killed processes left on the server."""
        dialect = self._prepare_session()
        if self.endpoint.setup:
            self.run(*self.endpoint.setup)
        for (name,) in self.run(f"SHOW DATABASES LIKE '{PREFIX}%'")[0]:
            if (found := _NAME.fullmatch(name)) and self._is_abandoned(found[1]):
                self.remove(self._names_of(name))
        return dialect

    def _prepare_session(self) -> Dialect:
        """The lock tells other processes that this one lives, and its databases with it."""
        dialect = dialect_of(str(self.run("SELECT VERSION()")[0][0][0]))
        self.run(dialect.judge_session(), self._living())
        return dialect

    def _living(self) -> str:
        return f"SELECT GET_LOCK('{PREFIX}{self._id}', 0)"

    def _is_abandoned(self, maker: str) -> bool:
        """Whether the `Judge` that made a database is gone: each holds a lock while it lives."""
        return bool(self.run(f"SELECT IS_FREE_LOCK('{PREFIX}{maker}')")[0][0][0])

    def run(self, *statements: str) -> list[tuple[Row, ...]]:
        """The rows of each statement, in one round trip.

        Raises:
            pymysql.MySQLError: The server refused one; those after it were not run.
            BackendError: The server is gone.
        """
        try:
            return self._run(statements)
        except pymysql.MySQLError as error:
            if not self._comes_back(error):
                raise self._blame(error) from error
        try:
            return self._run(statements)
        except pymysql.MySQLError as error:
            raise self._blame(error) from error

    def _run(self, statements: Sequence[str]) -> list[tuple[Row, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(";\n".join(statements))
            results = [cursor.fetchall()]
            while cursor.nextset():
                results.append(cursor.fetchall())
            return results

    def _comes_back(self, error: pymysql.MySQLError) -> bool:
        """Whether the server let this judge in again: on seekdb an agent can end sessions."""
        if interruption(error) or (self._connection.open and not is_lost(error)):
            return False
        self._connection._force_close()  # type: ignore[attr-defined]
        try:
            self._connection = self._connect()
            self._run((f"{self.dialect.judge_session()}", self._living()))
        except (BackendError, pymysql.MySQLError, AttributeError):
            return False
        return True

    @property
    def is_usable(self) -> bool:
        """Whether this process may go on with the connection: it is open and its own."""
        return self._connection.open and not self.is_lost and self.process == os.getpid()

    def _blame(self, error: pymysql.MySQLError) -> BaseException:
        """The error itself where the server refused a statement; else it is gone."""
        if stopped := interruption(error):
            return stopped
        if self._connection.open and not is_lost(error):
            return error
        self.is_lost = True
        return BackendError(f"{self.endpoint.label} is gone: {error.args[-1]}")

    def read(self, *statements: str, most_bytes: int) -> list[tuple[Row, ...]]:
        """Like `run`, for rows that an agent wrote: at most about `most_bytes` of them.

        Raises:
            TooLarge: There are more.
        """
        try:
            with SSCursor(self._connection) as cursor:
                cursor.execute(";\n".join(statements))
                results = []
                while True:
                    results.append(rows_within(cursor, most_bytes))
                    if not cursor.nextset():
                        return results
        except TooLarge:
            self._connection.close()
            self._connection = self._connect()
            self._prepare_session()
            raise
        except pymysql.MySQLError as error:
            raise self._blame(error) from error

    def check_alive(self) -> None:
        """Raises BackendError if the server is gone."""
        self.run("SELECT 1")

    def make(self, password: str) -> Names:
        """A new database and an account that may use it and nothing else."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._make(password)
            except pymysql.MySQLError as error:
                if error.args[0] != _CANNOT_CREATE_USER or attempt == _ATTEMPTS - 1:
                    raise self._lacks_rights(error) from error
                time.sleep(random.uniform(0, 0.02 * 2**attempt))
        raise AssertionError("the last attempt returns or raises")

    def _make(self, password: str) -> Names:
        self._made += 1
        names = self._names_of(f"{PREFIX}{self._id}d{self._made:06x}")
        database, account = quoted(names.database), self._account(names)
        collation = self.dialect.collation
        try:
            self.run(
                f"CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE {collation}",
                f"CREATE USER {account} IDENTIFIED BY '{password}'",
                f"GRANT {self.dialect.privileges} ON {database}.* TO {account}",
            )
        except pymysql.MySQLError:
            with contextlib.suppress(pymysql.MySQLError):
                self.remove(names)
            raise
        return names

    def _lacks_rights(self, error: pymysql.MySQLError) -> BackendError:
        label, user = self.endpoint.label, self.endpoint.user
        if error.args[0] not in _ACCESS_DENIED:
            return BackendError(f"{label} could not make a database: {error.args[-1]}")
        return BackendUnavailableError(
            f"{label} does not let user {user!r} make databases and accounts "
            f"({error.args[-1]}). Run there as its administrator: GRANT ALL ON *.* TO {user!r} "
            "WITH GRANT OPTION; it needs at least CREATE USER, and what it grants on databases "
            f"named {PREFIX}..."
        )

    def remove(self, names: Names) -> None:
        """Removes a database and its account, which may be gone already."""
        self.run(
            f"DROP DATABASE IF EXISTS {quoted(names.database)}",
            f"DROP USER IF EXISTS {self._account(names)}",
        )

    def holds_many(self, names: Names) -> bool:
        """Whether an agent made so many tables that dropping them takes long."""
        question = (
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
            f"{literal(names.database)}"
        )
        return bool(self.run(question)[0][0][0] > _MANY_TABLES)

    def remove_later(self, names: Names) -> None:
        """Removes a workspace that nobody waits for, over a connection of its own."""
        self.run(f"DROP USER IF EXISTS {self._account(names)}")
        sweep = threading.Thread(target=self._sweep, args=(names,), daemon=True)
        self._sweeps.append(sweep)
        sweep.start()

    def _sweep(self, names: Names) -> None:
        # What fails here is left to the next process that starts.
        with contextlib.suppress(BackendError, pymysql.MySQLError):
            connection = self._connect()
            try:
                with connection.cursor() as cursor:
                    cursor.execute(f"DROP DATABASE IF EXISTS {quoted(names.database)}")
            finally:
                connection.close()

    def _account(self, names: Names) -> str:
        return f"'{names.account}'@'{self.endpoint.account_host}'"

    def _names_of(self, database: str) -> Names:
        maker, _, number = database.rpartition("d")
        return Names(database=database, account=f"{maker}u{number}")

    def stop_statement(self, thread: int) -> None:
        """Stops what a connection is running; the connection survives."""
        self._kill(f"KILL QUERY {thread}")

    def end_connection(self, thread: int) -> None:
        """Ends a connection and waits until it is gone, with its locks."""
        self._kill(f"KILL {thread}")
        deadline = time.monotonic() + _ENDED_WITHIN_S
        question = f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {thread}"
        while self.run(question)[0] and time.monotonic() < deadline:
            time.sleep(0.005)

    def _kill(self, statement: str) -> None:
        """Sends a KILL over a connection of its own: seekdb answers some of them never."""
        killer = self._connect(answers_within_s=_KILLED_WITHIN_S)
        try:
            with killer.cursor() as cursor:
                cursor.execute(statement)
        except pymysql.MySQLError as error:
            if stopped := interruption(error):
                raise stopped from None
            if error.args[0] != _NO_SUCH_THREAD and not is_lost(error) and self.endpoint.is_private:
                raise BackendError(f"{statement} was refused: {error.args[-1]}") from error
        finally:
            if killer.open:
                killer.close()

    def roll_back_prepared(self) -> None:
        """Rolls back every XA transaction whose connection is gone."""
        for _, gtrid_length, _, data in self.run("XA RECOVER")[0]:
            data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
            gtrid, bqual = data[:gtrid_length].hex(), data[gtrid_length:].hex()
            with contextlib.suppress(pymysql.MySQLError):  # a living connection holds it
                self.run(f"XA ROLLBACK X'{gtrid}', X'{bqual}'")

    def close(self) -> None:
        """Ends the connection; in a forked child only lets go of the parent's."""
        for sweep in self._sweeps if self.process == os.getpid() else ():
            sweep.join(timeout=_SWEPT_WITHIN_S)
        if not self._connection.open:
            return
        if self.process != os.getpid():
            self._connection._force_close()  # type: ignore[attr-defined]
        else:
            self._connection.close()
