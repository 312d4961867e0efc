"""`MySQLDatabase`: workspaces on any server that speaks MySQL."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifelong_gym.backends.database.contract import Database, Table, Workspace
from lifelong_gym.backends.database.drivers import Driver
from lifelong_gym.errors import BackendError, BackendUnavailableError, MissingExtraError

if TYPE_CHECKING:
    from lifelong_gym.backends.database.judge import Judge


_LOGGER = logging.getLogger(__name__)


class MySQLDatabase(Database):
    """A database server, started at the first `create`.

    Args:
        driver: Starts or finds the server.
        statement_timeout_s: How long a statement of an agent may run.
    """

    def __init__(self, driver: Driver, *, statement_timeout_s: float) -> None:
        self._driver = driver
        self._statement_timeout_s = statement_timeout_s
        self._judge: Judge | None = None
        self._workspaces: list[Workspace] = []

    def __getstate__(self) -> dict[str, object]:
        if self._judge is not None:
            raise TypeError(
                "a database that was used cannot be pickled or copied: its connections belong "
                "to this process. Do it before the first reset, or make the environment anew"
            )
        return self.__dict__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The driver's name; `auto` becomes the chosen one when it starts."""
        return self._driver.name

    @property
    def version(self) -> str:
        """The product and its version; starts the server if need be."""
        dialect = self._connected().dialect
        return f"{dialect.product} {dialect.version}"

    def create(self, tables: Sequence[Table]) -> Workspace:
        """A fresh workspace that holds `tables`; see `Database.create`."""
        judge = self._connected()
        from lifelong_gym.backends.database.workspace import MySQLWorkspace

        workspace = MySQLWorkspace(judge, self._statement_timeout_s, self._workspaces.remove)
        self._workspaces.append(workspace)
        try:
            workspace.load(tables)
        except BaseException:
            workspace.close()
            raise
        return workspace

    def close(self) -> None:
        """Closes all workspaces and lets go of the server; twice is fine."""
        try:
            for workspace in [*self._workspaces]:
                self._leave(workspace)
        finally:
            judge, self._judge = self._judge, None
            try:
                if judge:
                    judge.close()
            finally:
                self._driver.stop()

    def _leave(self, workspace: Workspace) -> None:
        try:
            workspace.close()
        except BackendError as error:  # the server is gone, and the workspace with it
            _LOGGER.warning("a workspace could not be closed: %s", error)

    def _connected(self) -> Judge:
        """The trusted connection; a forked child gets its own."""
        if self._judge and not self._judge.is_usable:
            self.close()
        if self._judge is None:
            self._judge = self._start()
        return self._judge

    def _start(self) -> Judge:
        try:
            from lifelong_gym.backends.database.judge import Judge
        except ImportError:
            raise MissingExtraError("pymysql", "mysql", f"The {self.name} database") from None
        import pymysql

        endpoint = self._driver.start()
        try:
            return Judge(endpoint)
        except pymysql.MySQLError as error:
            self._driver.stop()
            raise BackendUnavailableError(
                f"{endpoint.label} cannot be used: {error.args[-1]}"
            ) from error
        except BaseException:
            self._driver.stop()
            raise
