"""seekdb: a server that pip installs, which speaks MySQL's protocol."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

from lifelong_gym.backends.database.drivers import Driver, Endpoint
from lifelong_gym.backends.servers import Lease, Orders, lease
from lifelong_gym.errors import MissingExtraError

_SERVER = Path(__file__).with_name("seekdb_server.py")
_MOST_DATA = "4G"


class SeekdbDriver(Driver):
    """Starts pylibseekdb's server for this user, or shares the one that runs."""

    name = "seekdb"

    def __init__(self) -> None:
        self._lease: Lease | None = None

    def start(self) -> Endpoint:
        """The endpoint of the shared server; see `Driver.start`."""
        if self._lease is None:
            packages = _find_packages()
            version = importlib.metadata.version("pylibseekdb")
            key = hashlib.sha256(f"{packages}\n{version}".encode()).hexdigest()[:12]
            self._lease = lease(f"seekdb-{key}", lambda data: _orders(packages, data))
        return Endpoint(
            label="the seekdb server",
            options={"unix_socket": self._lease.hello["socket"], "ssl_disabled": True},
            user="root",
            account_host="%",
            setup=(
                f"ALTER SYSTEM SET datafile_maxsize = '{_MOST_DATA}'",
                "SET GLOBAL secure_file_priv = NULL",  # DUMPFILE asks for no privilege
            ),
        )

    def stop(self) -> None:
        """Gives the lease back; the last one stops the server."""
        if self._lease:
            self._lease.close()
        self._lease = None


def _find_packages() -> Path:
    """The folder that pylibseekdb is installed in."""
    found = importlib.util.find_spec("pylibseekdb")
    if found is None or found.origin is None:
        raise MissingExtraError("pylibseekdb", "seekdb", "The seekdb database")
    return Path(found.origin).parent.parent


def _orders(packages: Path, data: Path) -> Orders:
    return Orders(
        serve=[sys.executable, "-I", "-S", str(_SERVER), str(packages), str(data)],
        ready=str(data / "ready"),
        hello={"socket": str(data / "files" / "run" / "sql.sock")},
    )
