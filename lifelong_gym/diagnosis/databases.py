"""Whether each database driver works: it is started, asked for its version and let go."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from lifelong_gym.backends.database import open_database
from lifelong_gym.diagnosis import Check
from lifelong_gym.diagnosis.machine import install
from lifelong_gym.errors import MissingExtraError

_DRIVERS = ("local", "seekdb", "docker")


def checks() -> Iterator[Check]:
    """One for each driver that this version has."""
    fixes = {
        "local": install("mariadb"),
        "seekdb": 'pip install "lifelong-gym[seekdb]"',
        "docker": install("docker"),
    }
    for name in _DRIVERS:
        if importlib.util.find_spec(f"lifelong_gym.backends.database.{name}"):
            yield database_check(name, fixes[name])
    yield Check("database", "mysql://", _client)


def database_check(reference: str, fix: str = "") -> Check:
    """The check of one database, as `open_database` takes it.

    Args:
        reference: Its name, or the URL of a server.
        fix: The command that would make it work.
    """
    name = reference.partition("://")[0] + "://..." if "://" in reference else reference
    return Check("database", name, lambda: _version(reference), fix)


def _version(reference: str) -> str:
    database = open_database(reference)
    try:
        return database.version
    except MissingExtraError as error:
        if reference == "seekdb":  # its extra brings the client along
            raise MissingExtraError(error.package, "seekdb", "The seekdb database") from error
        raise
    finally:
        database.close()


def _client() -> str:
    """What a server of the user's needs here; the server itself is not known."""
    for package in ("pymysql", "sqlglot"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "mysql", "A server of yours")
    return "ready for a server of yours: check it with --database mysql://USER:PASSWORD@HOST:PORT"
