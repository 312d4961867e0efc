"""What the columns of a query are called, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifelong_gym.backends.database.lexer import load_sqlglot


@dataclass(frozen=True)
class Item:
    """A member of a select list, as the parser sees it; its name is in small letters."""

    name: str
    is_alias: bool
    is_column: bool
    is_star: bool
    has_window: bool

    def is_called(self, text: str) -> bool:
        """Whether `text` is its name; case does not count."""
        return self.name == text.lower()


def select_list(sql: str) -> list[Item] | None:
    """The select list of the first SELECT, which names the columns of the whole query."""
    from sqlglot import exp

    sqlglot, mysql = load_sqlglot()
    try:
        query: Any = next((statement for statement in mysql.parse(sql) if statement), None)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    return [
        Item(
            name=item.alias_or_name.lower(),
            is_alias=isinstance(item, exp.Alias),
            is_column=isinstance(item, exp.Column),
            is_star=item.is_star,
            has_window=item.find(exp.Window) is not None,
        )
        for item in query.expressions
    ]
