"""What the Database environment asks of a database, whichever server stands behind it.

A `Database` keeps any number of `Workspace`s, each a private database with its task's
tables. The agent's statements run in a workspace over an account that can touch nothing
else; whoever judges reads it over a connection that the agent never had.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pydantic

Value: TypeAlias = Any
"""A cell as PyMySQL decodes it: None, a number, `str`, `bytes`, or a date or time object."""
Row: TypeAlias = tuple[Value, ...]

Cell: TypeAlias = bool | int | float | str | None
"""A value of a task's row or answer, as JSON has it."""

AGENT_SCHEMA = "task_database"
"""What the agent's database is called in everything that an agent reads or writes."""


class Column(pydantic.BaseModel):
    """A column of a task's table.

    Attributes:
        name: Any name that MySQL accepts.
        type: A MySQL column definition: `"INT"`, `"TEXT"`, `"DECIMAL(10,2) NOT NULL"`.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str
    type: str


class Table(pydantic.BaseModel):
    """A table of a task, with the rows that it starts with.

    Attributes:
        name: Any name that MySQL accepts.
        columns: At least one.
        rows: Values in the columns' order, as JSON has them; a value that JSON cannot hold
            (a date, a decimal) is the text that MySQL reads it from.
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str
    columns: tuple[Column, ...] = pydantic.Field(min_length=1)
    rows: tuple[tuple[Cell, ...], ...] = ()

    @pydantic.model_validator(mode="after")
    def _rows_fit(self) -> Table:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {number} of table {self.name!r} has {len(row)} values "
                    f"for {len(self.columns)} columns"
                )
        return self


@dataclass(frozen=True, slots=True)
class Result:
    """What a statement gave.

    Attributes:
        rows: The rows; none for a statement that returns none.
        is_cut: Whether rows were left out because the bound on their size was reached.
    """

    rows: tuple[Row, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as a judge sees it.

    Attributes:
        columns: Each column in order, as the server describes it: its name, and its type
            with what follows, whether it takes NULL, its default.
        rows: Every row, in no particular order; empty for a view, which is never run.
        kind: `"BASE TABLE"` or `"VIEW"`.
        is_cut: Whether rows are missing because an agent made the table too large to read,
            or unreadable: never the right state of a task.
        definition: The SELECT of a view; the keys and options of a table.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    kind: str = "BASE TABLE"
    is_cut: bool = False
    definition: str = ""


Snapshot: TypeAlias = dict[str, TableState]
"""A whole database: table name to state."""


class QueryError(Exception):
    """The server refused a statement: an observation, never an exception to the agent.

    Attributes:
        message: The server's own text, for example `Unknown column 'x' in 'field list'`,
            free of anything that differs between runs.
        code: The server's error number; 0 where there is none.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.message, self.code = message, code


class Workspace(ABC):
    """One private database, from the task's tables to its removal."""

    @abstractmethod
    def execute(self, statement: str, *, max_bytes: int = 1 << 24) -> Result:
        """Runs one statement as the agent.

        Args:
            statement: Exactly as the agent wrote it; `%` and newlines mean themselves.
            max_bytes: About how many bytes of rows to fetch (the lengths of their `repr`
                added up); the rest is left on the server and `is_cut` is set.

        Raises:
            QueryError: The server refused the statement, or stopped it at its time limit.
            BackendError: The server is gone.
        """

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Ends the agent's connection, then reads the whole database as a judge.

        Nothing the agent left behind has an effect: open transactions are rolled back,
        locks and TEMPORARY tables are gone.

        Raises:
            BackendError: The server is gone.
        """

    @abstractmethod
    def joined_rows(self, table: str) -> list[str] | None:
        """`CONCAT_WS(',', ...)` over every row of `table`, for the paper's checksum.

        Ends the agent's connection first. None if there is no such table.
        """

    @abstractmethod
    def close(self) -> None:
        """Drops the database and everything of it; closing twice is fine."""


class Database(ABC):
    """A server that speaks MySQL, private to one environment or shared by many.

    Constructing it starts nothing, and an instance that has not started yet pickles; the
    first `create` starts or finds the server.
    """

    name: str
    """The driver's name: `"local"`, `"seekdb"`, ..."""

    @abstractmethod
    def create(self, tables: Sequence[Table]) -> Workspace:
        """A fresh workspace that holds `tables`.

        Raises:
            BackendUnavailableError: The server cannot start here; says what would help.
            BackendError: The server failed, or refused a table or a row of the task.
        """

    @property
    @abstractmethod
    def version(self) -> str:
        """The product and its version, `"MariaDB 10.11.19"`; starts the server if need be."""

    @abstractmethod
    def close(self) -> None:
        """Closes all workspaces and lets go of the server; closing twice is fine."""
