"""S-expressions: what a variable is defined by, and how published questions are written.

`(JOIN (R r) e)` is where the relation r leads from e, `(JOIN r e)` what has e as the object
of r; `(AND a b)` is what is in both, and there a type's name stands for its entities. `COUNT`,
`ARGMAX` and `ARGMIN` come outermost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

_TOKEN = re.compile(r"\(|\)|[^\s()]+")
_ENTITY = re.compile(r"[mg]\.\S+|[A-Za-z][A-Za-z0-9+.-]*:\S+")
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class Entity:
    """One entity."""

    id: str

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Type:
    """All entities of a type."""

    id: str

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class Join:
    """Where `relation` leads from `of`; what leads to `of` by it, if not `forward`."""

    relation: str
    of: Expression
    forward: bool = True

    def __str__(self) -> str:
        relation = f"(R {self.relation})" if self.forward else self.relation
        return f"(JOIN {relation} {self.of})"


@dataclass(frozen=True, slots=True)
class And:
    """What is in both sets."""

    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"(AND {self.left} {self.right})"


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are."""

    of: Expression

    def __str__(self) -> str:
        return f"(COUNT {self.of})"


@dataclass(frozen=True, slots=True)
class Extreme:
    """Those with the largest or smallest value of an attribute."""

    of: Expression
    attribute: str
    largest: bool

    def __str__(self) -> str:
        return f"({'ARGMAX' if self.largest else 'ARGMIN'} {self.of} {self.attribute})"


Expression: TypeAlias = "Entity | Type | Join | And | Count | Extreme"


class ExpressionError(ValueError):
    """A text is no S-expression of this form; says what came and what was expected."""


def parse(text: str) -> Expression:
    """The expression that a text is; `str` gives the text back.

    Raises:
        ExpressionError: It is none.

    Examples:
        >>> parse("(COUNT (JOIN (R food.cheese.milk) m.01))")
        Count(of=Join(relation='food.cheese.milk', of=Entity(id='m.01'), forward=True))
    """
    tokens = iter(_TOKEN.findall(text))
    expression = _expression(next(tokens, ""), tokens, 0)
    if (rest := next(tokens, None)) is not None:
        raise ExpressionError(f"expected the end of {text!r}, got {rest!r}")
    return expression


def _expression(token: str, tokens: Iterator[str], depth: int) -> Expression:
    if token != "(":
        return _leaf(token)
    if depth == _DEEPEST:
        raise ExpressionError(f"an expression is at most {_DEEPEST} deep")
    operator = next(tokens, "")

    def part() -> Expression:
        return _expression(next(tokens, ""), tokens, depth + 1)

    made: Expression
    if operator == "JOIN":
        relation, forward = _relation(tokens)
        of = part()
        made = Join(relation, Entity(of.id) if isinstance(of, Type) else of, forward)
    elif operator == "AND":
        made = And(part(), part())
    elif operator == "COUNT" and depth == 0:
        made = Count(part())
    elif operator in ("ARGMAX", "ARGMIN") and depth == 0:
        made = Extreme(part(), _name(next(tokens, "")), operator == "ARGMAX")
    else:
        raise ExpressionError(
            "expected JOIN, AND or, outermost only, COUNT, ARGMAX or ARGMIN, got "
            f"{operator or 'the end'!r}"
        )
    _close(tokens)
    return made


def _relation(tokens: Iterator[str]) -> tuple[str, bool]:
    token = next(tokens, "")
    if token != "(":
        return _name(token), False
    if (operator := next(tokens, "")) != "R":
        raise ExpressionError(f"expected (R relation) or a relation, got {operator!r}")
    name = _name(next(tokens, ""))
    _close(tokens)
    return name, True


def _leaf(token: str) -> Expression:
    name = _name(token)
    return Entity(name) if _ENTITY.fullmatch(name) else Type(name)


def _name(token: str) -> str:
    if token in ("", "(", ")"):
        raise ExpressionError(f"expected a name, got {token or 'the end'!r}")
    return token


def _close(tokens: Iterator[str]) -> None:
    if (token := next(tokens, "")) != ")":
        raise ExpressionError(f"expected ')', got {token or 'the end'!r}")
