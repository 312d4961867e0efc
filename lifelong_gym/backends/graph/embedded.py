"""The embedded store: an index for actions, and an Oxigraph store for SPARQL.

Actions run on the index alone, which is mapped from its files: a store opens in
milliseconds, and any number of processes read it at once. The Oxigraph store beside it
answers whole queries and serves rdflib; it is opened when one is asked for.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifelong_gym.backends.graph.arrays import Numbers, distinct
from lifelong_gym.backends.graph.contract import Deadline, Entities, Graph
from lifelong_gym.backends.graph.index import FORMAT, Edges, Index, load
from lifelong_gym.backends.graph.indexing import IndexBuilder
from lifelong_gym.backends.graph.oxigraph import as_rdflib, fill, open_store, select
from lifelong_gym.backends.graph.sources import Source, Triple
from lifelong_gym.backends.graph.terms import NAME_PREDICATES, SCHEMA_PREDICATES, Literal, normal_id
from lifelong_gym.backends.graph.values import TEXT, extreme
from lifelong_gym.errors import BackendError

if TYPE_CHECKING:
    import pyoxigraph

_NO_PREDICATE = -1
INDEX_FOLDER, STORE_FOLDER = "index", "oxigraph"


class NumberedEntities(AbstractSet[str]):
    """A set of entities as their numbers in an index, sorted."""

    __slots__ = ("index", "numbers")

    def __init__(self, index: Index, numbers: Numbers) -> None:
        self.index, self.numbers = index, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[str]:
        return map(self.index.entity_id, self.numbers.tolist())

    def __contains__(self, entity_id: object) -> bool:
        number = self.index.ids.find(entity_id) if isinstance(entity_id, str) else None
        if number is None:
            return False
        place = int(np.searchsorted(self.numbers, number))
        return place < len(self.numbers) and int(self.numbers[place]) == number

    def __and__(self, other: AbstractSet[object]) -> AbstractSet[str]:
        if isinstance(other, NumberedEntities) and other.index is self.index:
            common = np.intersect1d(self.numbers, other.numbers, assume_unique=True)
            return NumberedEntities(self.index, common)
        return super().__and__(other)

    @classmethod
    def _from_iterable(cls, ids: Any) -> AbstractSet[Any]:
        return frozenset(ids)


class EmbeddedGraph(Graph):
    """A graph in this process.

    Args:
        source: A folder that `build_graph` made, or files to read into memory at first use.
        triples: Called for the triples instead, where they are in no file.
    """

    name = "embedded"

    def __init__(
        self,
        source: Path | Source | None = None,
        *,
        triples: Callable[[], Iterator[Triple]] | None = None,
    ) -> None:
        self._source, self._triples = source, triples
        self._opened: Index | None = None
        self._store: pyoxigraph.Store | None = None

    @property
    def version(self) -> str:
        """The format of the index, and how large the graph is."""
        return f"index {FORMAT}, numpy {version_of('numpy')}, {self._index.triples} triples"

    def entity(self, entity_id: str, deadline: Deadline) -> Entities | None:
        """See `Graph.entity`."""
        number = self._index.ids.find(normal_id(entity_id))
        if number is None:
            return None
        return NumberedEntities(self._index, np.array([number], np.int32))

    def relations(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.relations`."""
        return self._predicates(self._index.relations, of, deadline)

    def attributes(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.attributes`."""
        return self._predicates(self._index.values, of, deadline)

    def neighbors(self, of: Entities, relation: str, deadline: Deadline) -> Entities:
        """See `Graph.neighbors`."""
        index = self._index
        pieces = index.relations.targets(self._numbers(of), self._predicate(relation), deadline)
        found = distinct([targets for _, targets in pieces], len(index.ids))
        return NumberedEntities(index, found)

    def extreme(
        self, of: Entities, attribute: str, deadline: Deadline, *, largest: bool
    ) -> Entities:
        """See `Graph.extreme`."""
        index = self._index
        pieces = index.values.targets(self._numbers(of), self._predicate(attribute), deadline)
        none = np.empty(0, np.int32)
        subjects, literals = map(np.concatenate, zip((none, none), *pieces, strict=True))
        close = _candidates(index, literals, largest=largest)
        subjects, literals = subjects[close], literals[close]
        # Rounding can only make values tie: the few that do are compared exactly.
        exact = extreme(
            ((str(number), index.literal(number)) for number in np.unique(literals).tolist()),
            largest=largest,
            deadline=deadline,
        )
        best = np.array(sorted(map(int, exact)), np.int32)
        return NumberedEntities(index, np.unique(subjects[np.isin(literals, best)]))

    def range_of(self, relation: str, deadline: Deadline) -> str | None:
        """See `Graph.range_of`."""
        return self._index.ranges.get(relation)

    def name_of(self, entity_id: str) -> str | None:
        """The first name in English or without a language, else the first of all."""
        number = self._index.ids.find(normal_id(entity_id))
        if number is None:
            return None
        return best_name(self._values_of(number, NAME_PREDICATES))

    def select(self, query: str) -> frozenset[str]:
        """See `Graph.select`."""
        return select(self.store, query)

    @property
    def store(self) -> pyoxigraph.Store:
        """The Oxigraph store with the same triples; read only where it lies in files."""
        if self._store is None:
            if isinstance(self._source, Path):
                self._store = open_store(self._source / STORE_FOLDER)
            else:
                self._store = fill(self._read())
        return self._store

    def as_rdflib(self) -> Any:
        """The same triples as an `rdflib.Graph`, to be read by any number of processes."""
        return as_rdflib(self.store)

    def close(self) -> None:
        """See `Graph.close`."""
        self._opened = self._store = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_store": None}

    # What is beneath -----------------------------------------------------------------------

    @property
    def _index(self) -> Index:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _open(self) -> Index:
        if not isinstance(self._source, Path):
            builder = IndexBuilder()
            builder.add(self._read())
            return builder.finish()
        try:
            return load(self._source / INDEX_FOLDER)
        except (OSError, ValueError, KeyError) as error:
            raise BackendError(
                f"the graph in {self._source} cannot be opened: {error}; build it again"
            ) from error

    def _read(self) -> Iterator[Triple]:
        if self._triples is not None:
            return self._triples()
        if not isinstance(self._source, Source):
            raise TypeError(f"a graph is read from a Source, got {self._source!r}")
        return self._source.triples()

    def _numbers(self, entities: Entities) -> Numbers:
        if isinstance(entities, NumberedEntities) and entities.index is self._index:
            return entities.numbers
        found = (self._index.ids.find(entity_id) for entity_id in entities)
        return np.array(sorted(number for number in found if number is not None), np.int32)

    def _predicate(self, name: str) -> int:
        names = self._index.predicates
        place = bisect.bisect_left(names, name)
        return place if names[place : place + 1] == (name,) else _NO_PREDICATE

    def _predicates(self, edges: Edges, of: Entities, deadline: Deadline) -> list[str]:
        names = self._index.predicates
        found = edges.predicates(self._numbers(of), deadline, len(names))
        return [names[n] for n in found.tolist() if names[n] not in SCHEMA_PREDICATES]

    def _values_of(self, number: int, predicates: tuple[str, ...]) -> Iterator[Literal]:
        numbers = np.array([number], np.int32)
        for name in predicates:
            pieces = self._index.values.targets(numbers, self._predicate(name), Deadline(60))
            for _, literals in pieces:
                yield from map(self._index.literal, literals.tolist())


def _candidates(index: Index, literals: Numbers, *, largest: bool) -> Any:
    """Which of these literals can be the extreme one: a mask."""
    kinds = index.kinds[literals]
    part = kinds > 0
    if not part.any():
        return part
    kind = kinds[part].min()
    part = kinds == kind
    if kind == TEXT:
        return part
    keys = index.keys[literals]
    return part & (keys == (keys[part].max() if largest else keys[part].min()))


def best_name(names: Iterator[Literal]) -> str | None:
    """The first name in English or without a language, else the first of all, by text."""
    ranked = sorted(names, key=lambda name: (name.language[:2] not in ("", "en"), name.text))
    return ranked[0].text if ranked else None
