"""Runs one container with MySQL: `python -I -S docker_server.py ORDERS`.

The watchdog starts it (see `lifelong_gym.backends.watchdog`). The container lives as long
as this process holds its standard input: the daemon closes that whatever ends the holder,
`kill -9` included, and the container's own watch then ends it. What a holder made and
could not start any more is removed by the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

_LABEL = "lifelong-gym"
_USER = "65534:65534"
_FOLDER = "/lifelong-gym"
_DATA_BYTES, _MEMORY_BYTES, _MOST_THREADS = 6 << 30, 8 << 30, 4096
_POLL_S = 0.02

SCRIPT = f"""
exec 3<&0 </dev/null
(cat <&3 >/dev/null; while :; do kill -KILL -1; done) &
program=$(command -v mysqld) || {{ echo "the image has no program mysqld"; exit 1; }}
case $("$program" --no-defaults --version) in
    *MariaDB*) echo "the image has MariaDB, and must have MySQL"; exit 1
esac
"$program" "$@" --innodb-fast-shutdown=1 --initialize-insecure \\
    --init-file={_FOLDER}/init.sql || exit 1
"$program" "$@" &
wait $!
"""
"""What runs in the container; it ends with its standard input."""


def main() -> None:
    """Runs until it is told to stop, or the container ends."""
    orders = json.loads(Path(sys.argv[1]).read_text())
    sys.path += orders["packages"]
    import docker

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    client = docker.from_env(timeout=60)
    _reap(client)
    container: Any = None
    try:
        container = client.api.create_container(**_settings(client, orders))["Id"]
        streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        with contextlib.closing(client.api.attach_socket(container, streams)) as held:
            client.api.start(container)
            threading.Thread(target=_wait_for_answer, args=[orders], daemon=True).start()
            _copy_output(held)
    finally:
        with contextlib.suppress(docker.errors.APIError):  # it may remove itself at this moment
            client.api.remove_container(container, force=True)


def _settings(client: Any, orders: dict[str, Any]) -> dict[str, Any]:
    """A machine of its own with the server's program, a shared folder and nothing else."""
    switches = [
        *orders["command"],
        "--datadir=/data/files",
        "--tmpdir=/data",
        "--pid-file=/data/pid",
        f"--socket={_FOLDER}/socket",
    ]
    host = client.api.create_host_config(
        auto_remove=True,
        binds=[f"{orders['data']}/run:{_FOLDER}"],
        cap_drop=["ALL"],
        mem_limit=_MEMORY_BYTES,
        memswap_limit=_MEMORY_BYTES,
        network_mode="none",
        pids_limit=_MOST_THREADS,
        read_only=True,
        security_opt=["no-new-privileges"],
        tmpfs={"/data": f"rw,nosuid,nodev,noexec,mode=1777,size={_DATA_BYTES}"},
    )
    return {
        "image": orders["image"],
        "entrypoint": ["/bin/sh", "-c", SCRIPT, "sh"],
        "command": switches,
        "host_config": host,
        "labels": {_LABEL: "database", f"{_LABEL}.holder": _holder(os.getpid())},
        "name": orders["name"],
        "stdin_open": True,
        "user": _USER,
        "working_dir": "/",
    }


def _holder(process: int) -> str | None:
    """What tells a process from all others, of this machine and before; None if it is gone."""
    with contextlib.suppress(OSError):
        stat = Path(f"/proc/{process}/stat").read_text()
        started = stat.rpartition(")")[2].split()[19]
        return f"{socket.gethostname()} {process} {started}"
    return None


def _reap(client: Any) -> None:
    """Removes the containers of holders that were killed before they could start them."""
    import docker

    for container in client.api.containers(all=True, filters={"label": f"{_LABEL}=database"}):
        holder = container["Labels"].get(f"{_LABEL}.holder", "")
        host, process, _ = [*holder.rsplit(" ", 2), "", "", ""][:3]
        if host == socket.gethostname() and _holder(int(process)) != holder:
            with contextlib.suppress(docker.errors.APIError):
                client.api.remove_container(container["Id"], force=True)


def _copy_output(held: Any) -> None:
    """Passes on what the server says, until it ends."""
    from docker.utils.socket import frames_iter

    for _, text in frames_iter(held, tty=False):
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def _wait_for_answer(orders: dict[str, Any]) -> None:
    """Says that the server is ready once it has answered a query."""
    import pymysql

    path = Path(orders["data"]) / "run" / "socket"
    while True:
        time.sleep(_POLL_S)
        if not path.is_socket():
            continue
        with contextlib.suppress(pymysql.MySQLError):
            options = {"user": "root", "password": orders["password"], "ssl_disabled": True}
            with pymysql.connect(unix_socket=str(path), **options) as connection:
                connection.ping()
            break
    (path.parent / "init.sql").unlink()
    (Path(orders["data"]) / "ready").touch()


if __name__ == "__main__":
    main()
