"""A server of the user's own, given as `mysql://user:password@host:port`."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from lifelong_gym.backends.database.drivers import Driver, Endpoint
from lifelong_gym.errors import UsageError

_FORM = "mysql://user:password@host:port[?tls=preferred|required|off][&ca=FILE]"
_PORT = 3306
_CONNECT_TIMEOUT_S = 10
_NO_TLS = 2026
_TLS = ("preferred", "required", "off")


class RemoteDriver(Driver):
    """Uses a server that runs already, and touches nothing that others made there.

    Args:
        url: `mysql://user:password@host:port`, parts percent-encoded where they hold
            special characters. `?tls=required` insists on TLS, `?ca=FILE` checks the
            server's certificate, `?tls=off` does without; the default takes TLS where
            the server offers it.

    Raises:
        UsageError: The URL is not of that form; the message does not repeat it.
    """

    name = "mysql"

    def __init__(self, url: str) -> None:
        self._user, self._password, self._host, self._port, options = _parts(url)
        self._tls = options.get("tls", "required" if "ca" in options else "preferred")
        self._ca = options.get("ca")
        if set(options) - {"tls", "ca"} or self._tls not in _TLS:
            raise UsageError(f"a database URL has the form {_FORM}, got {_shown(options)}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._label}>"

    @property
    def _label(self) -> str:
        return f"the database server at {self._host}:{self._port}"

    def start(self) -> Endpoint:
        """The endpoint that the URL names; connecting is left to the caller."""
        return Endpoint(
            label=self._label,
            options={"host": self._host, "port": self._port, **self._encryption()},
            user=self._user,
            password=self._password,
            account_host="%",
            is_private=False,
        )

    def stop(self) -> None:
        """Does nothing: the server is the user's."""

    def _encryption(self) -> dict[str, Any]:
        """PyMySQL's arguments; one context for all connections, since making one takes 25 ms."""
        if self._tls == "off":
            return {"ssl_disabled": True}
        context = ssl.create_default_context(cafile=self._ca)
        if self._ca is None:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self._tls == "preferred" and not self._offers_tls(context):
            return {"ssl_disabled": True}
        return {"ssl": context}

    def _offers_tls(self, context: ssl.SSLContext) -> bool:
        """Whether the server has TLS; other failures are for the real connection to report."""
        import pymysql

        try:
            pymysql.connect(
                host=self._host,
                port=self._port,
                user=self._user,
                password=self._password,
                ssl=context,
                connect_timeout=_CONNECT_TIMEOUT_S,
            ).close()
        except pymysql.MySQLError as error:
            return bool(error.args[0] != _NO_TLS)
        return True


def _parts(url: str) -> tuple[str, str, str, int, dict[str, str]]:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORT
        options = parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        raise UsageError(f"a database URL has the form {_FORM}; its port is a number") from None
    if not parts.hostname or not parts.username or parts.path not in {"", "/"}:
        raise UsageError(f"a database URL has the form {_FORM}, without a database's name")
    return (
        unquote(parts.username),
        unquote(parts.password or ""),
        parts.hostname,
        port,
        {name: values[-1] for name, values in options.items()},
    )


def _shown(options: dict[str, str]) -> str:
    return "&".join(f"{name}={value}" for name, value in options.items())
