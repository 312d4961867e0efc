"""Tokens of a MySQL statement, with their places in its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lifelong_gym.errors import MissingExtraError

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

_QUOTED = frozenset(
    {"STRING", "IDENTIFIER", "NATIONAL_STRING", "HEX_STRING", "BIT_STRING", "RAW_STRING"}
)
_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*+' | "(?:[^"\\]|\\.|"")*+" | `(?:[^`]|``)*+`
    | \#[^\n]*+ | --(?=\s|\Z)[^\n]*+ | /\*.*?\*/
    | (?P<open>['"`]|/\*)
    | [^'"`\#/-]++ | .""",
    re.DOTALL | re.VERBOSE,
)
_loaded: tuple[Any, Any] | None = None


def tokens_of(sql: str) -> list[Token] | None:
    """The tokens of `sql`, comments left out; None where the text cannot be taken apart.

    `start` and `end` of a token are the places of its first and last character.

    Raises:
        MissingExtraError: sqlglot is not installed.
    """
    sqlglot, mysql = load_sqlglot()
    try:
        return list(mysql.tokenize(sql))
    except sqlglot.errors.SqlglotError:
        return None


def words_of(tokens: list[Token]) -> list[str]:
    """What each token says as a keyword, in capitals; empty for strings and quoted names."""
    return ["" if token.token_type.name in _QUOTED else token.text.upper() for token in tokens]


def is_closed(sql: str) -> bool:
    """Whether every string, quoted name and comment of `sql` has its end."""
    return not any(piece["open"] for piece in _PIECE.finditer(sql))


def load_sqlglot() -> tuple[Any, Any]:
    """The package and its MySQL dialect, imported at the first use: that takes 0.1 s."""
    global _loaded
    if _loaded is None:
        try:
            import sqlglot
            from sqlglot.dialects.mysql import MySQL
        except ImportError:
            raise MissingExtraError("sqlglot", "mysql", "Reading SQL") from None

        # sqlglot takes the rest of CALL and its like for one raw text that ends at the
        # next semicolon, even at one in a string.
        tokenizer = type("Tokenizer", (MySQL.Tokenizer,), {"COMMANDS": set()})
        _loaded = sqlglot, type("Plain", (MySQL,), {"Tokenizer": tokenizer})()
    return _loaded
