"""One awkward graph, and every driver that can hold it."""

from __future__ import annotations

import pytest

from lifelong_gym.backends.graph import build_graph, open_graph
from tests.backends.graph.servers import ISQL, VIRTUOSO, Server, virtuoso

FB = "http://rdf.freebase.com/ns/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def line(subject, predicate, target):
    """A line of N-Triples; ids without a namespace are Freebase's, `"` begins a literal."""

    def term(text):
        if text.startswith(('"', "_:")):
            return text
        return f"<{text}>" if ":" in text else f"<{FB}{text}>"

    return f"{term(subject)} {term(predicate)} {term(target)} .\n"


def value(subject, attribute, text, datatype):
    return line(subject, attribute, f'"{text}"^^<{XSD}{datatype}>')


AWKWARD = "".join(
    [
        line("m.a", "r.to", "m.b"),
        line("m.a", "r.to", "m.b"),
        line("m.a", "r.to", "m.c"),
        line("m.a", "r.self", "m.a"),
        line("m.b", "r.on", "m.d"),
        line("m.c", "r.on", "m.d"),
        line("m.c", "r.on", "http://example.org/x#y"),
        line("http://example.org/x#y", "r.back", "m.a"),
        line("m.c", "http://example.org/own", "m.caf\u00e9\U0001f389"),
        line("m.b", "r.mixed", "m.e"),
        line("m.b", "r.mixed", '"a text"'),
        line("m.a", "r.to", "_:blank"),
        line("_:blank", "r.on", "m.never"),
        # Types: r.to leads to two people, one of whom is a singer too; r.on's is declared.
        line("m.b", RDF_TYPE, "t.person"),
        line("m.c", RDF_TYPE, "t.person"),
        line("m.c", "type.object.type", "t.singer"),
        line("m.d", RDF_TYPE, "t.person"),
        line("r.on", RDFS + "range", "t.declared"),
        line("m.b", RDFS + "label", '"Bea"@en'),
        line("m.b", RDFS + "label", '"Abé"@fr'),
        # Values.
        value("m.b", "v.number", "10", "integer"),
        value("m.c", "v.number", "9.5", "decimal"),
        value("m.d", "v.number", "1.0E1", "double"),
        value("m.b", "v.big", "9007199254740993", "integer"),
        value("m.c", "v.big", "9007199254740992", "integer"),
        value("m.b", "v.when", "2001", "gYear"),
        value("m.c", "v.when", "2001-01-01", "date"),
        value("m.d", "v.when", "2000-12-31T23:59:59Z", "dateTime"),
        value("m.b", "v.mixed", "5", "integer"),
        value("m.c", "v.mixed", "1999-01-01", "date"),
        line("m.d", "v.mixed", '"zebra"'),
        line("m.b", "v.text", '"abc"'),
        line("m.c", "v.text", '"Zoe"@en'),
        line("m.d", "v.text", '"\u00e9t\u00e9"'),
        value("m.b", "v.several", "1", "integer"),
        value("m.b", "v.several", "8", "integer"),
        value("m.c", "v.several", "7", "integer"),
    ]
)

DRIVERS = ("file", "turtle", "store", "rdflib", "oxigraph", "virtuoso")


@pytest.fixture(scope="session")
def awkward_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("awkward") / "awkward.nt"
    path.write_text(AWKWARD, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def virtuoso_url(tmp_path_factory, awkward_file):
    if VIRTUOSO is None or ISQL is None:
        pytest.skip("no Virtuoso: apt-get install virtuoso-opensource")
    with virtuoso(tmp_path_factory.mktemp("virtuoso"), awkward_file) as url:
        yield url


@pytest.fixture(scope="session")
def oxigraph_url(awkward_file):
    ox = pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")
    store = ox.Store()
    store.load(path=str(awkward_file))
    server = Server(store)
    yield server.url
    server.stop()


@pytest.fixture(
    scope="session",
    params=[pytest.param(d, marks=[pytest.mark.slow] * (d == "virtuoso")) for d in DRIVERS],
)
def graph(request, awkward_file, tmp_path_factory):
    """The awkward graph, held by each driver in turn."""
    if request.param == "rdflib":
        pytest.importorskip("rdflib", reason="pip install rdflib")
    if request.param in ("file", "turtle", "store", "rdflib"):
        pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")
    folder = tmp_path_factory.mktemp("graph")
    if request.param == "turtle":
        (folder / "awkward.ttl").write_text(AWKWARD, encoding="utf-8")
        name = str(folder / "awkward.ttl")
    elif request.param == "store":
        name = str(build_graph(awkward_file, folder / "store").folder)
    elif request.param in ("oxigraph", "virtuoso"):
        name = request.getfixturevalue(f"{request.param}_url")
    else:
        name = {"file": "", "rdflib": "rdflib+"}[request.param] + str(awkward_file)
    opened = open_graph(name)
    yield opened
    opened.close()
