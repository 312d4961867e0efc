"""What the OperatingSystem environments ask of a sandbox, whichever driver stands behind it.

A `SandboxProvider` makes any number of `Sandbox`es, each a small Linux machine of its own
from the same root filesystem. What runs in one is hostile: it is bounded in memory,
processes, disk, time and output, has no network and can touch nothing outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lifelong_gym.errors import UsageError

MEBIBYTE = 1 << 20

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where commands are looked for."""

TRUSTED_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin"
"""The same for checks: nothing that an agent adds comes before a tool of the root."""

TIMED_OUT = 124
"""The exit code of a command that was stopped at its time limit, as `timeout` has it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sandbox may use.

    Attributes:
        memory_bytes: Memory of all its processes together, files on its disk included.
        processes: How many processes there may be at once.
        file_bytes: How large one file may grow.
        disk_bytes: How much may be written to its disk.

    Raises:
        UsageError: One of them is below 1.
    """

    memory_bytes: int = 1024 * MEBIBYTE
    processes: int = 256
    file_bytes: int = 256 * MEBIBYTE
    disk_bytes: int = 512 * MEBIBYTE

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Command:
    """Something to run in a sandbox.

    Attributes:
        argv: The program and its arguments; `bash(...)` makes those of a script.
        timeout_s: After how many seconds it is stopped, with all that it started.
        max_output_bytes: How much of its output is kept, half of the head, half of the tail.
        environment: Its variables, all of them.
        directory: Where it starts; `/` if there is no such directory.
        user: Who runs it, by name as the sandbox knows it.
    """

    argv: Sequence[str]
    timeout_s: float = 20.0
    max_output_bytes: int = 16_384
    environment: Mapping[str, str] | None = None
    directory: str = "/root"
    user: str = "root"

    @property
    def variables(self) -> dict[str, str]:
        """Its environment, or what a plain login of its user has."""
        if self.environment is not None:
            return dict(self.environment)
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        names = {"USER": self.user, "LOGNAME": self.user, "HOME": home}
        return {"PATH": PATH, "SHELL": "/bin/bash", "LANG": "C.UTF-8", **names}


def bash(script: str) -> tuple[str, ...]:
    """The arguments of a fresh bash that runs `script`, without NULs: bash would skip them."""
    return ("/bin/bash", "-c", script.replace("\0", ""))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did.

    Attributes:
        exit_code: Its exit code; 128 and the signal where one ended it, `TIMED_OUT` where
            it was stopped at its time limit.
        head: The beginning of what it wrote to stdout and stderr, as bytes.
        tail: The end of it, where something between was left out.
        size: How many bytes it wrote in all.
        timed_out: Whether it was stopped at its time limit.
    """

    exit_code: int
    head: bytes = b""
    tail: bytes = b""
    size: int = 0
    timed_out: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether output was left out."""
        return self.size > len(self.head) + len(self.tail)

    def text(self) -> str:
        r"""The output, decoded with replacement, a cut marked.

        Examples:
            >>> Outcome(0, b"a\xff", b"z", 1000).text()
            'a\ufffd\n[... 997 of 1000 bytes cut ...]\nz'
        """
        head, tail = (part.decode(errors="replace") for part in (self.head, self.tail))
        if not self.is_cut:
            return (self.head + self.tail).decode(errors="replace")
        cut = self.size - len(self.head) - len(self.tail)
        return f"{head}\n[... {cut} of {self.size} bytes cut ...]\n{tail}"


class SandboxBroken(Exception):
    """What ran in the sandbox destroyed it: the agent's doing, never the system's."""


class Sandbox(ABC):
    """One machine, from the fresh root filesystem to its removal."""

    @abstractmethod
    def run(self, command: Command) -> Outcome:
        """Runs a command and waits until it ends, though not for what it left running.

        stdin is empty; stdout and stderr come together. At its time limit a command is
        killed with everything that was started since it began.

        Raises:
            SandboxBroken: Nothing can be run any more, for what earlier commands did.
            BackendError: The system failed.
        """

    @abstractmethod
    def check(self, command: Command) -> Outcome:
        """Runs a command that judges the state of the machine, last of all.

        Its tools are those of the root filesystem whatever was done to them, its
        environment is clean, and nothing that still runs can read or change it.

        Raises:
            SandboxBroken: Nothing can be run any more, for what earlier commands did.
            BackendError: The system failed.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends every process and removes the machine; closing twice is fine."""


class SandboxProvider(ABC):
    """Makes sandboxes. Constructing it starts nothing, and unused it pickles."""

    name: str
    """The driver's name: `"bubblewrap"`, `"docker"`, or what a user registered."""

    @abstractmethod
    def create(self) -> Sandbox:
        """A fresh machine.

        Raises:
            BackendUnavailableError: None can be made here; says what would help.
            BackendError: The system failed.
        """

    @property
    @abstractmethod
    def version(self) -> str:
        """What serves, and its version: `"bubblewrap 0.11.0, host"`; may start it."""

    @abstractmethod
    def close(self) -> None:
        """Closes all sandboxes and lets go of everything; closing twice is fine."""
