"""Which rows of an ordered query tie, by the server's own rules.

The query is taken apart by a parser, and put together again from pieces of its own text:
what a parser writes out is not always what this server reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifelong_gym.backends.database.lexer import tokens_of, words_of
from lifelong_gym.backends.database.select_list import Item, select_list

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

_WRAPPER = "ranked_rows"
_MODIFIERS = {"ALL", "DISTINCT", "DISTINCTROW", "HIGH_PRIORITY", "STRAIGHT_JOIN"} | {
    f"SQL_{word}"
    for word in ("SMALL_RESULT", "BIG_RESULT", "BUFFER_RESULT", "NO_CACHE", "CALC_FOUND_ROWS")
}
_CLAUSES = {"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET"}
_UNSOUND = {"INTO", "FOR", "LOCK", "ROLLUP", "PROCEDURE", "RAND", "UUID", "?", ":="}
_SET_OPERATIONS = {"UNION", "INTERSECT", "EXCEPT", "MINUS"}


def ranked(sql: str) -> str | None:
    """The query `sql` with one more last column: the rank of each row under its ORDER BY.

    Rows with the same rank tie, so that any order among them is right. Only the server can
    tell: which texts are equal depends on their collation.

    Returns:
        The query, or None where there is no top-level ORDER BY, or where the query with a
        rank would not surely give the same rows.

    Examples:
        >>> ranked("SELECT name, x AS s FROM t ORDER BY s DESC LIMIT 3")
        'SELECT name, x AS s, DENSE_RANK() OVER (ORDER BY x DESC) FROM t ORDER BY s DESC LIMIT 3'
        >>> ranked("SELECT name FROM t") is None
        True
    """
    tokens = _one_statement(sql)
    items = select_list(sql)
    if not tokens or items is None or _UNSOUND & set(words_of(tokens)):
        return None
    query = _Query(sql, tokens, items)
    if query.order is None or not all(query.keys()):
        return None
    keys = None if query.is_combined else query.source_keys()
    return query.with_column(keys) if keys else query.wrapped()


def _one_statement(sql: str) -> list[Token] | None:
    """The tokens of the only statement, without the parentheses that enclose it."""
    tokens = tokens_of(sql) or []
    while tokens and tokens[-1].text == ";":
        tokens = tokens[:-1]
    words = words_of(tokens)
    if ";" in words:
        return None
    while words and words[0] == "(" and _closing(words) == len(words) - 1:
        tokens, words = tokens[1:-1], words[1:-1]
    return tokens


def _closing(words: list[str]) -> int:
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if not depth:
            return index
    return -1


class _Query:
    """A query in pieces: the places of its select list and its top-level ORDER BY."""

    def __init__(self, sql: str, tokens: list[Token], items: list[Item]) -> None:
        self._sql, self._tokens, self._items = sql, tokens, items
        words = words_of(tokens)
        top = [index for index, depth in enumerate(_depths(words)) if not depth]
        self.is_combined = any(words[index] in _SET_OPERATIONS for index in top)
        self.order = next((i for i in reversed(top) if _begins(words[i]) == "ORDER"), None)
        selects = [index for index in top if words[index] == "SELECT"]
        self.is_combined |= not selects
        self._members = selects[0] + 1 if selects else 0
        while set(words[self._members : self._members + 1]) & _MODIFIERS:
            self._members += 1
        self._is_distinct = any(word.startswith("DISTINCT") for word in words[: self._members])
        clauses = [i for i in top if i >= self._members and _begins(words[i]) in _CLAUSES]
        self._clause = clauses[0] if clauses else len(tokens)
        self._tail = next((i for i in clauses if self.order and i > self.order), len(tokens))

    def source_keys(self) -> list[str] | None:
        """The keys in terms of the tables: an OVER clause knows neither aliases nor positions."""
        members = self._split(self._members, self._clause)
        if len(members) != len(self._items):
            return None
        keys = [self._source(key, members) for key in self.keys()]
        return [key for key in keys if key] if all(keys) else None

    def _source(self, key: list[Token], members: list[list[Token]]) -> str | None:
        key, direction = _direction(key)
        place = self._place(key)
        if place is None:  # a column of the tables, or an expression over them
            is_shown = not self._is_distinct or self._text(key) in map(self._text, members)
            return self._text(key) + direction if is_shown and not self._has_alias(key) else None
        item = self._items[place] if place >= 0 else None
        if item is None or item.is_star or item.has_window:
            return None
        return self._text(_unnamed(members[place]) if item.is_alias else members[place]) + direction

    def _place(self, key: list[Token]) -> int | None:
        """Which member of the select list a key means; None if none, -1 if that is unclear."""
        if len(key) != 1 or key[0].token_type.name == "STRING":
            return None
        text = key[0].text
        if key[0].token_type.name == "NUMBER":
            stars = any(item.is_star for item in self._items[: int(text)]) if text.isdigit() else 1
            return -1 if stars or not 0 < int(text) <= len(self._items) else int(text) - 1
        named = [i for i, item in enumerate(self._items) if item.is_alias and item.is_called(text)]
        return (named[0] if len(named) == 1 else -1) if named else None

    def _has_alias(self, key: list[Token]) -> bool:
        """Whether a name within a key could mean an alias or, as well, a column."""
        aliases = {item.name for item in self._items if item.is_alias}
        return len(key) > 1 and any(
            token.text.lower() in aliases
            and token.token_type.name != "STRING"
            and (index == 0 or key[index - 1].text != ".")
            for index, token in enumerate(key)
        )

    def with_column(self, keys: list[str]) -> str:
        """The query with the rank at the end of its select list."""
        place = self._tokens[self._clause - 1].end + 1
        start, end = self._tokens[0].start, self._tokens[-1].end + 1
        return f"{self._sql[start:place]}, {_rank(keys)}{self._sql[place:end]}"

    def wrapped(self) -> str | None:
        """The query as a derived table, whose columns the keys name."""
        keys = [self._output(key) for key in self.keys()]
        names = [item.name for item in self._items]
        known = all((item.is_alias or item.is_column) and not item.is_star for item in self._items)
        if not known or not all(keys) or len(set(names)) < len(names):
            return None
        shown = [key for key in keys if key]
        inner = self._text(self._tokens[: self.order])
        tail = self._text(self._tokens[self._tail :])
        return (
            f"SELECT {_WRAPPER}.*, {_rank(shown)} FROM ({inner}) AS {_WRAPPER} "
            f"ORDER BY {', '.join(shown)} {tail}"
        ).rstrip()

    def _output(self, key: list[Token]) -> str | None:
        key, direction = _direction(key)
        if len(key) != 1:
            return None
        text = key[0].text
        if key[0].token_type.name == "NUMBER" and text.isdigit():
            place = int(text) - 1
        else:
            place = next((i for i, item in enumerate(self._items) if item.is_called(text)), -1)
        if not 0 <= place < len(self._items) or key[0].token_type.name == "STRING":
            return None
        name = self._items[place].name.replace("`", "``")
        return f"{_WRAPPER}.`{name}`{direction}"

    def keys(self) -> list[list[Token]]:
        """The keys; one without tokens stands for what the parser overlooked."""
        start = (self.order or 0) + 1
        has_by = [token.text.upper() for token in self._tokens[start : start + 1]] == ["BY"]
        return self._split(start + has_by, self._tail)

    def _split(self, start: int, end: int) -> list[list[Token]]:
        """The tokens between the commas that no parenthesis encloses."""
        parts: list[list[Token]] = [[]]
        tokens = self._tokens[start:end]
        for token, depth in zip(tokens, _depths(words_of(tokens)), strict=True):
            if token.token_type.name == "COMMA" and not depth:
                parts.append([])
            else:
                parts[-1].append(token)
        return parts

    def _text(self, tokens: list[Token]) -> str:
        return self._sql[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def _depths(words: list[str]) -> list[int]:
    """How many parentheses enclose each token; a parenthesis itself counts as enclosed."""
    depths, depth = [], 0
    for word in words:
        depth += word == "("
        depths.append(depth)
        depth -= word == ")"
    return depths


def _begins(word: str) -> str:
    return word.partition(" ")[0]


def _rank(keys: list[str]) -> str:
    return f"DENSE_RANK() OVER (ORDER BY {', '.join(keys)})"


def _direction(key: list[Token]) -> tuple[list[Token], str]:
    """A key without its ASC or DESC, and what that adds to another key's text."""
    last = key[-1].text.upper() if key else ""
    if last in {"ASC", "DESC"} and len(key) > 1:
        return key[:-1], " DESC" if last == "DESC" else ""
    return key, ""


def _unnamed(member: list[Token]) -> list[Token]:
    """A member of the select list without its alias."""
    member = member[:-1]
    return member[:-1] if member and member[-1].text.upper() == "AS" else member
