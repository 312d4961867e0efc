"""Queries to a SPARQL endpoint over HTTP, with an end to how long and how much.

It speaks HTTP itself, over one connection that is kept open: a timeout of `urllib` begins
anew with every packet, so that a server that drips could hold an action for ever.
"""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlencode, urlsplit

from lifelong_gym.backends.graph.contract import Deadline
from lifelong_gym.errors import BackendError, UsageError

_JSON = "application/sparql-results+json"
_PIECE = 1 << 16
_MOST_BYTES = 1 << 28
_SHOWN = 300
_LEAST_WAIT_S = 0.001


class Slow(Exception):
    """The deadline passed before the answer was whole."""


class SparqlConnection:
    """One connection to an endpoint.

    Args:
        url: The endpoint; what stands behind `?` is sent along with every query.

    Raises:
        UsageError: The URL has no host.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname:
            raise UsageError(f"the URL of an endpoint has a host, got {url!r}")
        self._parts = parts
        self._kept: http.client.HTTPConnection | None = None
        self.server = ""

    @property
    def shown(self) -> str:
        """The URL without what may be secret in it."""
        port = f":{self._parts.port}" if self._parts.port else ""
        return f"{self._parts.scheme}://{self._parts.hostname}{port}{self._parts.path}"

    def query(self, sparql: str, deadline: Deadline) -> list[dict[str, dict[str, str]]]:
        """The rows of a query.

        Raises:
            Slow: The deadline passed first.
            BackendError: The endpoint cannot be reached, refused, or answered nonsense.
        """
        try:
            status, body = self._exchange(sparql, deadline)
        except TimeoutError as error:
            self.close()
            raise Slow(self.shown) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise BackendError(f"the endpoint {self.shown} cannot be reached: {error}") from error
        text = body.decode(errors="replace")
        if status != http.client.OK:
            raise BackendError(f"the endpoint {self.shown} says {status}: {text[:_SHOWN]}")
        try:
            return list(json.loads(text, strict=False)["results"]["bindings"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BackendError(
                f"the endpoint {self.shown} does not answer in SPARQL's JSON: {text[:_SHOWN]}"
            ) from error

    def close(self) -> None:
        """Closes the connection; the next query opens another."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _exchange(self, sparql: str, deadline: Deadline) -> tuple[int, bytes]:
        is_fresh = self._kept is None
        try:
            return self._send(sparql, deadline)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException):
            self.close()
            if is_fresh:
                raise
            return self._send(sparql, deadline)  # the server had closed the kept connection

    def _send(self, sparql: str, deadline: Deadline) -> tuple[int, bytes]:
        connection = self._open(deadline)
        query = f"?{self._parts.query}" if self._parts.query else ""
        headers = {"Accept": _JSON, "Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode({"query": sparql})
        connection.request("POST", (self._parts.path or "/") + query, body, headers)
        response = connection.getresponse()
        self.server = response.headers.get("Server", "") or self.server
        self._refuse_partial(response)
        pieces, length = [], 0
        while piece := self._read(connection, response, deadline):
            pieces.append(piece)
            length += len(piece)
            if length > _MOST_BYTES:
                raise http.client.HTTPException(f"an answer of more than {_MOST_BYTES} bytes")
        response.close()  # read1 leaves it open at its end, and the connection unusable
        return response.status, b"".join(pieces)

    def _read(
        self, connection: http.client.HTTPConnection, response: Any, deadline: Deadline
    ) -> bytes:
        if connection.sock is not None:
            connection.sock.settimeout(_left(deadline))
        elif deadline.left_s <= 0:
            raise TimeoutError
        return bytes(response.read1(_PIECE))

    def _refuse_partial(self, response: Any) -> None:
        # How newer Virtuosos say that their own time limit cut the rows off.
        partial = response.status == http.client.PARTIAL_CONTENT
        if partial or "S1TAT" in response.headers.get("X-SQL-State", ""):
            raise TimeoutError

    def _open(self, deadline: Deadline) -> http.client.HTTPConnection:
        if self._kept is None:
            host, port, left = str(self._parts.hostname), self._parts.port, _left(deadline)
            if self._parts.scheme == "https":
                context = ssl.create_default_context()
                self._kept = http.client.HTTPSConnection(host, port, timeout=left, context=context)
            else:
                self._kept = http.client.HTTPConnection(host, port, timeout=left)
            self._kept.connect()
        if self._kept.sock is None:
            raise ConnectionError("the connection is closed")
        self._kept.sock.settimeout(_left(deadline))
        return self._kept


def _left(deadline: Deadline) -> float:
    if deadline.left_s <= 0:
        raise TimeoutError
    return max(deadline.left_s, _LEAST_WAIT_S)
