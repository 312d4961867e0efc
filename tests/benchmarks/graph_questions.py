"""Questions over a graph, drawn at random: variables of one to three joins, and the actions."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from lifelong_gym.backends.graph import Deadline, Exploration, Start, Variable
from lifelong_gym.backends.graph.expressions import And, Count, Extreme, Join
from lifelong_gym.backends.graph.sparql import sparql_of

LONG = Deadline(3600)
_KINDS = re.compile(r"FILTER\(isIRI\(\?\w+\)\)")


@dataclass
class Question:
    """One action on one variable: how to carry it out, and what it is in SPARQL."""

    action: str
    size: int
    joins: int
    act: object
    sparql: str


def draw_variable(walk, graph, starts, joins, rng):
    """A variable of so many joins from a random start, along random relations; None if stuck."""
    start = rng.choice(starts)
    argument = Start(start, start)
    for _ in range(joins):
        relations = walk.get_relations(argument, LONG)
        if not relations:
            return None
        argument = walk.get_neighbors(argument, rng.choice(relations), LONG)
    return argument


def questions_about(walk, variable, other, joins, rng):
    """The actions that can be carried out on a variable."""
    expression, size = variable.expression, variable.size

    def question(action, act, sparql):
        return Question(action, size, joins, act, _bare(sparql))

    relations = walk.get_relations(variable, LONG)
    yield question(
        "get_relations",
        lambda: walk.get_relations(variable, LONG),
        _predicates(expression),
    )
    yield question(
        "get_attributes",
        lambda: walk.get_attributes(variable, LONG),
        _predicates(expression),
    )
    yield question("count", lambda: walk.count(variable), sparql_of(Count(expression)))
    if relations:
        relation = rng.choice(relations)
        yield question(
            "get_neighbors",
            lambda: walk.get_neighbors(variable, relation, LONG),
            sparql_of(Join(relation, expression)),
        )
    if attributes := walk.get_attributes(variable, LONG):
        attribute = rng.choice(attributes)
        yield question(
            "argmax",
            lambda: walk.extreme("argmax", variable, attribute, LONG),
            sparql_of(Extreme(expression, attribute, True)),
        )
    if other is not None and other.type == variable.type:
        yield question(
            "intersection",
            lambda: walk.intersection(variable, other),
            sparql_of(And(expression, other.expression)),
        )


def _predicates(expression):
    # As the original asks: the variable is a subquery of its own, and what is a relation and
    # what an attribute is told afterwards.
    return f"SELECT DISTINCT ?p WHERE {{ ?x ?p ?o . {{ {sparql_of(expression)} }} }}"


def _bare(sparql):
    """Without the filters on the kinds of nodes: this graph does not need them, and they cost."""
    return _KINDS.sub("", sparql)


def draw_questions(graph, starts, variables, seed=0):
    """Questions about so many variables, a third of them of each number of joins."""
    rng = random.Random(seed)
    latest: dict[str | None, Variable] = {}
    questions = []
    drawn = 0
    while drawn < variables:
        walk = Exploration(graph)
        joins = 1 + drawn % 3
        variable = draw_variable(walk, graph, starts, joins, rng)
        if variable is None:
            continue
        drawn += 1
        questions += questions_about(walk, variable, latest.get(variable.type), joins, rng)
        latest[variable.type] = variable
    return questions


def agrees(question, made, rows):
    """Whether an action gave what SPARQL gave."""
    if isinstance(made, Variable):
        return set(made.entities) == rows
    return set(made) <= rows
