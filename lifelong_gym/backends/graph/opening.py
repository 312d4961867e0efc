"""From the text that names a graph to the driver that holds it."""

from __future__ import annotations

from pathlib import Path

from lifelong_gym.backends.graph.contract import Graph
from lifelong_gym.backends.graph.embedded import INDEX_FOLDER, EmbeddedGraph
from lifelong_gym.backends.graph.index import is_saved
from lifelong_gym.backends.graph.sources import find_source
from lifelong_gym.errors import UsageError

BUILTIN = "builtin"
_RDFLIB = "rdflib+"


def open_graph(graph: str) -> Graph:
    """The graph that a text names; nothing is read or reached before its first use.

    Args:
        graph: `"builtin"`, a path, `"rdflib+PATH"`, or the URL of a SPARQL endpoint.

    Raises:
        UsageError: It names no graph; says what would.
    """
    if not isinstance(graph, str) or not graph:
        raise UsageError(
            "a graph is 'builtin', a path, 'rdflib+PATH' or the URL of a SPARQL endpoint; "
            f"got {graph!r}"
        )
    if graph == BUILTIN:
        from lifelong_gym.backends.graph.builtin import triples

        return EmbeddedGraph(triples=triples)
    if graph.startswith(("http://", "https://")):
        from lifelong_gym.backends.graph.endpoint import EndpointGraph

        return EndpointGraph(graph)
    if graph.startswith(_RDFLIB):
        from lifelong_gym.backends.graph.in_rdflib import RdflibGraph

        return RdflibGraph(find_source(_path(graph.removeprefix(_RDFLIB))))
    path = _path(graph)
    return EmbeddedGraph(path if is_saved(path / INDEX_FOLDER) else find_source(path))


def _path(text: str) -> Path:
    return Path(text).expanduser() if text.startswith("~/") else Path(text)
