"""Expressions as SPARQL 1.1, for people, for export, and for checking actions against.

Everything that a name or an id could smuggle in is encoded by `terms.iri`.
"""

from __future__ import annotations

from itertools import count

from lifelong_gym.backends.graph.expressions import (
    And,
    Count,
    Entity,
    Expression,
    Extreme,
    Join,
    Type,
)
from lifelong_gym.backends.graph.terms import TYPE_PREDICATES, iri


def sparql_of(expression: Expression) -> str:
    """The query that an expression means; its first column is the answer.

    Extremes compare as the engine does, which is as `values` says where all values of the
    attribute are numbers.

    Examples:
        >>> from lifelong_gym.backends.graph.expressions import parse
        >>> print(sparql_of(parse("(JOIN (R r) m.1)")))
        SELECT DISTINCT ?x WHERE { <http://rdf.freebase.com/ns/m.1> \
<http://rdf.freebase.com/ns/r> ?x . FILTER(isIRI(?x)) }
    """
    if isinstance(expression, Count):
        return f"SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE {{ {_pattern(expression.of, '?x')} }}"
    if isinstance(expression, Extreme):
        return _extreme(expression)
    return f"SELECT DISTINCT ?x WHERE {{ {_pattern(expression, '?x')} }}"


def _extreme(expression: Extreme) -> str:
    best = "MAX" if expression.largest else "MIN"
    attribute = f"<{iri(expression.attribute)}>"
    inner = f"{_pattern(expression.of, '?y', 'b')} ?y {attribute} ?value ."
    return (
        f"SELECT DISTINCT ?x WHERE {{ {{ SELECT ({best}(?value) AS ?best) WHERE {{ {inner} }} }} "
        f"{_pattern(expression.of, '?x')} ?x {attribute} ?own . FILTER(?own = ?best) }}"
    )


def _pattern(expression: Expression, variable: str, prefix: str = "x") -> str:
    """The triple patterns that bind `variable`; inner variables begin with `prefix`."""
    fresh = (f"?{prefix}{number}" for number in count())
    parts: list[str] = []

    def bind(part: Expression, name: str) -> None:
        if isinstance(part, Join):
            of = f"<{iri(part.of.id)}>" if isinstance(part.of, Entity) else next(fresh)
            if not isinstance(part.of, Entity):
                bind(part.of, of)
            subject, target = (of, name) if part.forward else (name, of)
            parts.append(f"{subject} <{iri(part.relation)}> {target} .")
            parts.append(f"FILTER(isIRI({name}))")
        elif isinstance(part, And):
            bind(part.left, name)
            bind(part.right, name)
        elif isinstance(part, Entity):
            parts.append(f"VALUES {name} {{ <{iri(part.id)}> }}")
        elif isinstance(part, Type):
            types = "|".join(f"<{iri(predicate)}>" for predicate in TYPE_PREDICATES)
            parts.append(f"{name} {types} <{iri(part.id)}> .")
            parts.append(f"FILTER(isIRI({name}))")
        else:
            raise TypeError(f"{part} can only come outermost")

    bind(expression, variable)
    return " ".join(dict.fromkeys(parts))
