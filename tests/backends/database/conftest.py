"""Every database driver of this machine, one after the other, for the contract suite."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lifelong_gym.backends.database import (
    Column,
    Database,
    QueryError,
    Table,
    Workspace,
    local,
    open_database,
)
from lifelong_gym.backends.database.local import find_program
from lifelong_gym.backends.servers import RUNTIME_VARIABLE
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

LIMIT_S = 1.0


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Iterator[Path]:
    """A folder for the servers of this test run, so that they are nobody else's."""
    shared_memory = Path("/dev/shm")
    folder = Path(
        tempfile.mkdtemp(prefix="lg-test-", dir=shared_memory if shared_memory.is_dir() else None)
    )
    folder.chmod(0o755)  # the server may run as another user
    before = os.environ.get(RUNTIME_VARIABLE)
    os.environ[RUNTIME_VARIABLE] = str(folder)
    yield folder
    if before is None:
        del os.environ[RUNTIME_VARIABLE]
    else:
        os.environ[RUNTIME_VARIABLE] = before
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", params=["local", "seekdb", "docker", "remote"])
def database(request: pytest.FixtureRequest, runtime: Path) -> Iterator[Database]:
    """A started database; its statements may run for a second."""
    reference = request.param
    if reference == "remote":
        reference = request.getfixturevalue("server_url")
    opened = open_database(reference, statement_timeout_s=LIMIT_S)
    try:
        _warm_up(opened.create([TABLE]))
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def _warm_up(workspace: Workspace) -> None:
    """For five seconds after its start seekdb retries what it would refuse."""
    for _ in range(10):
        try:
            workspace.execute("SELECT nope FROM people")
        except QueryError as error:
            if "ran longer" not in error.message:
                break
    workspace.close()


@pytest.fixture
def needs_local() -> None:
    """Skips where the machine has no MariaDB or MySQL."""
    try:
        find_program()
    except BackendUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def server_url(runtime: Path) -> Iterator[str]:
    """A server as a user would have one: it listens on TCP and has an account with rights."""
    data = runtime / "user-server"
    data.mkdir(mode=0o755)
    try:
        program = find_program()
    except BackendUnavailableError as error:
        pytest.skip(str(error))
    orders = local.orders(program, local.version_of(program), data)
    port = _free_port()
    owner = dict(zip(("user", "group"), orders.owner or (), strict=False))
    if orders.owner:
        os.chown(data, *orders.owner)
    for step in orders.prepare:
        with Path(step.get("stdin", os.devnull)).open() as script:
            subprocess.run(step["command"], stdin=script, check=True, capture_output=True, **owner)
    command = [part for part in orders.serve if part != "--skip-networking"]
    command += [f"--port={port}", "--bind-address=127.0.0.1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **owner) as server:
        try:
            with _connected(orders.hello) as admin, admin.cursor() as cursor:
                cursor.execute("CREATE USER 'harness'@'%' IDENTIFIED BY 'p@ss/word'")
                cursor.execute("GRANT ALL ON *.* TO 'harness'@'%' WITH GRANT OPTION")
                cursor.execute("CREATE USER 'guest'@'%' IDENTIFIED BY 'p@ss/word'")
                cursor.execute("CREATE DATABASE theirs")
                cursor.execute("CREATE TABLE theirs.kept (a INT)")
            yield f"mysql://harness:p%40ss%2Fword@127.0.0.1:{port}"
        finally:
            server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _connected(hello: dict[str, Any]) -> Any:
    """A connection to a server that is starting."""
    pymysql = pytest.importorskip("pymysql")
    for _ in range(1000):
        with contextlib.suppress(pymysql.MySQLError, FileNotFoundError):
            Path(hello["socket"]).lstat()  # before PyMySQL, which leaks the socket it made
            return pymysql.connect(
                unix_socket=hello["socket"],
                user="root",
                password=hello["password"],
                ssl_disabled=True,
            )
        time.sleep(0.01)
    raise TimeoutError("the user's server did not start within 10 s")


TABLE = Table(
    name="people",
    columns=(
        Column(name="id", type="INT"),
        Column(name="name", type="TEXT"),
        Column(name="score", type="DOUBLE"),
    ),
    rows=((1, "Ada", 1.5), (2, "Bob", None), (3, None, 2.25)),
)


@pytest.fixture
def workspace(database: Database) -> Iterator[Workspace]:
    """A workspace with the table `people`."""
    made = database.create([TABLE])
    yield made
    made.close()
