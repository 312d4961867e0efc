"""Databases: a contract, and one driver a module behind `open_database`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifelong_gym.backends.database.contract import (
    AGENT_SCHEMA,
    Cell,
    Column,
    Database,
    QueryError,
    Result,
    Row,
    Snapshot,
    Table,
    TableState,
    Value,
    Workspace,
)
from lifelong_gym.errors import UsageError

if TYPE_CHECKING:
    from lifelong_gym.backends.database.drivers import Driver

__all__ = [
    "AGENT_SCHEMA",
    "Cell",
    "Column",
    "Database",
    "QueryError",
    "Result",
    "Row",
    "Snapshot",
    "Table",
    "TableState",
    "Value",
    "Workspace",
    "open_database",
]

_LONGEST_TIMEOUT_S = 86_400
_CHOICES = "auto, local, seekdb, docker[?image=NAME] or mysql://user:password@host:port"


def open_database(reference: str, *, statement_timeout_s: float = 10.0) -> Database:
    """The database that `reference` names; nothing starts before its first use.

    Args:
        reference: `"auto"` takes the first of `local`, `seekdb` and `docker` that works here;
            `"local"` is a private server from a MariaDB or MySQL installed on the machine;
            `"seekdb"` comes with the `seekdb` extra; `"docker"` is MySQL in a container,
            `"docker?image=NAME"` with an image of yours;
            `"mysql://user:password@host:port"` is a server of yours.
        statement_timeout_s: How long a statement of an agent may run.

    Raises:
        UsageError: There is no such database.

    Examples:
        >>> open_database("local").name
        'local'
    """
    from lifelong_gym.backends.database.mysql import MySQLDatabase

    _check_timeout(statement_timeout_s)
    if not isinstance(reference, str):
        raise UsageError(f"database must be {_CHOICES}, got {reference!r}")
    return MySQLDatabase(_driver(reference), statement_timeout_s=statement_timeout_s)


def _check_timeout(seconds: object) -> None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= _LONGEST_TIMEOUT_S:  # type: ignore[operator]
        raise UsageError(
            f"statement_timeout_s must be a number above 0 and up to {_LONGEST_TIMEOUT_S}, "
            f"got {seconds!r}"
        )


def _driver(reference: str) -> Driver:
    if reference == "auto":
        from lifelong_gym.backends.database.auto import AutoDriver

        return AutoDriver()
    if reference == "local":
        from lifelong_gym.backends.database.local import LocalDriver

        return LocalDriver()
    if reference == "seekdb":
        from lifelong_gym.backends.database.seekdb import SeekdbDriver

        return SeekdbDriver()
    if reference.partition("?")[0] == "docker":
        from lifelong_gym.backends.database.docker import DockerDriver

        return DockerDriver(reference)
    if reference.startswith("mysql://"):
        from lifelong_gym.backends.database.remote import RemoteDriver

        return RemoteDriver(reference)
    scheme, separator, _ = reference.partition("://")  # the rest may hold a password
    shown = f"{scheme}://..." if separator else reference
    raise UsageError(f"there is no database {shown!r}: use {_CHOICES}")
