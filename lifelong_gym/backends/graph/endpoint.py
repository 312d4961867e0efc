"""A graph behind a SPARQL 1.1 endpoint: Virtuoso, Oxigraph, Jena, whatever speaks it.

The set of a variable is sent along in pieces, so that a query never repeats how the set came
about. Nothing that an endpoint leaves out silently is believed: longer results are read in
pages and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from lifelong_gym.backends.graph.contract import (
    ActionTimeout,
    Deadline,
    Entities,
    Graph,
    narrowest,
)
from lifelong_gym.backends.graph.http import Slow, SparqlConnection
from lifelong_gym.backends.graph.terms import (
    LANG_STRING,
    RANGE_PREDICATES,
    SCHEMA_PREDICATES,
    STRING,
    TYPE_PREDICATES,
    Literal,
    id_of,
    iri,
    normal_id,
)
from lifelong_gym.backends.graph.values import extreme
from lifelong_gym.errors import BackendError

_BATCH = 400  # entities in one query: longer ones exhaust Virtuoso's compiler
_PAGE = 5000  # rows asked for at once: below Virtuoso's limit of 10,000 by default
_SURELY_WHOLE = 900  # rows: no endpoint limits its results to fewer
_PATIENCE_S = 60.0  # for what no action waits for
_PING_S = 5.0
_Row = dict[str, dict[str, str]]


class EndpointGraph(Graph):
    """A graph that a server holds.

    Args:
        url: The endpoint's URL, with `?default-graph-uri=...` where it needs that.

    Raises:
        UsageError: It is no URL.
    """

    name = "endpoint"

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = SparqlConnection(url)
        self._ranges: dict[str, str | None] = {}

    @property
    def version(self) -> str:
        """What the server calls itself."""
        if not self._connection.server:
            self._select("SELECT (1 AS ?one) WHERE { }", Deadline(_PATIENCE_S))
        return self._connection.server or "unknown server"

    def entity(self, entity_id: str, deadline: Deadline) -> Entities | None:
        """See `Graph.entity`."""
        node = f"<{iri(entity_id)}>"
        found = self._select(
            f"SELECT ?p WHERE {{ {{ {node} ?p ?o }} UNION {{ ?s ?p {node} }} }} LIMIT 1",
            deadline,
        )
        return frozenset({normal_id(entity_id)}) if found else None

    def relations(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.relations`."""
        return self._predicates(of, "isIRI(?o)", deadline)

    def attributes(self, of: Entities, deadline: Deadline) -> list[str]:
        """See `Graph.attributes`."""
        return self._predicates(of, "isLiteral(?o)", deadline)

    def neighbors(self, of: Entities, relation: str, deadline: Deadline) -> Entities:
        """See `Graph.neighbors`."""
        step = f"?s <{iri(relation)}> ?o . FILTER(isIRI(?o))"
        return frozenset(
            id_of(row["o"]["value"])
            for batch in _batches(of)
            for row in self._pages("?o", f"{batch} {step}", deadline)
        )

    def extreme(
        self, of: Entities, attribute: str, deadline: Deadline, *, largest: bool
    ) -> Entities:
        """See `Graph.extreme`: the values are fetched and compared here."""
        step = f"?s <{iri(attribute)}> ?o . FILTER(isLiteral(?o))"
        pairs = (
            (id_of(row["s"]["value"]), _literal(row["o"]))
            for batch in _batches(of)
            for row in self._pages("?s ?o", f"{batch} {step}", deadline)
        )
        return extreme(pairs, largest=largest, deadline=deadline)

    def range_of(self, relation: str, deadline: Deadline) -> str | None:
        """See `Graph.range_of`; asked once for each relation."""
        if relation not in self._ranges:
            self._ranges[relation] = self._declared(relation, deadline) or self._told_by_types(
                relation, deadline
            )
        return self._ranges[relation]

    def select(self, query: str) -> frozenset[str]:
        """See `Graph.select`; as many rows as the endpoint gives."""
        rows = self._select(query, Deadline(_PATIENCE_S))
        cells = (next(iter(row.values())) for row in rows if row)
        return frozenset(
            id_of(cell["value"]) if cell["type"] == "uri" else cell["value"] for cell in cells
        )

    def close(self) -> None:
        """See `Graph.close`."""
        self._connection.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": SparqlConnection(self._url)}

    # Asking ----------------------------------------------------------------------------

    def _select(self, query: str, deadline: Deadline) -> list[_Row]:
        """The rows of one query.

        Raises:
            ActionTimeout: The endpoint is slow, but alive.
            BackendError: It is neither.
        """
        try:
            return self._connection.query(query, deadline)
        except Slow:
            self._ping()
            deadline.check()
            raise ActionTimeout("stopped by the endpoint's own time limit") from None

    def _ping(self) -> None:
        try:
            self._connection.query("SELECT (1 AS ?one) WHERE { }", Deadline(_PING_S))
        except Slow as error:
            raise BackendError(f"the endpoint {error} does not answer any more") from error

    def _pages(self, columns: str, pattern: str, deadline: Deadline) -> Iterator[_Row]:
        """All distinct rows, however few the endpoint gives at once."""
        inner = f"SELECT DISTINCT {columns} WHERE {{ {pattern} }}"
        page = self._select(f"{inner} LIMIT {_PAGE}", deadline)
        if len(page) < _SURELY_WHOLE:
            yield from page
            return
        counted = self._select(f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {inner} }} }}", deadline)
        total, read = int(counted[0]["n"]["value"]), 0
        # An ordered subquery: Virtuoso sorts no more than 10,000 rows of an outer one.
        ordered = f"SELECT {columns} WHERE {{ {{ {inner} ORDER BY {columns} }} }}"
        if len(page) == total:
            yield from page
            return
        while read < total:
            page = self._select(f"{ordered} LIMIT {_PAGE} OFFSET {read}", deadline)
            read += len(page)
            yield from page
            if not page:
                raise BackendError(
                    f"the endpoint {self._connection.shown} gave {read} of {total} rows"
                )

    def _predicates(self, of: Entities, which: str, deadline: Deadline) -> list[str]:
        found = {
            id_of(row["p"]["value"])
            for batch in _batches(of)
            for row in self._pages("?p", f"{batch} ?s ?p ?o . FILTER({which})", deadline)
        }
        return sorted(found - SCHEMA_PREDICATES)

    # Types -----------------------------------------------------------------------------

    def _declared(self, relation: str, deadline: Deadline) -> str | None:
        rows = self._select(
            f"SELECT DISTINCT ?t WHERE {{ <{iri(relation)}> {_either(RANGE_PREDICATES)} ?t . "
            "FILTER(isIRI(?t)) }",
            deadline,
        )
        return min((id_of(row["t"]["value"]) for row in rows), default=None)

    def _told_by_types(self, relation: str, deadline: Deadline) -> str | None:
        typed = f"?s <{iri(relation)}> ?o . ?o {_either(TYPE_PREDICATES)} ?t . FILTER(isIRI(?t))"
        counts = self._counts(typed, "?o", deadline)
        if not counts:
            return None
        whole = self._select(f"SELECT (COUNT(DISTINCT ?o) AS ?n) WHERE {{ {typed} }}", deadline)
        names = " ".join(f"<{iri(name)}>" for name in counts)
        sizes = self._counts(
            f"VALUES ?t {{ {names} }} ?x {_either(TYPE_PREDICATES)} ?t .", "?x", deadline
        )
        return narrowest(counts, int(whole[0]["n"]["value"]), sizes)

    def _counts(self, pattern: str, what: str, deadline: Deadline) -> dict[str, int]:
        rows = self._select(
            f"SELECT ?t (COUNT(DISTINCT {what}) AS ?n) WHERE {{ {pattern} }} GROUP BY ?t",
            deadline,
        )
        return {id_of(row["t"]["value"]): int(row["n"]["value"]) for row in rows if "t" in row}


def _batches(entities: Iterable[str]) -> Iterator[str]:
    """Entities as `VALUES` of `?s`, a few hundred in each."""
    left = iter(entities)
    while batch := list(islice(left, _BATCH)):
        yield f"VALUES ?s {{ {' '.join(f'<{iri(entity_id)}>' for entity_id in batch)} }}"


def _either(predicates: Sequence[str]) -> str:
    return "|".join(f"<{iri(name)}>" for name in predicates)


def _literal(cell: dict[str, str]) -> Literal:
    if language := cell.get("xml:lang"):
        return Literal(cell["value"], LANG_STRING, language)
    return Literal(cell["value"], cell.get("datatype") or STRING)
