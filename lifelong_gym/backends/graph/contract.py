"""What the KnowledgeGraph environment asks of a graph, whatever holds it.

A `Graph` answers for whole sets of entities, one step at a time: an action costs its own
step and not the steps that led to it. Every driver gives the same answers.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias

Entities: TypeAlias = AbstractSet[str]
"""A set of ids. A driver returns its own kind and takes back what it returned."""


class ActionTimeout(Exception):
    """An action ran past its deadline and was stopped: an observation, nobody's failure."""


class Deadline:
    """When an action has to be done.

    Args:
        seconds: From now.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """How many seconds are left; 0 or less once it has passed."""
        return self._end - time.monotonic()

    def check(self) -> None:
        """Stops the action if the deadline has passed.

        Raises:
            ActionTimeout: It has.
        """
        if self.left_s <= 0:
            raise ActionTimeout(f"stopped after {self.seconds:g} s")


class Graph(ABC):
    """A knowledge graph that any number of environments may read.

    Constructing it starts nothing, and an instance that was not used yet pickles. Every
    method raises `BackendError` if what holds the graph fails, and those that take a
    deadline raise `ActionTimeout` once it has passed.
    """

    name: str
    """The driver's name: `"embedded"`, `"rdflib"`, `"endpoint"`."""

    @property
    @abstractmethod
    def version(self) -> str:
        """What serves the graph, and its version; opens the graph if need be."""

    @abstractmethod
    def entity(self, entity_id: str, deadline: Deadline) -> Entities | None:
        """The set of that one entity; None if no triple has it as subject or object."""

    @abstractmethod
    def relations(self, of: Entities, deadline: Deadline) -> list[str]:
        """The relations that lead from any of these entities to others, sorted."""

    @abstractmethod
    def attributes(self, of: Entities, deadline: Deadline) -> list[str]:
        """The attributes of which any of these entities has a value, sorted."""

    @abstractmethod
    def neighbors(self, of: Entities, relation: str, deadline: Deadline) -> Entities:
        """Where the relation leads from these entities; from one to itself included."""

    @abstractmethod
    def extreme(
        self, of: Entities, attribute: str, deadline: Deadline, *, largest: bool
    ) -> Entities:
        """Those with the largest (or smallest) value; all that tie, none without values."""

    @abstractmethod
    def range_of(self, relation: str, deadline: Deadline) -> str | None:
        """The type of what a relation leads to; None where the graph does not say.

        It is what the graph declares (`rdfs:range`, `type.property.expected_type`), else the
        type that all objects of the relation have which have any (see `narrowest`).
        """

    @abstractmethod
    def select(self, query: str) -> frozenset[str]:
        """The ids or values in the first column of a SPARQL query, without a deadline.

        For export and for checks; no action runs SPARQL.
        """

    @abstractmethod
    def close(self) -> None:
        """Lets go of what holds the graph; closing twice is fine, and use opens it again."""

    def name_of(self, entity_id: str) -> str | None:
        """How people call an entity; None where that is not at hand."""
        return None


def narrowest(counts: Mapping[str, int], total: int, sizes: Mapping[str, int]) -> str | None:
    """The type of a relation's objects, told from the types that they have.

    Args:
        counts: Type to how many of the objects have it.
        total: How many of the objects have any type.
        sizes: Type to how many entities of the graph have it.

    Returns:
        The one with the fewest entities among those that all typed objects have, the first
        by name where several have as few; None if there is none.

    Examples:
        >>> narrowest({"thing": 3, "cheese": 3, "food": 2}, 3, {"thing": 90, "cheese": 5})
        'cheese'
    """
    shared = [name for name, count in counts.items() if count == total]
    return min(shared, key=lambda name: (sizes[name], name), default=None)
