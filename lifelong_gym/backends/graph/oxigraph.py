"""Oxigraph: filling a store, opening one, asking it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifelong_gym.backends.graph.sources import Source, Triple, opened
from lifelong_gym.backends.graph.terms import LANG_STRING, STRING, Literal, id_of, iri
from lifelong_gym.errors import BackendError, MissingExtraError

if TYPE_CHECKING:
    import pyoxigraph

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def _oxigraph() -> Any:
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtraError("pyoxigraph", "graph", "SPARQL on an embedded graph") from error
    return pyoxigraph


def open_store(folder: Path) -> pyoxigraph.Store:
    """The store in `folder`, to be read by this process and any others.

    Raises:
        BackendError: It cannot be opened.
    """
    try:
        opened: pyoxigraph.Store = _oxigraph().Store.read_only(str(folder))
        return opened
    except OSError as error:
        raise BackendError(f"the store in {folder} cannot be opened: {error}") from error


def fill(triples: Iterable[Triple], folder: Path | None = None) -> pyoxigraph.Store:
    """A new store with these triples, in `folder` or in memory."""
    ox = _oxigraph()
    store: pyoxigraph.Store = ox.Store() if folder is None else ox.Store(str(folder))
    lines: Any = _Lines(triples)  # all of a file that is asked of it
    store.bulk_load(input=lines, format=ox.RdfFormat.N_TRIPLES)
    return store


def fill_from_rdf(source: Source, folder: Path) -> None:
    """A new store in `folder` with the triples of an RDF file, blank nodes included."""
    ox = _oxigraph()
    path, form = source.files[0]
    store = ox.Store(str(folder))
    with opened(path) as stream:
        store.bulk_load(input=stream, format=getattr(ox.RdfFormat, form))
    store.flush()


def as_rdflib(store: pyoxigraph.Store) -> Any:
    """The default graph of a store as an `rdflib.Graph`, through oxrdflib.

    Raises:
        MissingExtraError: rdflib or oxrdflib is not installed.
    """
    try:
        import oxrdflib
        import rdflib
    except ImportError as error:
        raise MissingExtraError("oxrdflib", "graph", "rdflib's API on a store") from error
    default = rdflib.graph.DATASET_DEFAULT_GRAPH_ID
    return rdflib.Graph(store=oxrdflib.OxigraphStore(store=store), identifier=default)


def select(store: pyoxigraph.Store, query: str) -> frozenset[str]:
    """The first column of a query, IRIs as ids."""
    ox = _oxigraph()
    rows: Any = store.query(query)
    terms = (row[0] for row in rows)
    return frozenset(
        id_of(term.value) if isinstance(term, ox.NamedNode) else term.value
        for term in terms
        if term is not None
    )


class _Lines:
    """Triples as a stream of N-Triples, made while it is read."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._lines = _n_triples_lines(triples)
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; none at the end."""
        parts, length = [self._left], len(self._left)
        while length < size or size < 0:
            if (line := next(self._lines, None)) is None:
                break
            parts.append(line.encode())
            length += len(parts[-1])
        whole = b"".join(parts)
        cut = len(whole) if size < 0 else size
        self._left = whole[cut:]
        return whole[:cut]


def n_triples(triple: Triple) -> str:
    r"""A triple as a line of N-Triples.

    Examples:
        >>> n_triples(("urn:a", "urn:b", Literal('say "hi"')))
        '<urn:a> <urn:b> "say \\"hi\\"" .\n'
    """
    return next(_n_triples_lines([triple]))


class _Written(dict[str, str]):
    """How ids are written, each worked out once."""

    def __missing__(self, entity_id: str) -> str:
        written = self[entity_id] = f"<{iri(entity_id)}>"
        return written


def _n_triples_lines(triples: Iterable[Triple]) -> Iterator[str]:
    written = _Written()
    for subject, predicate, target in triples:
        end = written[target] if isinstance(target, str) else literal_text(target)
        yield f"{written[subject]} {written[predicate]} {end} .\n"


def literal_text(literal: Literal) -> str:
    """A literal as N-Triples and SPARQL write it."""
    text = f'"{literal.text.translate(_ESCAPES)}"'
    if literal.datatype == LANG_STRING:
        return f"{text}@{literal.language}"
    return text if literal.datatype == STRING else f"{text}^^<{literal.datatype}>"


def teed(triples: Iterable[Triple], builder: Any) -> Iterator[Triple]:
    """The triples, each also given to the index builder, in one pass over the files."""
    batch: list[Triple] = []
    for triple in triples:
        batch.append(triple)
        if len(batch) == _BATCH:
            builder.add(batch)
            yield from batch
            batch = []
    builder.add(batch)
    yield from batch


_BATCH = 4096
