"""Statements that MariaDB takes otherwise than MySQL 8 does, made to agree.

Text is inserted at the places of tokens and nothing else changes: an error message still
quotes what the agent wrote. A statement that cannot be taken apart is left alone.
"""

from __future__ import annotations

import re

from lifelong_gym.backends.database.lexer import tokens_of, words_of

_GROUPS = re.compile(r"\bgroup\b", re.IGNORECASE)
_DELETES = re.compile(r"\bdelete\b", re.IGNORECASE)
_AFTER_ORDER_BY = {"LIMIT", "OFFSET", "INTO", "FOR", "LOCK", "PROCEDURE", "ROWS", "FETCH"}
_SET_OPERATIONS = {"UNION", "INTERSECT", "EXCEPT"}
_DELETE_MODIFIERS = {"LOW_PRIORITY", "QUICK", "IGNORE"}


def for_mariadb(sql: str) -> str:
    """What makes MariaDB do what MySQL 8 does for `sql`."""
    if _GROUPS.search(sql):
        sql = unsorted_groups(sql)
    if _DELETES.search(sql):
        sql = named_delete(sql)
    return sql


def unsorted_groups(sql: str) -> str:
    """Adds `ORDER BY NULL` to a top-level GROUP BY: MySQL 8 does not sort groups.

    Examples:
        >>> unsorted_groups("SELECT a, COUNT(*) FROM t GROUP BY a LIMIT 2;")
        'SELECT a, COUNT(*) FROM t GROUP BY a ORDER BY NULL LIMIT 2;'
    """
    tokens = tokens_of(sql)
    if not tokens or words_of(tokens[:1])[0] not in {"SELECT", "WITH"}:
        return sql
    words = words_of(tokens)
    depth, group, end = 0, None, None
    for index, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth or word in {"(", ")"}:
            continue
        if word in _SET_OPERATIONS or word in {"ORDER", "ORDER BY"}:
            return sql
        if word in {"GROUP", "GROUP BY"} and group is None:
            group = index
        elif group is not None and (word in _AFTER_ORDER_BY or word == ";"):
            end = index if end is None else end
        elif group is not None and word == "ROLLUP":  # MariaDB refuses ORDER BY with it
            return sql
    if group is None:
        return sql
    last = tokens[(len(tokens) if end is None else end) - 1].end + 1
    return f"{sql[:last]} ORDER BY NULL{sql[last:]}"


def named_delete(sql: str) -> str:
    """Spells `DELETE FROM t AS a` with a list of tables, the form that MariaDB has too.

    Examples:
        >>> named_delete("DELETE FROM t AS a WHERE a.id = 1")
        'DELETE a FROM t AS a WHERE a.id = 1'
    """
    tokens = tokens_of(sql)
    if not tokens:
        return sql
    words = words_of(tokens)
    start = words.index("DELETE") if words[0] in {"DELETE", "WITH"} and "DELETE" in words else None
    if start is None:
        return sql
    at = start + 1
    while at < len(words) and words[at] in _DELETE_MODIFIERS:
        at += 1
    alias = _alias(words, at)
    if alias is None or {"ORDER", "ORDER BY", "LIMIT"} & set(_top_level(words[at:])):
        return sql  # the form with a list of tables has neither
    place = tokens[at].start
    return f"{sql[:place]}{sql[tokens[alias].start : tokens[alias].end + 1]} {sql[place:]}"


def _alias(words: list[str], at: int) -> int | None:
    """Where the alias stands in `FROM [db.]t [AS] alias WHERE ...`."""
    if words[at : at + 1] != ["FROM"]:
        return None
    at += 2
    if words[at : at + 1] == ["."]:
        at += 2
    if words[at : at + 1] == ["AS"]:
        at += 1
    elif words[at : at + 1] in (["WHERE"], [";"], ["USING"], [","], ["PARTITION"]):
        return None
    follows = words[at + 1 : at + 2]
    return at if at < len(words) and follows in ([], ["WHERE"], [";"]) else None


def _top_level(words: list[str]) -> list[str]:
    depth, found = 0, []
    for word in words:
        depth += (word == "(") - (word == ")")
        if not depth:
            found.append(word)
    return found
