"""The keeper of one machine: starts it, enters it, and runs commands in it.

It is a fork of the supervisor. Before it enters, it opens all that it needs and closes all
that it does not; from then on it has rights inside the machine only.
"""

from __future__ import annotations

import errno
import os
import select
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import checks, frames, syscalls
from .box import BoxError, start_box
from .cgroups import Group
from .commands import CannotRun, Runner
from .identity import Identity
from .inside import Order, bounds, enter
from .roots import Workshop

_MOST_FDS = 65_536
_THEIRS = (errno.EAGAIN, errno.ENOMEM)  # processes or memory of the machine used up
_GONE = {"broken": "process 1 of the machine has ended"}


@dataclass(frozen=True)
class Site:
    """What a keeper is given.

    Attributes:
        workshop: What machines are made from.
        identity: The supervisor's rights.
        group: The machine's control group, where there are any.
        folder: The machine's disk.
        limits: What it may use.
    """

    workshop: Workshop
    identity: Identity
    group: Group | None
    folder: Path
    limits: Mapping[str, int]


def keep(site: Site, connection: socket.socket) -> None:
    """Keeps a machine until the connection ends.

    The first message says whether there is one; then each request is answered.
    """
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, _MOST_FDS)
    try:
        if site.group:
            site.group.enter()
        box = start_box(site.workshop, site.identity, site.folder)
        enter(box, has_one_id=site.identity.count == 1)
        syscalls.die_with_parent()
    except (BoxError, OSError) as error:
        frames.send(connection, {"failed": str(error)})
        return
    frames.send(connection, {})
    runner = Runner(box)
    while (request := _next(connection, runner)) is not None:
        try:
            frames.send(connection, runner.run(_order(request, site)))
        except CannotRun as error:
            frames.send(connection, {"broken": str(error)} if box.is_alive else _GONE)
        except OSError as error:
            is_theirs = error.errno in _THEIRS or not box.is_alive
            frames.send(connection, {"broken" if is_theirs else "failed": str(error)})
    box.stop()


def _next(connection: socket.socket, runner: Runner) -> dict[str, Any] | None:
    while True:
        ready = select.select([connection.fileno(), *runner.pipes], [], [])[0]
        for fd in set(ready) & set(runner.pipes):
            runner.drain(fd)
        if connection.fileno() in ready:
            return frames.receive(connection)


def _order(request: Mapping[str, Any], site: Site) -> Order:
    names = ("argv", "environment", "directory", "user", "timeout_s", "max_bytes")
    fields = {name: request[name] for name in names}
    limits = bounds(site.limits, groups_hold=site.group is not None)
    if request["do"] == "check":
        return Order(**fields, bounds=limits, is_check=True, prepare=_prepare_check)
    return Order(**fields, bounds=limits)


def _prepare_check() -> None:
    checks.hide_processes()
    checks.enter_root()
