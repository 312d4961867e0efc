"""The trusted connection: makes workspaces, reads them, removes them.

No text of an agent or a task runs here, only statements built from quoted names; so it may
send several statements in one round trip, which an agent's connection may not.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pymysql
from pymysql.constants import CLIENT

from lifelong_gym.backends.database.accounts import PREFIX, Accounts, names_of
from lifelong_gym.backends.database.contract import Row
from lifelong_gym.backends.database.dialects import Dialect, dialect_of
from lifelong_gym.backends.database.drivers import Endpoint
from lifelong_gym.backends.database.streaming import (
    ACCESS_DENIED,
    StreamingCursor,
    TooLarge,
    interruption,
    is_lost,
    patience,
    rows_within,
)
from lifelong_gym.errors import BackendError, BackendUnavailableError

_NAME = re.compile(PREFIX + r"([0-9a-f]{10})d[0-9a-f]{6}")
_ENDED_WITHIN_S = 1.0
_ANSWERS_WITHIN_S = 120
_NO_SUCH_THREAD = 1094
_A_YEAR_S = 31_536_000
_WITHIN_S = 1.0
"""How long the judge waits for what an agent can make arbitrarily slow."""


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
        self.id = secrets.token_hex(5)
        self.accounts = Accounts(self)
        self.is_lost = False
        self._holder: pymysql.Connection[Any] | None = None
        self._connection = self._connect()
        self.dialect = self._prepare()

    def _connect(self) -> pymysql.Connection[Any]:
        try:
            _knock(self.endpoint.options)
            return pymysql.connect(
                **self.endpoint.options,
                user=self.endpoint.user,
                password=self.endpoint.password,
                client_flag=CLIENT.MULTI_STATEMENTS,
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=10,
                read_timeout=_ANSWERS_WITHIN_S,
            )
        except (pymysql.MySQLError, OSError, RuntimeError) as error:
            reason = error.args[-1] if error.args else error
            if stopped := interruption(error):
                raise stopped from None
            denied = bool(error.args) and error.args[0] in ACCESS_DENIED
            trouble = (
                f"does not let user {self.endpoint.user!r} in" if denied else "does not answer"
            )
            raise BackendUnavailableError(f"{self.endpoint.label} {trouble}: {reason}") from None

    def _prepare(self) -> Dialect:
        """Sets the session up and removes what killed processes left on the server."""
        dialect = dialect_of(str(self.run("SELECT VERSION()")[0][0][0]))
        self.run(dialect.judge_session())
        self._hold_lock()
        if self.endpoint.setup:
            self.run(*self.endpoint.setup)
        for (name,) in self.run(f"SHOW DATABASES LIKE '{PREFIX}%'")[0]:
            if (found := _NAME.fullmatch(name)) and self._is_abandoned(found[1]):
                # What cannot be removed now is left to the next start.
                with contextlib.suppress(TimeoutError, pymysql.MySQLError):
                    self.accounts.remove(names_of(name))
        return dialect

    def _hold_lock(self) -> None:
        """Tells other processes that this one lives, and its databases with it.

        A connection of its own holds the lock, so that the judge's can be given up.
        """
        self._holder = self._connect()
        with self._holder.cursor() as cursor:
            cursor.execute(f"SELECT GET_LOCK('{PREFIX}{self.id}', 0)")
            with contextlib.suppress(pymysql.MySQLError):
                cursor.execute(f"SET wait_timeout={_A_YEAR_S}")

    def _is_abandoned(self, maker: str) -> bool:
        """Whether the `Judge` that made a database is gone: each holds a lock while it lives.

        On seekdb the lock of a connection that was cut off stays; the connection does not.
        """
        holder = self.run(f"SELECT IS_USED_LOCK('{PREFIX}{maker}')")[0][0][0]
        return holder is None or (self.endpoint.is_private and not self._is_connected(holder))

    def _is_connected(self, thread: int) -> bool:
        question = f"SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {thread}"
        return bool(self.run(question)[0])

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
        if self._connection.open:
            self._connection._force_close()  # type: ignore[attr-defined]
        try:
            self._connection = self._connect()
            self._run((self.dialect.judge_session(),))
        except (BackendError, pymysql.MySQLError, AttributeError):  # or it had not begun
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

    def read(self, *statements: str, most_bytes: int, within_s: float) -> list[tuple[Row, ...]]:
        """Like `run`, for rows that an agent wrote: at most about `most_bytes` of them.

        Raises:
            TooLarge: There are more, or they take longer than `within_s`.
        """
        connection = self._connection
        deadline = time.monotonic() + within_s
        cursor = StreamingCursor(connection)
        try:
            with patience(connection, within_s):
                cursor.execute(";\n".join(statements))
                results = []
                while True:
                    results.append(rows_within(cursor, most_bytes, deadline))
                    if not cursor.nextset():
                        return results
        except TooLarge:
            cursor.forget()
            self._replace_connection(stop=True)
            raise
        except pymysql.MySQLError as error:
            cursor.forget()
            if self._ran_out(error, deadline, stop=True):
                raise TooLarge(()) from None
            raise self._blame(error) from error

    def run_briefly(self, *statements: str) -> None:
        """Like `run`, for what an agent can make slow; the rows are not wanted.

        Raises:
            TimeoutError: It takes longer than a moment. The server goes on with the
                statement that it is at, and does not run those after it.
        """
        deadline = time.monotonic() + _WITHIN_S
        try:
            with patience(self._connection, _WITHIN_S), self._connection.cursor() as cursor:
                cursor.execute(";\n".join(statements))
                while cursor.nextset():
                    pass
        except pymysql.MySQLError as error:
            if self._ran_out(error, deadline):
                raise TimeoutError from None
            raise self._blame(error) from error

    def _ran_out(self, error: pymysql.MySQLError, deadline: float, *, stop: bool = False) -> bool:
        """Whether an answer did not come in time; then there is a new connection."""
        is_late = is_lost(error) and time.monotonic() >= deadline and not interruption(error)
        if is_late:
            self._replace_connection(stop=stop)
        return is_late

    def _replace_connection(self, *, stop: bool) -> None:
        """A new connection for one whose answer is not waited for, and may be stopped."""
        before = self._connection
        try:
            self._connection = self._connect()
        except BackendUnavailableError as error:  # it was there a moment ago
            self.is_lost = True
            raise BackendError(f"{self.endpoint.label} is gone: {error}") from error
        self.run(self.dialect.judge_session())
        if stop:
            self.end_connection(int(before.thread_id()))  # type: ignore[no-untyped-call]
        if before.open:
            before._force_close()  # type: ignore[attr-defined]

    def check_alive(self) -> None:
        """Raises BackendError if the server is gone."""
        self.run("SELECT 1")

    def stop_statement(self, thread: int) -> None:
        """Stops what a connection is running; the connection survives."""
        self._kill(f"KILL QUERY {thread}")

    def end_connection(self, thread: int) -> None:
        """Ends a connection and waits until it is gone, with its locks."""
        self._kill(f"KILL {thread}")
        deadline = time.monotonic() + _ENDED_WITHIN_S
        while self._is_connected(thread) and time.monotonic() < deadline:
            time.sleep(0.005)

    def _kill(self, statement: str) -> None:
        try:
            self.run_briefly(statement)
        except TimeoutError:  # seekdb waits for a procedure that swallows the stop
            return
        except pymysql.MySQLError as error:
            if error.args[0] != _NO_SUCH_THREAD and self.endpoint.is_private:
                raise BackendError(f"{statement} was refused: {error.args[-1]}") from error

    def close(self) -> None:
        """Ends the connections; in a forked child only lets go of the parent's."""
        if self.is_usable:
            with contextlib.suppress(BackendError):
                self.accounts.close()
        for connection in (self._connection, self._holder):
            if connection and connection.open and self.process != os.getpid():
                connection._force_close()  # type: ignore[attr-defined]
            elif connection and connection.open:
                connection.close()


def _knock(options: Mapping[str, Any]) -> None:
    """Fails where nobody listens at a socket: PyMySQL would leave its own open then."""
    if path := options.get("unix_socket"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(path)
