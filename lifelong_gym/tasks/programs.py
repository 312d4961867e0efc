"""From an S-expression to the actions that answer it: the paper's construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifelong_gym.backends.graph.expressions import (
    And,
    Count,
    Entity,
    Expression,
    ExpressionError,
    Extreme,
    Join,
    Type,
)


def actions_of(
    expression: Expression, reverses: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The actions that lead to what an expression means, the last of which gives it.

    Args:
        expression: The expression. In `(AND type set)` the type is left out, as the paper
            leaves it: the relation that led to the set says it already.
        reverses: Relation to the one that leads back, for joins against a relation's
            direction: actions only follow relations forward.

    Raises:
        ExpressionError: The actions cannot express it.

    Examples:
        >>> from lifelong_gym.backends.graph.expressions import parse
        >>> actions_of(parse("(COUNT (JOIN (R r.s) m.1))"))
        ('get_relations(m.1)', 'get_neighbors(m.1,r.s)', 'count(#0)')
    """
    program = _Program(reverses or {})
    program.add(expression)
    return tuple(program.actions)


def skills_of(actions: Iterable[str]) -> tuple[str, ...]:
    """The skills that actions are: their names."""
    return tuple(sorted({action.partition("(")[0] for action in actions}))


class _Program:
    def __init__(self, reverses: Mapping[str, str]) -> None:
        self.actions: list[str] = []
        self._reverses = reverses
        self._variables = 0

    def add(self, expression: Expression) -> str:
        """Adds what an expression needs; returns how its value is written."""
        if isinstance(expression, Entity):
            return expression.id
        if isinstance(expression, Join):
            return self._join(expression)
        if isinstance(expression, And):
            return self._and(expression)
        if isinstance(expression, Count):
            return self._made(f"count({self.add(expression.of)})")
        if isinstance(expression, Extreme):
            of = self.add(expression.of)
            self.actions.append(f"get_attributes({of})")
            name = "argmax" if expression.largest else "argmin"
            return self._made(f"{name}({of},{expression.attribute})")
        raise ExpressionError(f"no action gives all entities of the type {expression}")

    def _join(self, join: Join) -> str:
        relation = join.relation if join.forward else self._reverses.get(join.relation)
        if relation is None:
            raise ExpressionError(
                f"{join.relation} would have to be followed backwards, and no relation leads back"
            )
        of = self.add(join.of)
        self.actions.append(f"get_relations({of})")
        return self._made(f"get_neighbors({of},{relation})")

    def _and(self, both: And) -> str:
        if isinstance(both.left, Type) or isinstance(both.right, Type):
            return self.add(both.right if isinstance(both.left, Type) else both.left)
        left, right = self.add(both.left), self.add(both.right)
        return self._made(f"intersection({left},{right})")

    def _made(self, action: str) -> str:
        self.actions.append(action)
        self._variables += 1
        return f"#{self._variables - 1}"
