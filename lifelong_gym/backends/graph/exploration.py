"""Exploration: the seven actions over a graph, and the variables that they make.

The rules are the paper's. A set of entities becomes a variable `#0`, `#1`, ..., which keeps
its definition and its evaluated set. Relations must have been listed for an argument before
`get_neighbors` may follow one, attributes before `argmax` and `argmin` may compare by one.
What `argmax`, `argmin` and `count` give can only be the final answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lifelong_gym.backends.graph.contract import Deadline, Entities, Graph
from lifelong_gym.backends.graph.expressions import And, Count, Entity, Expression, Extreme, Join
from lifelong_gym.backends.graph.ontology import Ontology
from lifelong_gym.backends.graph.sparql import sparql_of

_MOST_WRITTEN = 200  # operations: what intersects with itself again and again doubles


class ActionError(Exception):
    """An action broke a rule; its text is for the agent."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A set that an action gave.

    Attributes:
        number: Its place, from 0.
        entities: The evaluated set; for a count, the number itself.
        expression: What it is, from the start.
        type: The type of its entities; None where the graph does not say.
        made_by: The action that gave it.
        definition: A number that variables of the same definition share.
        length: How many operations the definition has when written out.
    """

    number: int
    entities: Entities
    expression: Expression
    type: str | None
    made_by: str
    definition: int
    length: int

    @property
    def is_count(self) -> bool:
        """Whether it is a number and no set of entities."""
        return isinstance(self.expression, Count)

    @property
    def is_final(self) -> bool:
        """Whether it can only be the final answer."""
        return isinstance(self.expression, Count | Extreme)

    @property
    def sparql(self) -> str:
        """The SPARQL that defines it; a note where that would be enormous."""
        if self.length > _MOST_WRITTEN:
            return f"# {self.length} operations: too many to write out"
        return sparql_of(self.expression)

    @property
    def size(self) -> int:
        """How many entities it has; for a count, 1."""
        return len(self.entities)

    @property
    def record(self) -> dict[str, str | int]:
        """What `info`, and so a trajectory, says of it."""
        kind = self.type or ""
        return {"name": str(self), "type": kind, "size": self.size, "sparql": self.sparql}

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def described(self) -> str:
        """Name, type and size, as an agent reads them."""
        if isinstance(self.expression, Count):
            return f"Variable {self}, which is a number: {min(self.entities)}"
        kind = f"instances of {self.type}" if self.type else "entities of no known type"
        size = f"{self.size} {'entity' if self.size == 1 else 'entities'}"
        return f"Variable {self}, which are {kind} ({size})"


@dataclass(frozen=True, slots=True)
class Start:
    """An entity to walk from.

    Attributes:
        id: Its id.
        name: What the agent calls it: ids are not shown to agents.
    """

    id: str
    name: str

    def __str__(self) -> str:
        return self.name


Argument: TypeAlias = "Variable | Start"
_Key: TypeAlias = "str | int"  # the id of an entity, the definition of a variable


class Exploration:
    """One episode's way through a graph.

    Args:
        graph: The graph.
        ontology: What an agent is shown of it, and the types; None for what the graph says.
    """

    def __init__(self, graph: Graph, ontology: Ontology | None = None) -> None:
        self.variables: list[Variable] = []
        self._graph, self._ontology = graph, ontology
        self._relations: dict[_Key, list[str]] = {}
        self._attributes: dict[_Key, list[str]] = {}
        self._definitions: dict[tuple[_Key, ...], int] = {}

    def get_relations(self, of: Argument, deadline: Deadline) -> list[str]:
        """The relations that lead on from an entity or a variable."""
        entities = self._entities("get_relations", of, deadline)
        found = [] if entities is None else self._graph.relations(entities, deadline)
        if self._ontology:
            found = [name for name in found if name in self._ontology.relations]
        self._relations[_key(of)] = found
        return found

    def get_neighbors(self, of: Argument, relation: str, deadline: Deadline) -> Variable:
        """Where a relation leads from an entity or a variable."""
        entities = self._entities("get_neighbors", of, deadline)
        if (listed := self._relations.get(_key(of))) is None:
            raise ActionError(
                f"get_neighbors: execute get_relations for {of} before executing get_neighbors"
            )
        if relation not in listed or entities is None:
            raise ActionError(
                f"get_neighbors: {relation} is not a relation of {of}. "
                f"{of} has the following relations: {_names(listed)}"
            )
        found = self._graph.neighbors(entities, relation, deadline)
        expression = Join(relation, Entity(of.id) if isinstance(of, Start) else of.expression)
        kind = self._range(relation, deadline)
        return self._new(found, expression, kind, "get_neighbors", (relation, of))

    def intersection(self, left: Argument, right: Argument) -> Variable:
        """What is in two variables of the same type; an unknown type goes with any."""
        left = self._variable("intersection", left)
        right = self._variable("intersection", right)
        if left.type and right.type and left.type != right.type:
            raise ActionError(
                f"intersection: two variables must have the same type, but {left} are instances "
                f"of {left.type} and {right} are instances of {right.type}"
            )
        common = left.entities & right.entities
        both = And(left.expression, right.expression)
        kind = left.type or right.type
        return self._new(common, both, kind, "intersection", (left, right))

    def get_attributes(self, of: Argument, deadline: Deadline) -> list[str]:
        """The attributes of a variable."""
        variable = self._variable("get_attributes", of)
        found = self._graph.attributes(variable.entities, deadline)
        if self._ontology:
            found = [name for name in found if name in self._ontology.attributes]
        self._attributes[variable.definition] = found
        return found

    def extreme(self, name: str, of: Argument, attribute: str, deadline: Deadline) -> Variable:
        """`argmax` and `argmin`: those with the largest or smallest value, ties included."""
        variable = self._variable(name, of)
        if (listed := self._attributes.get(variable.definition)) is None:
            raise ActionError(f"{name}: use get_attributes to get attributes of {of} first")
        if attribute not in listed:
            raise ActionError(
                f"{name}: {attribute} is not an attribute of {of}. "
                f"The attributes of {of} are: {_names(listed)}"
            )
        largest = name == "argmax"
        found = self._graph.extreme(variable.entities, attribute, deadline, largest=largest)
        expression = Extreme(variable.expression, attribute, largest)
        return self._new(found, expression, variable.type, name, (attribute, variable))

    def count(self, of: Argument) -> Variable:
        """How many entities a variable has."""
        variable = self._variable("count", of)
        number = frozenset({str(variable.size)})
        expression = Count(variable.expression)
        return self._new(number, expression, "type.int", "count", (variable,))

    # What the actions share ------------------------------------------------------------

    def _new(
        self,
        entities: Entities,
        expression: Expression,
        kind: str | None,
        made_by: str,
        parts: tuple[str | Argument, ...],
    ) -> Variable:
        # Told by its parts, not by the whole expression: that may be exponentially long.
        keys = (made_by, *(part if isinstance(part, str) else _key(part) for part in parts))
        definition = self._definitions.setdefault(keys, len(self._definitions))
        length = 1 + sum(part.length for part in parts if isinstance(part, Variable))
        number = len(self.variables)
        variable = Variable(number, entities, expression, kind, made_by, definition, length)
        self.variables.append(variable)
        return variable

    def _range(self, relation: str, deadline: Deadline) -> str | None:
        if self._ontology:
            return self._ontology.ranges.get(relation)
        return self._graph.range_of(relation, deadline)

    def _entities(self, name: str, argument: Argument, deadline: Deadline) -> Entities | None:
        if isinstance(argument, Start):
            return self._graph.entity(argument.id, deadline)
        return self._variable(name, argument).entities

    def _variable(self, name: str, argument: Argument) -> Variable:
        if isinstance(argument, Start):
            raise ActionError(f"{name}: {argument} is not a Variable")
        if argument.is_final:
            usable = [str(v) for v in self.variables if not v.is_final]
            raise ActionError(
                f"{name}: {argument} is a Variable returned by {argument.made_by}, it can only "
                f"be used as final answer. Variables that actions can use: {_names(usable)}"
            )
        return argument


def _key(argument: Argument) -> _Key:
    return argument.definition if isinstance(argument, Variable) else argument.id


def _names(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"
