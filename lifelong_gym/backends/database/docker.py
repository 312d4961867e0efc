"""Real MySQL in a container: one for a run, shared as any server is, and gone with it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from lifelong_gym.backends.database import switches
from lifelong_gym.backends.database.drivers import Driver, Endpoint
from lifelong_gym.backends.servers import Lease, Orders, lease
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError, UsageError

IMAGES = ("mysql:8", "lifelong-gym-mysql")
"""Which image is taken where none is named: the first of these that is on the machine."""

_FORM = "docker[?image=NAME]"
_SERVER = Path(__file__).with_name("docker_server.py")
_START_S = 120.0


class DockerDriver(Driver):
    """Starts a container with MySQL for this user, or shares the one that runs.

    The image need only hold `mysqld` and a shell, as the official ones do; its own entry
    point is not used. No image is ever fetched: that is for the user to decide.

    Args:
        reference: `docker`, or `docker?image=NAME` with the name percent-encoded.

    Raises:
        UsageError: The reference is not of that form.
    """

    name = "docker"

    def __init__(self, reference: str = "docker") -> None:
        self._images = _images(reference)
        self._lease: Lease | None = None

    def start(self) -> Endpoint:
        """The endpoint of the shared server; see `Driver.start`."""
        if self._lease is None:
            image = find_image(self._images)
            key = hashlib.sha256("\n".join([image, *_command()]).encode()).hexdigest()[:12]
            self._lease = lease(f"docker-{key}", lambda data: _orders(image, data))
        hello = self._lease.hello
        return Endpoint(
            label="the database server in Docker",
            options={"unix_socket": hello["socket"], "ssl_disabled": True},
            user="root",
            password=hello["password"],
        )

    def stop(self) -> None:
        """Gives the lease back; the last one removes the container."""
        if self._lease:
            self._lease.close()
        self._lease = None


def find_image(images: tuple[str, ...]) -> str:
    """The id of the first of `images` that the Docker daemon has.

    Raises:
        MissingExtraError: docker-py is not installed.
        BackendUnavailableError: No daemon answers, or it has none of them.
    """
    with _client() as (client, docker):
        for image in images:
            with contextlib.suppress(docker.errors.ImageNotFound):
                return str(client.images.get(image).id)
    raise BackendUnavailableError(
        f"Docker has no image {' or '.join(map(repr, images))}. Run: docker pull {images[0]}, "
        "or name another that holds mysqld: database='docker?image=NAME'"
    )


@contextlib.contextmanager
def _client() -> Iterator[tuple[Any, Any]]:
    """A connection to the daemon, and the package."""
    try:
        import docker
        import docker.errors
        import docker.utils
    except ImportError:
        raise MissingExtraError("docker", "docker", "The docker database") from None
    try:
        _check_daemon(docker.utils.parse_host(os.environ.get("DOCKER_HOST")))
        client = docker.from_env()
        try:
            client.ping()
            yield client, docker
        finally:
            client.close()
    except (docker.errors.DockerException, OSError) as error:
        raise BackendUnavailableError(
            f"no Docker daemon answers ({error}). Start it (systemctl start docker), let this "
            "user use it (usermod -aG docker USER), or choose another with DOCKER_HOST"
        ) from None


def _check_daemon(url: str) -> None:
    """Raises what keeps a daemon from being used; docker-py would leak its socket."""
    scheme, _, path = url.partition("://")
    if scheme != "http+unix":
        raise BackendUnavailableError(
            "the docker database needs a daemon on this machine, since it shares a folder with "
            f"its container: DOCKER_HOST must be unset or unix://PATH, got {url}"
        )
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(path)


def _images(reference: str) -> tuple[str, ...]:
    _, separator, query = reference.partition("?")
    if not separator:
        return IMAGES
    try:
        options = parse_qs(query, strict_parsing=True)
    except ValueError:
        options = {}
    if set(options) != {"image"} or len(options["image"]) != 1:
        raise UsageError(f"a database in Docker has the form {_FORM}, got {reference!r}")
    return (options["image"][0],)


def _command() -> list[str]:
    return [*switches.COMMON, *switches.MYSQL]


def _orders(image: str, data: Path) -> Orders:
    """How to run a fresh container whose socket lies in `data`."""
    password = secrets.token_hex(16)
    shared = data / "run"
    shared.mkdir()
    shared.chmod(0o777)  # in a folder of this user alone; the server is another user
    (shared / "init.sql").write_text(f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n")
    (shared / "init.sql").chmod(0o644)
    orders = {
        "image": image,
        "command": _command(),
        "data": str(data),
        "password": password,
        "packages": [path for path in sys.path if Path(path).is_absolute()],
        "name": data.name,
    }
    (data / "orders.json").write_text(json.dumps(orders))
    return Orders(
        serve=[sys.executable, "-I", "-S", str(_SERVER), str(data / "orders.json")],
        ready=str(data / "ready"),
        hello={"socket": str(shared / "socket"), "password": password},
        timeout_s=_START_S,
        owner=None,
    )
