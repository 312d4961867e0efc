"""Whether knowledge graphs can be opened here."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Iterator

from lifelong_gym.backends.graph import open_graph
from lifelong_gym.diagnosis import Check
from lifelong_gym.errors import MissingExtraError


def checks() -> Iterator[Check]:
    """The builtin graph, and what RDF files, SPARQL and rdflib need."""
    yield Check("graph", "builtin", _builtin)
    for package in ("pyoxigraph", "rdflib", "oxrdflib"):
        yield Check("graph", package, functools.partial(_version, package))


def _builtin() -> str:
    graph = open_graph("builtin")
    try:
        return graph.version
    finally:
        graph.close()


def _version(package: str) -> str:
    if importlib.util.find_spec(package) is None:
        raise MissingExtraError(package, "graph", "Graphs of RDF")
    return importlib.metadata.version(package)
