"""The supervisor's loop: one request after the other, over one connection.

When the connection ends, whatever ended the other side, every machine ends.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import frames, syscalls
from .box import make_disk
from .cgroups import Group, Groups
from .identity import become_root
from .keeper import Site, keep
from .roots import prepare

_ROOM = 16


@dataclass(frozen=True)
class Machine:
    """A machine, from the supervisor's side.

    Attributes:
        keeper: The process id of its keeper.
        connection: What the keeper is told and answers.
        folder: Its disk.
        group: Its control group, where there are any.
    """

    keeper: int
    connection: socket.socket
    folder: Path
    group: Group | None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Has the keeper do something."""
        try:
            frames.send(self.connection, request)
            answer = frames.receive(self.connection)
        except OSError:
            answer = None
        # Only a lack of memory in the machine's own group ends a keeper.
        return {"broken": "the machine ran out of memory"} if answer is None else answer

    def remove(self) -> None:
        """Ends everything in it and takes its disk away."""
        self.connection.close()
        os.waitpid(self.keeper, 0)
        syscalls.unmount(str(self.folder))
        self.folder.rmdir()
        if self.group:
            self.group.remove()


class Supervisor:
    """The machines of one client.

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
        self._machines: dict[int, Machine] = {}
        self._numbers, self._names = itertools.count(1), itertools.count(1)
        self._spare: Machine | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What holds the limits here, and how many ids a machine has."""
        return {"limits": self._groups.kind or "rlimits", "ids": self._identity.count}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Does what is asked; failures are answers too, with whose fault they are."""
        try:
            if request["do"] == "start":
                return self._start()
            if request["do"] == "stop":
                self._machines.pop(request["box"]).remove()
                return {}
            return self._machines[request["box"]].ask(request)
        except OSError as error:
            return {"failed": str(error)}

    def stop(self) -> None:
        """Ends every machine."""
        spare, self._spare = self._spare, None
        if spare:
            spare.remove()
        while self._machines:
            self._machines.popitem()[1].remove()

    def _start(self) -> dict[str, Any]:
        machine = self._spare or self._launch()
        # Made while the agent thinks: entering a control group alone can take 15 ms.
        self._spare = self._launch()
        answer = frames.receive(machine.connection)
        if answer is None or "failed" in answer:
            machine.remove()
            return answer or {"failed": "the keeper of the machine ended at once"}
        number = next(self._numbers)
        self._machines[number] = machine
        return {"box": number}

    def _launch(self) -> Machine:
        """Has a machine started; its keeper's first message says whether it was."""
        name, limits = str(next(self._names)), self._limits
        folder = self._workshop.folder / f"box{name}"
        make_disk(folder, len(self._workshop.layers), self._identity, limits["disk_bytes"])
        # Each user inside has its own bound, so that the keeper is left room to end them.
        group = self._groups.make(name, limits["memory_bytes"], limits["processes"] + _ROOM)
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                keep(Site(self._workshop, self._identity, group, folder, limits), theirs)
            finally:
                os._exit(0)
        theirs.close()
        return Machine(pid, ours, folder, group)


def serve(connection: socket.socket) -> None:
    """Answers until the connection ends."""
    settings = frames.receive(connection)
    if settings is None:
        return
    try:
        supervisor = Supervisor(settings)
    except OSError as error:
        frames.send(connection, {"failed": str(error)})
        return
    try:
        frames.send(connection, supervisor.facts)
        while (request := frames.receive(connection)) is not None:
            frames.send(connection, supervisor.answer(request))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client is gone, as at the end of every run that was killed
    finally:
        supervisor.stop()


def main(fd: int) -> None:
    """Serves the connection behind a descriptor."""
    os.umask(0o022)
    with socket.socket(fileno=fd) as connection:
        serve(connection)
