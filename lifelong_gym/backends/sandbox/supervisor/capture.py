"""Output as it streams: head and tail are kept, what lies between is only counted."""

from __future__ import annotations

import fcntl
import os
import struct
import termios

_CHUNK = 1 << 16


class Capture:
    """The output of one command.

    Args:
        fd: The reading end of its pipe.
        max_bytes: How much is kept: half of it from the head, half from the tail.
    """

    def __init__(self, fd: int, max_bytes: int) -> None:
        self.fd = fd
        self.head = bytearray()
        self.tail = bytearray()
        self.size = 0
        self._for_head = max_bytes - max_bytes // 2
        self._for_tail = max_bytes // 2

    def read(self) -> bool:
        """Takes what is there; False at the end of the stream."""
        data = os.read(self.fd, _CHUNK)
        self._take(data)
        return bool(data)

    def read_rest(self) -> None:
        """Takes what is in the pipe now, and nothing that a background process adds."""
        (left,) = struct.unpack("i", fcntl.ioctl(self.fd, termios.FIONREAD, b"\0" * 4))
        while left > 0:
            data = os.read(self.fd, min(left, _CHUNK))
            if not data:
                return
            self._take(data)
            left -= len(data)

    def _take(self, data: bytes) -> None:
        self.size += len(data)
        room = self._for_head - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if (excess := len(self.tail) - self._for_tail) > 0:
            del self.tail[:excess]
