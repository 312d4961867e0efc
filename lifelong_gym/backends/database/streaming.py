"""Reading rows as they come, up to a bound."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pymysql
from pymysql.cursors import SSCursor

from lifelong_gym.backends.database.contract import Row

ACCESS_DENIED = frozenset({1044, 1045, 1142, 1227, 1396, 1410})
"""What servers say to an account that may not."""

_LOST = frozenset({0, 1053, 1077, 1078, 1079, 2006, 2013, 2014, 2027, 2055})


class TooLarge(Exception):
    """A table holds more than a judge reads.

    Attributes:
        rows: The rows up to there.
    """

    def __init__(self, rows: tuple[Row, ...]) -> None:
        super().__init__(f"more than the {len(rows)} rows that were read")
        self.rows = rows


class StreamingCursor(SSCursor):
    """A cursor that streams rows, and can be told that there is nobody to read from."""

    def forget(self) -> None:
        """Keeps PyMySQL from reading what is left, over a connection that is given up."""
        result: Any = self.__dict__.get("_result")
        if result is not None:
            result.unbuffered_active = False
            result.connection = None
        self.__dict__["connection"] = None


def is_lost(error: pymysql.MySQLError) -> bool:
    """Whether an error means that there is no connection any more."""
    return not error.args or error.args[0] in _LOST or not isinstance(error.args[0], int)


def interruption(error: BaseException) -> BaseException | None:
    """The Ctrl-C, or the like, that an error hides: PyMySQL's clean-up raises its own on top."""
    hidden = error.__context__
    while hidden is not None and isinstance(hidden, Exception):
        hidden = hidden.__context__
    return hidden


def rows_within(cursor: SSCursor, most_bytes: int, deadline: float) -> tuple[Row, ...]:
    """All rows of a result set.

    Raises:
        TooLarge: They have more than about `most_bytes`, or come too slowly.
    """
    rows: list[Row] = []
    while (row := cursor.fetchone()) is not None:
        if most_bytes <= 0 or time.monotonic() > deadline:
            raise TooLarge(tuple(rows))
        rows.append(row)
        most_bytes -= len(repr(row))
    return tuple(rows)


@contextlib.contextmanager
def patience(connection: Any, seconds: float) -> Iterator[None]:
    """For how long `connection` waits for the server's next bytes."""
    before, connection._read_timeout = connection._read_timeout, seconds
    try:
        yield
    finally:
        connection._read_timeout = before
