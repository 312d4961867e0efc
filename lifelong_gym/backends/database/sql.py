"""What a text of SQL is, told from its tokens and never from its characters."""

from __future__ import annotations

from itertools import pairwise

from lifelong_gym.backends.database.lexer import is_closed, tokens_of, words_of
from lifelong_gym.backends.database.ranking import ranked

__all__ = ["count_statements", "has_top_level_order_by", "is_complete", "ranked"]

_BODIES = frozenset({"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT"})
_COMPOUND = frozenset({"LOOP", "WHILE", "REPEAT", "THEN"})


def count_statements(sql: str) -> int:
    r"""How many statements `sql` holds.

    A routine, trigger or event is one, with all the statements of its body. A text that cannot be
    taken apart counts as one: the server will say what is wrong with it.

    Examples:
        >>> count_statements("SELECT ';' -- ; \n;"), count_statements("SELECT 1; SELECT 2")
        (1, 2)
        >>> count_statements("-- nothing")
        0
    """
    tokens = tokens_of(sql)
    if tokens is None:
        return 1
    words = [
        ";" if token.token_type.name == "SEMICOLON" else word
        for token, word in zip(tokens, words_of(tokens), strict=True)
    ]
    count, position = 0, 0
    while position < len(words):
        if words[position] != ";":
            count += 1
            position += _length(words[position:])
        position += 1
    return count


def _length(words: list[str]) -> int:
    """How many tokens the first statement has."""
    first = words.index(";") if ";" in words else len(words)
    if not _has_body(words):
        return first
    if "BEGIN" not in words[: first + 1]:
        is_compound = _COMPOUND & set(words[: first + 1])
        return len(words) if is_compound else first
    depth = 0
    for index, (word, following) in enumerate(pairwise([*words, ""])):
        if word in {"BEGIN", "CASE"} and (not index or words[index - 1] != "END"):
            depth += 1
        elif word == "END" and following not in _COMPOUND | {"IF"}:
            depth -= 1
        elif word == ";" and depth <= 0:
            return index
    return len(words)


def _has_body(words: list[str]) -> bool:
    """Whether a statement makes something whose body may hold semicolons."""
    if words[:1] not in (["CREATE"], ["ALTER"]):
        return False
    for word in words:
        if word in _BODIES:
            return True
        if word in {"(", ";", "TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "USER", "AS"}:
            return False
    return False


def is_complete(sql: str) -> bool:
    """Whether no string, quoted name or comment of `sql` is left open.

    Examples:
        >>> is_complete("SELECT 'a;'"), is_complete("SELECT 'a"), is_complete("SELECT 1 /* a")
        (True, False, False)
    """
    return is_closed(sql)


def has_top_level_order_by(sql: str) -> bool:
    """Whether the order of the rows of a query counts.

    Examples:
        >>> has_top_level_order_by("(SELECT a FROM t) ORDER BY a")
        True
        >>> has_top_level_order_by("SELECT RANK() OVER (ORDER BY a) FROM t")
        False
    """
    words = [word for word in words_of(tokens_of(sql) or []) if word != ";"]
    while words and _is_enclosed(words):
        words = words[1:-1]
    depth = 0
    for word, following in pairwise([*words, ""]):
        depth += (word == "(") - (word == ")")
        if not depth and (word == "ORDER BY" or (word, following) == ("ORDER", "BY")):
            return True
    return False


def _is_enclosed(words: list[str]) -> bool:
    """Whether the first parenthesis closes at the end."""
    if words[0] != "(":
        return False
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if not depth:
            return index == len(words) - 1
    return False
