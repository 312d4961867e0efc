"""A graph in memory through rdflib: for graphs of thousands of triples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version as version_of
from typing import Any

from lifelong_gym.backends.graph.contract import Deadline, Entities, Graph, narrowest
from lifelong_gym.backends.graph.embedded import best_name
from lifelong_gym.backends.graph.sources import Source, Triple
from lifelong_gym.backends.graph.terms import (
    LANG_STRING,
    NAME_PREDICATES,
    RANGE_PREDICATES,
    SCHEMA_PREDICATES,
    STRING,
    TYPE_PREDICATES,
    Literal,
    id_of,
    iri,
)
from lifelong_gym.backends.graph.values import extreme
from lifelong_gym.errors import MissingExtraError

_LOOK_EVERY = 64  # entities between two looks at the clock


def _rdflib() -> Any:
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError("rdflib", "graph", "The graph rdflib+PATH") from error
    return rdflib


class RdflibGraph(Graph):
    """A graph in memory, held by rdflib.

    Args:
        source: The files, read at first use.
    """

    name = "rdflib"

    def __init__(self, source: Source) -> None:
        self._source = source
        self._opened: Any = None
        self._ranges: dict[str, str | None] = {}

    @property
    def version(self) -> str:
        """The version of rdflib, and how large the graph is."""
        return f"rdflib {version_of('rdflib')}, {len(self.graph)} triples"

    @property
    def graph(self) -> Any:
        """The `rdflib.Graph` itself."""
        if self._opened is None:
            rdflib = _rdflib()
            graph = rdflib.Graph()
            for triple in self._source.triples():
                graph.add(_rdf(rdflib, triple))
            self._opened = graph
        return self._opened

    def entity(self, entity_id: str, deadline: Deadline) -> Entities | None:
        """See `Graph.entity`."""
        node = _rdflib().URIRef(iri(entity_id))
        if (node, None, None) in self.graph or (None, None, node) in self.graph:
            return frozenset({id_of(str(node))})
        return None

    def relations(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.relations`."""
        uri = _rdflib().URIRef
        return self._predicates(of, deadline, lambda target: isinstance(target, uri))

    def attributes(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.attributes`."""
        literal = _rdflib().Literal
        return self._predicates(of, deadline, lambda target: isinstance(target, literal))

    def neighbors(self, of: Entities, relation: str, deadline: Deadline) -> Entities:
        """See `Graph.neighbors`."""
        rdflib = _rdflib()
        predicate = rdflib.URIRef(iri(relation))
        return frozenset(
            id_of(str(target))
            for node in self._nodes(of, deadline)
            for target in self.graph.objects(node, predicate)
            if isinstance(target, rdflib.URIRef)
        )

    def extreme(
        self, of: Entities, attribute: str, deadline: Deadline, *, largest: bool
    ) -> Entities:
        """See `Graph.extreme`."""
        rdflib = _rdflib()
        predicate = rdflib.URIRef(iri(attribute))
        pairs = (
            (id_of(str(node)), _literal(value))
            for node in self._nodes(of, deadline)
            for value in self.graph.objects(node, predicate)
            if isinstance(value, rdflib.Literal)
        )
        return extreme(pairs, largest=largest, deadline=deadline)

    def range_of(self, relation: str, deadline: Deadline) -> str | None:
        """See `Graph.range_of`."""
        if relation not in self._ranges:
            self._ranges[relation] = self._declared(relation) or self._told_by_types(relation)
        return self._ranges[relation]

    def name_of(self, entity_id: str) -> str | None:
        """The first name in English or without a language, else the first of all."""
        rdflib = _rdflib()
        node = rdflib.URIRef(iri(entity_id))
        found = (
            _literal(value)
            for name in NAME_PREDICATES
            for value in self.graph.objects(node, rdflib.URIRef(iri(name)))
            if isinstance(value, rdflib.Literal)
        )
        return best_name(found)

    def select(self, query: str) -> frozenset[str]:
        """See `Graph.select`; slow where the query joins."""
        uri = _rdflib().URIRef
        values = (row[0] for row in self.graph.query(query))
        return frozenset(
            id_of(str(value)) if isinstance(value, uri) else str(value)
            for value in values
            if value is not None
        )

    def close(self) -> None:
        """See `Graph.close`."""
        self._opened = None
        self._ranges = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def _nodes(self, of: Entities, deadline: Deadline) -> Iterator[Any]:
        uri = _rdflib().URIRef
        for count, entity_id in enumerate(of):
            if count % _LOOK_EVERY == 0:
                deadline.check()
            yield uri(iri(entity_id))

    def _predicates(self, of: Entities, deadline: Deadline, counts: Any) -> list[str]:
        found = {
            str(predicate)
            for node in self._nodes(of, deadline)
            for predicate, target in self.graph.predicate_objects(node)
            if counts(target)
        }
        return sorted({id_of(name) for name in found} - SCHEMA_PREDICATES)

    def _objects(self, subject: Any, predicates: tuple[str, ...]) -> set[str]:
        rdflib = _rdflib()
        return {
            id_of(str(target))
            for name in predicates
            for target in self.graph.objects(subject, rdflib.URIRef(iri(name)))
            if isinstance(target, rdflib.URIRef)
        }

    def _declared(self, relation: str) -> str | None:
        return min(self._objects(_rdflib().URIRef(iri(relation)), RANGE_PREDICATES), default=None)

    def _told_by_types(self, relation: str) -> str | None:
        uri = _rdflib().URIRef
        targets = set(self.graph.objects(None, uri(iri(relation))))
        types = [self._objects(node, TYPE_PREDICATES) for node in targets if isinstance(node, uri)]
        counts = Counter(name for names in types for name in names)
        sizes = {name: self._size(name) for name in counts}
        return narrowest(counts, sum(1 for names in types if names), sizes)

    def _size(self, name: str) -> int:
        uri = _rdflib().URIRef
        found = (self.graph.subjects(uri(iri(p)), uri(iri(name))) for p in TYPE_PREDICATES)
        return len({node for nodes in found for node in nodes})


def _rdf(rdflib: Any, triple: Triple) -> tuple[Any, Any, Any]:
    subject, predicate, target = triple
    node: Any
    if isinstance(target, str):
        node = rdflib.URIRef(iri(target))
    elif target.datatype == LANG_STRING:
        node = rdflib.Literal(target.text, lang=target.language)
    else:
        datatype = None if target.datatype == STRING else rdflib.URIRef(target.datatype)
        node = rdflib.Literal(target.text, datatype=datatype, normalize=False)
    return rdflib.URIRef(iri(subject)), rdflib.URIRef(iri(predicate)), node


def _literal(value: Any) -> Literal:
    if value.language:
        return Literal(str(value), LANG_STRING, value.language)
    return Literal(str(value), str(value.datatype or STRING))
