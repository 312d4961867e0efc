"""What stands between a `Database` and the server that serves it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Endpoint:
    """How to reach a running server as an account that may make databases and accounts.

    Attributes:
        label: What messages call it; holds no password.
        options: PyMySQL's arguments for the connection itself: a socket or a host, TLS.
        user: The account.
        password: Its password.
        account_host: From where the agents' accounts may connect, `"localhost"` or `"%"`.
        is_private: Whether the server runs for this package alone.
        setup: Statements to run once after connecting, on a private server.
    """

    label: str
    options: dict[str, Any]
    user: str
    password: str = field(default="", repr=False)
    account_host: str = "localhost"
    is_private: bool = True
    setup: tuple[str, ...] = ()


class Driver(ABC):
    """Starts or finds a server; constructing one does neither."""

    name: str

    @abstractmethod
    def start(self) -> Endpoint:
        """The endpoint of a server that runs until `stop`.

        Raises:
            BackendUnavailableError: There is none on this machine; says what would help.
        """

    @abstractmethod
    def stop(self) -> None:
        """Lets go of the server; twice is fine."""
