"""Databases, each with an account that may use it and nothing else.

On a private server they serve one workspace after the other: to make an account costs more
than to empty a database. Between two workspaces everything in the database goes; what an
agent can change of its account is the password alone, and then the account goes as well.
"""

from __future__ import annotations

import contextlib
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pymysql

from lifelong_gym.backends.database.names import Names, quoted
from lifelong_gym.backends.database.streaming import ACCESS_DENIED
from lifelong_gym.errors import BackendError, BackendUnavailableError

if TYPE_CHECKING:
    from lifelong_gym.backends.database.judge import Judge

PREFIX = "lifelonggym"
"""What the name of every database and account begins with that this package makes."""

_CANNOT_CREATE_USER = 1396  # what seekdb says to one of two that create accounts at once
_ATTEMPTS = 8
_IS_READ_ONLY = 3989
_CLOSE_S = 5.0


@dataclass(frozen=True)
class Account:
    """A database, and what it takes to use it.

    Attributes:
        names: What they are called.
        password: The account's.
        is_used: Whether another workspace had it before.
    """

    names: Names
    password: str = field(repr=False)
    is_used: bool = False


class Accounts:
    """The databases of one judge.

    Args:
        judge: Makes and removes them.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._made = 0
        self._free: list[Account] = []
        self._left: list[Names] = []

    def take(self) -> Account:
        """An account whose database is empty."""
        return self._free.pop() if self._free else self._make()

    def replace(self, account: Account) -> Account:
        """A new account for one that does not let its workspace in any more."""
        self._discard(account.names)
        return self._make()

    def give_back(self, account: Account) -> None:
        """Removes everything of a workspace; within a bound, whatever an agent made there."""
        names = account.names
        if not self._judge.endpoint.is_private:
            self._discard(names)
            return
        try:
            self._empty(names)
        except TimeoutError:  # the server is at it
            self._left.append(names)
        except pymysql.MySQLError:
            self._roll_back_prepared()  # an XA transaction keeps its locks
            self._discard(names)
        else:
            self._free.append(Account(names, account.password, is_used=True))

    def remove(self, names: Names) -> None:
        """Removes a database and its account, which may be gone already.

        Raises:
            pymysql.MySQLError: The server refused.
            TimeoutError: It takes long. The server goes on with it.
        """
        self._drop(names, f"DROP USER IF EXISTS {self._full(names)}")

    def close(self) -> None:
        """Removes them all; what cannot be is left to the next start."""
        names = [account.names for account in self._free] + self._left
        self._free, self._left = [], []
        deadline = time.monotonic() + _CLOSE_S
        for each in names:
            if time.monotonic() > deadline:
                return
            with contextlib.suppress(pymysql.MySQLError, TimeoutError):
                self.remove(each)

    def _discard(self, names: Names) -> None:
        try:
            self.remove(names)
        except (pymysql.MySQLError, TimeoutError):
            self._left.append(names)

    def _roll_back_prepared(self) -> None:
        """Rolls back every XA transaction whose connection is gone."""
        for _, gtrid_length, _, data in self._judge.run("XA RECOVER")[0]:
            data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
            gtrid, bqual = data[:gtrid_length].hex(), data[gtrid_length:].hex()
            with contextlib.suppress(pymysql.MySQLError):  # a living connection holds it
                self._judge.run(f"XA ROLLBACK X'{gtrid}', X'{bqual}'")

    def _empty(self, names: Names) -> None:
        self._drop(names, self._create(names))

    def _drop(self, names: Names, then: str) -> None:
        drop = f"DROP DATABASE IF EXISTS {quoted(names.database)}"
        try:
            self._judge.run_briefly(drop, then)
        except pymysql.MySQLError as error:
            if error.args[0] != _IS_READ_ONLY:
                raise
            writable = f"ALTER DATABASE {quoted(names.database)} READ ONLY = 0"
            self._judge.run_briefly(writable, drop, then)

    def _make(self) -> Account:
        for attempt in range(_ATTEMPTS):
            try:
                return self._make_once()
            except pymysql.MySQLError as error:
                if error.args[0] != _CANNOT_CREATE_USER or attempt == _ATTEMPTS - 1:
                    raise self._lacks_rights(error) from error
                time.sleep(random.uniform(0, 0.02 * 2**attempt))
        raise AssertionError("the last attempt returns or raises")

    def _make_once(self) -> Account:
        self._made += 1
        names = names_of(f"{PREFIX}{self._judge.id}d{self._made:06x}")
        password = secrets.token_hex(16)
        account, privileges = self._full(names), self._judge.dialect.privileges
        try:
            self._judge.run(
                self._create(names),
                f"CREATE USER {account} IDENTIFIED BY '{password}'",
                f"GRANT {privileges} ON {quoted(names.database)}.* TO {account}",
            )
        except pymysql.MySQLError:
            with contextlib.suppress(pymysql.MySQLError, TimeoutError):
                self.remove(names)
            raise
        return Account(names, password)

    def _create(self, names: Names) -> str:
        collation = self._judge.dialect.collation
        return f"CREATE DATABASE {quoted(names.database)} CHARACTER SET utf8mb4 COLLATE {collation}"

    def _full(self, names: Names) -> str:
        return f"'{names.account}'@'{self._judge.endpoint.account_host}'"

    def _lacks_rights(self, error: pymysql.MySQLError) -> BackendError:
        label, user = self._judge.endpoint.label, self._judge.endpoint.user
        if error.args[0] not in ACCESS_DENIED:
            return BackendError(f"{label} could not make a database: {error.args[-1]}")
        return BackendUnavailableError(
            f"{label} does not let user {user!r} make databases and accounts "
            f"({error.args[-1]}). Run there as its administrator: GRANT ALL ON *.* TO {user!r} "
            "WITH GRANT OPTION; it needs at least CREATE USER, and what it grants on databases "
            f"named {PREFIX}..."
        )


def names_of(database: str) -> Names:
    """The names that belong to a database that was made here."""
    maker, _, number = database.rpartition("d")
    return Names(database=database, account=f"{maker}u{number}")
