"""The names of one workspace, and how an agent sees them.

The server knows a workspace by names that no other has; an agent must read and write the
same names in every run. So the real ones are replaced on the way in and on the way out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lifelong_gym.backends.database.contract import AGENT_SCHEMA, Cell, Row
from lifelong_gym.backends.database.lexer import tokens_of

AGENT_ACCOUNT = "agent"
"""What the agent's account is called in everything that an agent reads."""


_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0", "\x1a": "\\Z"})
_PASSWORD = re.compile(r" IDENTIFIED BY PASSWORD '\*[0-9A-F]{40}'")  # as MySQL 8: not shown
_SCHEMA = re.compile(
    r"\b(?:information_schema|schemas|databases|(?:database|schema)\s*\()", re.IGNORECASE
)
_HOST = r"(['`\"]?)@(['`\"]?)[\w.:%-]*"


def quoted(name: str) -> str:
    """`name` as an identifier, whatever it holds.

    Examples:
        >>> print(quoted("a`b"))
        `a``b`
    """
    return "`" + name.replace("`", "``") + "`"


def literal(value: Cell) -> str:
    r"""A value of a task as SQL, for a session whose sql_mode is MySQL 8's default.

    Examples:
        >>> print(literal("it's 100%\\"), literal(None), literal(True), literal(0.5))
        'it\'s 100%\\' NULL 1 0.5
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"'{value.translate(_ESCAPES)}'"
    return repr(int(value) if isinstance(value, bool) else value)


@dataclass(frozen=True)
class Names:
    """What a workspace is called on the server, and an agent's view of it.

    Attributes:
        database: The real name of the database.
        account: The real name of the agent's account.
    """

    database: str
    account: str

    def enter(self, sql: str) -> str:
        """`sql` with the real name for every identifier that is the agent's name.

        A string is one where a schema is asked for by its name, in `information_schema`.
        """
        if AGENT_SCHEMA not in sql:
            return sql
        kinds = {"VAR", "IDENTIFIER"} | ({"STRING"} if _SCHEMA.search(sql) else set())
        parts, last = [], 0
        for token in tokens_of(sql) or ():
            kind = token.token_type.name
            if token.text != AGENT_SCHEMA or kind not in kinds:
                continue
            written = sql[token.start : token.end + 1]
            parts += [sql[last : token.start], written.replace(AGENT_SCHEMA, self.database)]
            last = token.end + 1
        return "".join([*parts, sql[last:]])

    def leave(self, text: str) -> str:
        """`text` with the agent's names for the real ones."""
        if self.account in text:
            text = re.sub(self.account + _HOST, rf"{AGENT_ACCOUNT}\1@\2localhost", text)
            text = text.replace(self.account, AGENT_ACCOUNT)
            text = _PASSWORD.sub("", text)
        return text.replace(self.database, AGENT_SCHEMA)

    def leave_row(self, row: Row) -> Row:
        """A row with the agent's names in its texts."""
        return tuple(self._leave_value(value) for value in row)

    def _leave_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.leave(value)
        if isinstance(value, bytes) and (
            self.database.encode() in value or self.account.encode() in value
        ):
            return self.leave(value.decode("latin-1")).encode("latin-1")
        return value
