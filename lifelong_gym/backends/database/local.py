"""A private MariaDB or MySQL server, from a program found on this machine."""

from __future__ import annotations

import hashlib
import os
import pwd
import secrets
import shutil
import subprocess
from pathlib import Path

from lifelong_gym.backends.database import switches
from lifelong_gym.backends.database.drivers import Driver, Endpoint
from lifelong_gym.backends.servers import Lease, Orders, lease
from lifelong_gym.errors import BackendUnavailableError

PROGRAM_VARIABLE = "LIFELONG_GYM_MYSQLD"
"""An environment variable that names the server program, where there are several."""

_PROGRAMS = ("mariadbd", "mysqld")
_FOLDERS = (
    "/usr/sbin",
    "/usr/libexec",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/local/libexec",
    "/usr/local/mysql/bin",
    "/opt/mysql/bin",
    "/opt/homebrew/bin",
)
_SYSTEM_TABLES = "mysql_system_tables.sql"
_ACCOUNTS = ("mysql", "nobody")


class LocalDriver(Driver):
    """Starts a server of this machine for this user, or shares the one that runs."""

    name = "local"

    def __init__(self) -> None:
        self._lease: Lease | None = None

    def start(self) -> Endpoint:
        """The endpoint of the shared server; see `Driver.start`."""
        if self._lease is None:
            program = find_program()
            version = version_of(program)
            self._lease = lease(
                f"local-{_key(program, version)}", lambda data: orders(program, version, data)
            )
        hello = self._lease.hello
        return Endpoint(
            label="the local database server",
            options={"unix_socket": hello["socket"], "ssl_disabled": True},
            user="root",
            password=hello["password"],
        )

    def stop(self) -> None:
        """Gives the lease back; the last one stops the server."""
        if self._lease:
            self._lease.close()
        self._lease = None


def find_program() -> Path:
    """The server program to run.

    Raises:
        BackendUnavailableError: There is none.
    """
    if chosen := os.environ.get(PROGRAM_VARIABLE):
        if os.access(chosen, os.X_OK):
            return Path(chosen).resolve()
        raise BackendUnavailableError(f"{PROGRAM_VARIABLE}={chosen} is not a program to run")
    path = os.pathsep.join([os.environ.get("PATH", ""), *_FOLDERS])
    for program in _PROGRAMS:
        if found := shutil.which(program, path=path):
            return Path(found).resolve()
    raise BackendUnavailableError(
        f"the local database needs {' or '.join(_PROGRAMS)}, found neither in PATH nor in "
        f"{', '.join(_FOLDERS)}. Run: apt-get install mariadb-server-core (or dnf install "
        "mariadb-server, brew install mariadb), or use database='seekdb'"
    )


def version_of(program: Path) -> str:
    """What the program says of itself."""
    run = subprocess.run(
        [program, "--no-defaults", "--version"], capture_output=True, text=True, check=False
    )
    return run.stdout.strip()


def _key(program: Path, version: str) -> str:
    """Two processes share a server if they would start it alike."""
    words = "\n".join(
        [
            str(program),
            version,
            *switches.COMMON,
            *switches.MARIADB,
            *switches.MARIADB_SERVES,
            *switches.MYSQL,
        ]
    )
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def orders(program: Path, version: str, data: Path) -> Orders:
    """How to run a fresh server with its files in `data`."""
    password = secrets.token_hex(16)
    socket = data / "socket"
    is_mariadb = "mariadb" in version.lower()
    command = [
        str(program),
        *switches.COMMON,
        *(switches.MARIADB if is_mariadb else switches.MYSQL),
    ]
    command += [f"--datadir={data / 'files'}", f"--socket={socket}", f"--tmpdir={data}"]
    command += [f"--pid-file={data / 'pid'}"]
    owner = _owner()
    if is_mariadb:
        prepare = [_bootstrap(command, program, data, password)]
    else:
        prepare = [_initialize(command, data, password)]
    if is_mariadb:
        (data / "files").mkdir(mode=0o700)
        (data / "files" / "mysql").mkdir(mode=0o700)
    for path in data.rglob("*"):
        if owner:
            os.chown(path, *owner)
    return Orders(
        prepare=prepare,
        serve=[*command, *(switches.MARIADB_SERVES if is_mariadb else ())],
        ready=str(socket),
        owner=owner,
        hello={"socket": str(socket), "password": password},
    )


def _owner() -> tuple[int, int] | None:
    """Who the server runs as if this is root: it must not be able to touch what root can."""
    if os.getuid() != 0:
        return None
    for name in _ACCOUNTS:
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return account.pw_uid, account.pw_gid
    return None


def _bootstrap(command: list[str], program: Path, data: Path, password: str) -> dict[str, object]:
    """Makes MariaDB's system tables: mariadb-install-db would fill help tables as well."""
    tables = _system_tables(program)
    script = data / "bootstrap.sql"
    script.write_text(
        f"USE mysql;\n{tables.read_text()}\n"
        "REPLACE INTO global_priv VALUES ('localhost', 'root', CONCAT('{\"access\":"
        '18446744073709551615,"plugin":"mysql_native_password","authentication_string":"\','
        f" PASSWORD('{password}'), '\"}}'));\n"
    )
    script.chmod(0o600)
    return {"command": [*command, switches.CLEANLY, "--bootstrap"], "stdin": str(script)}


def _system_tables(program: Path) -> Path:
    base = program.parent.parent
    for folder in (base, Path("/usr"), Path("/usr/local")):
        for share in ("share/mysql", "share/mariadb", "share"):
            path = folder / share / _SYSTEM_TABLES
            if path.is_file():
                return path
    raise BackendUnavailableError(
        f"{program} has no {_SYSTEM_TABLES} in the share folder of {base}: install the "
        "server's package whole (apt-get install mariadb-server-core)"
    )


def _initialize(command: list[str], data: Path, password: str) -> dict[str, object]:
    script = data / "init.sql"
    script.write_text(f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n")
    script.chmod(0o600)
    return {
        "command": [*command, switches.CLEANLY, "--initialize-insecure", f"--init-file={script}"]
    }
