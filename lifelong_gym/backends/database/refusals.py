"""Statements that MySQL 8 refuses and other servers run; and XA, which outlives a session.

Only what is certain from the text alone is refused here. The rest stays a difference
between the servers, and stands in the documentation's table.
"""

from __future__ import annotations

import re
from typing import Any

from lifelong_gym.backends.database.contract import QueryError
from lifelong_gym.backends.database.lexer import load_sqlglot, tokens_of, words_of
from lifelong_gym.backends.database.sql import count_statements

_SYNTAX = 1064
_EMPTY = 1065
_SHOWN = 80
_NOT_SUPPORTED = 1235
_STATEMENT = re.compile(r"\s*[a-zA-Z(]")
_TARGET_IN_SUBQUERY = 1093
_SESSIONS = re.compile(r"\b(?:kill|prepare|immediate|__all_\w*|\w*processlist)\b", re.IGNORECASE)
_DENIED = "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"
_NEEDS_PRIVILEGE = 1227
_NO_DYNAMIC = "This command is not supported in the prepared statement protocol yet"
_NOT_IN_PREPARED = 1295
_XA = re.compile(r"\bxa\b", re.IGNORECASE)
_LIMITED = re.compile(r"\blimit\b", re.IGNORECASE)
_CHANGES_BY_SELECT = re.compile(r"\b(?:update|delete)\b.*\bselect\b", re.IGNORECASE | re.DOTALL)
_COMPARISONS = frozenset({"=", "<", ">", "<=", ">=", "<>", "!=", "<=>"})


def refuse_empty(sql: str) -> None:
    """Raises QueryError for nothing but blanks, comments and semicolons."""
    if _STATEMENT.match(sql):
        return
    tokens = tokens_of(sql)
    if tokens is not None and all(token.text == ";" for token in tokens):
        raise QueryError("Query was empty", _EMPTY)


def refuse_second_statement(sql: str) -> None:
    """Raises QueryError for more than one statement: seekdb runs them all, asked or not."""
    if ";" not in sql or count_statements(sql) < 2:
        return
    tokens = tokens_of(sql) or []
    ends = [index for index, token in enumerate(tokens) if token.text == ";"]
    second = next(token for token in tokens[ends[0] :] if token.text != ";")
    rest = sql[second.start :].rstrip()[:_SHOWN]
    line = sql.count("\n", 0, second.start) + 1
    raise QueryError(
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL "
        f"server version for the right syntax to use near '{rest}' at line {line}",
        _SYNTAX,
    )


def refuse_xa(sql: str) -> None:
    """Raises QueryError for XA: a prepared transaction keeps its locks after the session."""
    if _XA.search(sql) and words_of(tokens_of(sql) or [])[:1] == ["XA"]:
        raise QueryError("This version of MySQL doesn't yet support 'XA'", _NOT_SUPPORTED)


def refuse_sessions(sql: str) -> None:
    """Raises QueryError for reading or ending sessions: seekdb lets anybody do it to all.

    Dynamic SQL that cannot be read here is refused with it.
    """
    if not _SESSIONS.search(sql):
        return
    tokens = tokens_of(sql) or []
    words = words_of(tokens)
    if words[:1] in (["PREPARE"], ["EXECUTE"]) and "FROM" in words:
        source = tokens[words.index("FROM") + 1 :]
        if len(source) != 1 or source[0].token_type.name != "STRING":
            raise QueryError(_NO_DYNAMIC, _NOT_IN_PREPARED)
        refuse_sessions(source[0].text)
    elif "KILL" in words or "PROCESSLIST" in {token.text.upper() for token in tokens}:
        raise QueryError(_DENIED, _NEEDS_PRIVILEGE)
    elif "PREPARE" in words or words[:2] == ["EXECUTE", "IMMEDIATE"]:
        raise QueryError(_NO_DYNAMIC, _NOT_IN_PREPARED)


def refuse_limit_in_subquery(sql: str) -> None:
    """Raises QueryError where a subquery of IN, ANY, ALL or SOME has a LIMIT."""
    words = words_of(tokens_of(sql) or []) if _LIMITED.search(sql) else []
    for index, word in enumerate(words):
        if word != "(" or words[index + 1 : index + 2] not in (["SELECT"], ["WITH"]):
            continue
        before, earlier = words[index - 1], words[index - 2]
        compares = before in {"ANY", "ALL", "SOME"} and earlier in _COMPARISONS
        if (before == "IN" or compares) and _has_own_limit(words[index:]):
            raise QueryError(
                "This version of MySQL doesn't yet support 'LIMIT & IN/ALL/ANY/SOME subquery'",
                _NOT_SUPPORTED,
            )


def _has_own_limit(words: list[str]) -> bool:
    """Whether LIMIT stands in the parentheses that `words` begin with, and in no others."""
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth == 1 and word == "LIMIT":
            return True
        if depth == 0:
            return False
    return False


def refuse_target_in_subquery(sql: str) -> None:
    """Raises QueryError where an UPDATE or DELETE reads its own table in a subquery.

    A derived table in between makes it legal: MySQL reads that one first.
    """
    if not _CHANGES_BY_SELECT.search(sql):
        return
    from sqlglot import exp

    sqlglot, mysql = load_sqlglot()
    try:
        statement: Any = next(iter(mysql.parse(sql)), None)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return
    if not isinstance(statement, (exp.Update, exp.Delete)) or statement.args.get("tables"):
        return
    target = statement.this
    if not isinstance(target, exp.Table) or target.args.get("joins") or target.db:
        return
    for table in statement.find_all(exp.Table):
        if table is not target and table.name == target.name and not table.db and _is_read(table):
            name = target.alias_or_name
            message = f"You can't specify target table '{name}' for update in FROM clause"
            raise QueryError(message, _TARGET_IN_SUBQUERY)


def _is_read(table: Any) -> bool:
    """Whether a table stands in a subquery, with no derived table or CTE in between."""
    from sqlglot import exp

    node = table.parent
    in_subquery = False
    while node is not None:
        if isinstance(node, exp.CTE):
            return False
        if isinstance(node, exp.Subquery) and isinstance(node.parent, (exp.From, exp.Join)):
            return False
        in_subquery |= isinstance(node, exp.Select)
        node = node.parent
    return in_subquery
