"""Messages over a socket: a JSON object behind its length in four bytes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

_LENGTH = struct.Struct(">I")


def send(connection: socket.socket, message: Mapping[str, Any]) -> None:
    """Sends a message."""
    body = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(body)) + body)


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """The next message; None at the end of the connection."""
    header = _read(connection, _LENGTH.size)
    body = _read(connection, _LENGTH.unpack(header)[0]) if header else None
    return dict(json.loads(body)) if body else None


def _read(connection: socket.socket, count: int) -> bytes | None:
    data = bytearray()
    while len(data) < count:
        part = connection.recv(min(count - len(data), 1 << 20))
        if not part:
            return None
        data += part
    return bytes(data)
