"""Which rows of an ordered query tie, by the server's own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifelong_gym.backends.database.lexer import load_sqlglot

if TYPE_CHECKING:
    from sqlglot import exp

_WRAPPER = "ranked_rows"


def ranked(sql: str) -> str | None:
    """The query `sql` with one more last column: the rank of each row under its ORDER BY.

    Rows with the same rank tie, so that any order among them is right. Only the server can
    tell: which texts are equal depends on their collation.

    Returns:
        The query, or None where there is no top-level ORDER BY or where the query with a
        rank would not surely give the same rows.

    Examples:
        >>> ranked("SELECT name, score AS s FROM t ORDER BY s DESC LIMIT 3")
        'SELECT name, score AS s, DENSE_RANK() OVER (ORDER BY score DESC) FROM t ORDER BY s DESC LIMIT 3'
        >>> ranked("SELECT name FROM t") is None
        True
    """
    sqlglot, mysql = load_sqlglot()
    try:
        parsed = mysql.parse(sql)
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None
    statements = [statement for statement in parsed if statement is not None]
    if len(statements) != 1:
        return None
    query = _with_rank(statements[0])
    return query.sql(dialect="mysql") if query else None


def _with_rank(query: exp.Expression) -> exp.Expression | None:
    from sqlglot import exp

    while isinstance(query, exp.Subquery) and not _modifiers(query):
        query = query.this
    order = query.args.get("order")
    if order is None or _is_unsound(query, order):
        return None
    if isinstance(query, exp.Select):
        keys = [_source(ordered, query) for ordered in order.expressions]
        if all(key is not None and not key.find(exp.Window) for key in keys):
            return query.select(_rank(keys), append=True)
    return _wrapped(query, order)


def _modifiers(query: exp.Subquery) -> dict[str, object]:
    return {name: value for name, value in query.args.items() if name != "this" and value}


def _is_unsound(query: exp.Expression, order: exp.Order) -> bool:
    """Whether one more column would change what the query does."""
    from sqlglot import exp

    if not isinstance(query, (exp.Select, exp.SetOperation, exp.Subquery)):
        return True
    if any(query.args.get(name) for name in ("into", "locks", "alias")):
        return True
    group = query.args.get("group")
    if group and any(
        group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "totals")
    ):
        return True
    return order.find(exp.Rand, exp.Uuid, exp.Placeholder, exp.Parameter) is not None


def _rank(keys: list[exp.Ordered | None]) -> exp.Expression:
    from sqlglot import exp

    order = exp.Order(expressions=keys)
    return exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)


def _source(ordered: exp.Ordered, query: exp.Select) -> exp.Ordered | None:
    """The key in terms of the tables: an OVER clause knows neither aliases nor positions."""
    from sqlglot import exp

    key = ordered.this
    position = _position(key)
    if position is not None:
        source = _at(query, position)
    elif isinstance(key, exp.Column) and not key.table:
        named = _named(query, key.name)
        source = named[0] if len(named) == 1 else None if named else key
    else:
        inner = [column for column in key.find_all(exp.Column) if not column.table]
        source = None if any(_hides(query, column) for column in inner) else key
    if source is None:
        return None
    return exp.Ordered(this=source.unalias().copy(), desc=ordered.args.get("desc"))


def _position(key: exp.Expression) -> int | None:
    from sqlglot import exp

    return int(key.this) if isinstance(key, exp.Literal) and key.is_int else None


def _at(query: exp.Select, position: int) -> exp.Expression | None:
    """The expression at a position of the select list, which a `*` makes unknown."""
    chosen = query.expressions
    if any(item.is_star for item in chosen[:position]) or not 0 < position <= len(chosen):
        return None
    found: exp.Expression = chosen[position - 1]
    return found


def _named(query: exp.Select, name: str) -> list[exp.Expression]:
    from sqlglot import exp

    return [
        item
        for item in query.expressions
        if isinstance(item, exp.Alias) and item.alias.lower() == name.lower()
    ]


def _hides(query: exp.Select, column: exp.Column) -> bool:
    """Whether a name within a key could be an alias for something else than the column."""
    return any(item.unalias() != column for item in _named(query, column.name))


def _wrapped(query: exp.Expression, order: exp.Order) -> exp.Expression | None:
    """The query as a derived table, whose columns the keys name."""
    from sqlglot import exp

    names = _output_names(query)
    keys = [_output(ordered, names) for ordered in order.expressions]
    if names is None or None in keys:
        return None
    outer = exp.select(f"{_WRAPPER}.*").select(_rank(keys))
    inner = query.copy()
    for modifier in ("order", "limit", "offset"):
        value = inner.args.get(modifier)
        inner.set(modifier, None)
        if value and modifier != "order":
            outer.set(modifier, value)
    outer.set("order", exp.Order(expressions=[key.copy() for key in keys if key]))
    while isinstance(inner, exp.Subquery) and not _modifiers(inner):
        inner = inner.this
    return outer.from_(
        exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(_WRAPPER)))
    )


def _output_names(query: exp.Expression) -> list[str] | None:
    """The names of a query's columns, if each has one of its own."""
    from sqlglot import exp

    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    names = [item.alias_or_name for item in query.expressions]
    plain = all(isinstance(item, (exp.Alias, exp.Column)) for item in query.expressions)
    is_unique = len({name.lower() for name in names}) == len(names)
    has_star = any(item.is_star for item in query.expressions)
    return names if plain and is_unique and not has_star else None


def _output(ordered: exp.Ordered, names: list[str] | None) -> exp.Ordered | None:
    from sqlglot import exp

    key = ordered.this
    position = _position(key)
    if position is not None and names and 0 < position <= len(names):
        name = names[position - 1]
    elif isinstance(key, exp.Column) and not key.table:
        name = key.name
    else:
        return None
    if name.lower() not in {known.lower() for known in names or ()}:
        return None
    column = exp.column(exp.to_identifier(name, quoted=True), table=_WRAPPER)
    return exp.Ordered(this=column, desc=ordered.args.get("desc"))
