"""The supervisor's loop: one request after the other, over one connection.

A request and its answer are a JSON object each, behind their length in four bytes. When
the connection ends, whatever ended the other side, every sandbox ends.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import struct
from collections.abc import Mapping
from typing import Any

from . import checks, syscalls
from .box import UNTRACEABLE, Box, BoxError, start_box
from .cgroups import Groups
from .commands import CannotRun, drain, run
from .identity import become_root
from .inside import Order
from .roots import prepare

_LENGTH = struct.Struct(">I")


class Supervisor:
    """The sandboxes of one client.

    Args:
        settings: `bwrap`, `root`, `copies` and `limits`.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._limits: dict[str, int] = settings["limits"]
        self._groups = Groups()
        self._identity = become_root()
        self._workshop = prepare(
            settings["bwrap"], settings["root"], settings["copies"], self._identity
        )
        self._boxes: dict[int, Box] = {}
        self._numbers = itertools.count(1)

    @property
    def facts(self) -> dict[str, Any]:
        """What holds the limits here, and how many ids a sandbox has."""
        return {"limits": self._groups.kind or "rlimits", "ids": self._identity.count}

    @property
    def pipes(self) -> dict[int, Box]:
        """Where background processes may write."""
        return {fd: box for box in self._boxes.values() for fd in box.pipes}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Does what is asked; failures are answers too, with whose fault they are."""
        try:
            return self._do(request)
        except CannotRun as error:
            return {"broken": str(error)}
        except (BoxError, OSError) as error:
            return {"failed": str(error)}

    def stop(self) -> None:
        """Ends every sandbox."""
        while self._boxes:
            self._boxes.popitem()[1].stop()

    def _do(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if request["do"] == "start":
            return {"box": self._start()}
        box = self._boxes[request["box"]]
        if request["do"] == "stop":
            del self._boxes[request["box"]]
            box.stop()
            return {}
        if not box.is_alive:
            return {"broken": "process 1 of the sandbox has ended"}
        try:
            return (
                self._check(box, request) if request["do"] == "check" else self._run(box, request)
            )
        except CannotRun:
            if not box.is_alive:
                return {"broken": "process 1 of the sandbox has ended"}
            raise

    def _start(self) -> int:
        number = next(self._numbers)
        self._boxes[number] = start_box(
            self._workshop, self._identity, self._groups, self._limits, number
        )
        return number

    def _run(self, box: Box, request: Mapping[str, Any]) -> dict[str, Any]:
        return run(box, box.group, self._order(request), self._identity.count == 1)

    def _check(self, box: Box, request: Mapping[str, Any]) -> dict[str, Any]:
        box.check_group = box.check_group or self._groups.make(
            f"{request['box']}-check", self._limits["memory_bytes"], self._limits["processes"]
        )
        order = self._order(
            request,
            extra_capabilities=frozenset(UNTRACEABLE.values()),
            prepare=_prepare_check,
        )
        return run(box, box.check_group, order, self._identity.count == 1)

    def _order(self, request: Mapping[str, Any], **more: Any) -> Order:
        names = ("argv", "environment", "directory", "user", "timeout_s", "max_bytes")
        fields = {name: request[name] for name in names}
        held = bool(self._groups.kind)
        return Order(**fields, limits=self._limits, groups_hold=held, **more)


def _prepare_check() -> None:
    checks.hide_processes()
    checks.enter_root()


def serve(connection: socket.socket) -> None:
    """Answers until the connection ends."""
    settings = _receive(connection)
    if settings is None:
        return
    try:
        supervisor = Supervisor(settings)
    except (OSError, RuntimeError) as error:
        _send(connection, {"failed": str(error)})
        return
    _send(connection, supervisor.facts)
    try:
        while (request := _next(connection, supervisor)) is not None:
            _send(connection, supervisor.answer(request))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client is gone, as at the end of every run that was killed
    finally:
        supervisor.stop()


def _next(connection: socket.socket, supervisor: Supervisor) -> dict[str, Any] | None:
    while True:
        pipes = supervisor.pipes
        ready = select.select([connection.fileno(), *pipes], [], [])[0]
        for fd in set(ready) & pipes.keys():
            drain(pipes[fd], fd)
        if connection.fileno() in ready:
            return _receive(connection)


def _receive(connection: socket.socket) -> dict[str, Any] | None:
    header = _read(connection, _LENGTH.size)
    body = _read(connection, _LENGTH.unpack(header)[0]) if header else None
    return dict(json.loads(body)) if body else None


def _read(connection: socket.socket, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            return None
        data += part
    return bytes(data)


def _send(connection: socket.socket, message: Mapping[str, Any]) -> None:
    body = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(body)) + body)


def main(fd: int) -> None:
    """Serves the connection behind a descriptor."""
    syscalls.hide_memory()
    os.umask(0o022)
    with socket.socket(fileno=fd) as connection:
        serve(connection)
