"""Graphs in files: what is read, and what is refused with file and line named."""

from __future__ import annotations

import gzip

import pytest

from lifelong_gym.backends.graph import Deadline, build_graph, open_graph
from lifelong_gym.backends.graph.sources import find_source
from lifelong_gym.backends.graph.terms import id_of, iri, normal_id
from lifelong_gym.errors import BackendError, UsageError

SOON = Deadline(86_400)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "triples.tsv").write_text("m.a\tr.to\tm.b\n\nm.a\tr.to\tNew York\n")
    (tmp_path / "attributes.tsv").write_text("m.b\tv.n\t7\nNew York\tv.n\t8.5\n")
    (tmp_path / "names.tsv").write_text("m.b\tBea, the 1st\n")
    return tmp_path


def neighbors(graph, entity_id, relation):
    return set(graph.neighbors(graph.entity(entity_id, SOON), relation, SOON))


def test_a_folder_of_tsv_is_a_graph(folder):
    graph = open_graph(str(folder))
    found = graph.neighbors(graph.entity("m.a", SOON), "r.to", SOON)

    assert set(found) == {"m.b", "New%20York"}
    assert set(graph.extreme(found, "v.n", SOON, largest=True)) == {"New%20York"}
    assert graph.name_of("m.b") == "Bea, the 1st"
    assert graph.name_of("m.a") is None


def test_an_id_with_blanks_is_found_as_it_stands(folder):
    graph = open_graph(str(folder))

    assert set(graph.entity("New York", SOON)) == {"New%20York"}


def test_files_may_be_packed(folder):
    for path in list(folder.iterdir()):
        with gzip.open(f"{path}.gz", "wb") as packed:
            packed.write(path.read_bytes())
        path.unlink()

    assert neighbors(open_graph(str(folder)), "m.a", "r.to") == {"m.b", "New%20York"}


def test_fb15k_is_read_in_its_own_form(tmp_path):
    (tmp_path / "train.txt").write_text("/m/a\t/film/actor/film./film/performance/film\t/m/b\n")
    (tmp_path / "test.txt").write_text("/m/b\t/film/film/country\t/m/c\n")
    (tmp_path / "names.tsv").write_text("m.a\tAnn\n")
    (tmp_path / "numeric.tsv").write_text("m.b\tfilm.film.year\t1999.5\n")
    graph = open_graph(str(tmp_path))

    assert neighbors(graph, "m.a", "film.actor.film..film.performance.film") == {"m.b"}
    assert neighbors(graph, "m.b", "film.film.country") == {"m.c"}
    assert graph.attributes(graph.entity("m.b", SOON), SOON) == ["film.film.year"]
    assert graph.name_of("m.a") == "Ann"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("triples.tsv", "m.a\tr.to\n", r"triples.tsv, line 1: expected 3 .* got 'm.a\\tr.to'"),
        ("attributes.tsv", "m.a\tv.n\t1\nm.b\tv.n\t1\t2\n", "attributes.tsv, line 2: expected 3"),
        ("names.tsv", "m.a\n", "names.tsv, line 1: expected 2 fields"),
        ("names.tsv", b"m.a\t\xff\n", "names.tsv, line 1: not UTF-8"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_refused(folder, name, text, message):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(UsageError, match=message):
        open_graph(str(folder)).entity("m.a", SOON)


def test_a_packed_file_that_is_cut_is_refused(folder):
    packed = gzip.compress((folder / "triples.tsv").read_bytes() * 1000)
    (folder / "triples.tsv").unlink()
    (folder / "triples.tsv.gz").write_bytes(packed[: len(packed) // 2])

    with pytest.raises(UsageError, match=r"triples.tsv.gz cannot be read"):
        open_graph(str(folder)).entity("m.a", SOON)


def test_malformed_rdf_is_refused(tmp_path):
    (tmp_path / "bad.nt").write_text("<urn:a> <urn:b> .\n")

    with pytest.raises(UsageError, match=r"bad.nt cannot be read: .* line 1"):
        open_graph(str(tmp_path / "bad.nt")).entity("urn:a", SOON)


@pytest.mark.parametrize("name", ["nowhere.nt", "nowhere", "rdflib+nowhere.ttl", "", "a.csv"])
def test_what_is_no_graph_is_refused_at_once(name):
    with pytest.raises(UsageError, match="a graph is"):
        open_graph(name)


def test_an_empty_folder_is_no_graph(tmp_path):
    with pytest.raises(UsageError, match="has neither"):
        find_source(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["m.a", "New York", "a%zz", "a%20b", "caf\u00e9", "\U0001f389", "a#b", '<>"{}|\\^`', "x:y", ""],
)
def test_an_id_and_its_iri_mean_each_other(text):
    address = iri(text)

    assert iri(id_of(address)) == address
    assert normal_id(normal_id(text)) == normal_id(text)
    assert not set(' <>"{}|\\^`\n') & set(address)


def test_a_built_store_opens_at_once_and_says_the_same(folder, tmp_path):
    built = build_graph(folder, tmp_path / "store")
    graph = open_graph(str(tmp_path / "store"))

    assert (built.triples, built.entities) == (5, 3)
    assert neighbors(graph, "m.a", "r.to") == {"m.b", "New%20York"}
    assert graph.select("SELECT ?s WHERE { ?s ?p 7 }") == {"m.b"}


def test_a_store_has_rdflibs_api(folder, tmp_path):
    rdflib = pytest.importorskip("rdflib", reason="pip install rdflib")
    pytest.importorskip("oxrdflib", reason="pip install oxrdflib")
    build_graph(folder, tmp_path / "store")
    one, other = (open_graph(str(tmp_path / "store")).as_rdflib() for _ in range(2))

    assert len(one) == len(other) == 5
    assert set(one.objects(rdflib.URIRef(iri("m.a")), rdflib.URIRef(iri("r.to")))) == {
        rdflib.URIRef(iri("m.b")),
        rdflib.URIRef(iri("New York")),
    }


def test_a_store_is_whole_or_not_there(folder, tmp_path):
    (folder / "names.tsv").write_text("broken\n")

    with pytest.raises(UsageError, match=r"names.tsv, line 1"):
        build_graph(folder, tmp_path / "store")
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "store.part").exists()


def test_a_folder_in_use_is_not_overwritten(folder, tmp_path):
    with pytest.raises(UsageError, match="is not empty"):
        build_graph(folder, folder)


def test_a_damaged_store_is_the_systems_fault(folder, tmp_path):
    build_graph(folder, tmp_path / "store")
    (tmp_path / "store" / "index" / "keys.npy").write_bytes(b"no array")

    with pytest.raises(BackendError, match="cannot be opened"):
        open_graph(str(tmp_path / "store")).entity("m.a", SOON)


@pytest.mark.parametrize("prefix", ["", "rdflib+"])
def test_an_ill_typed_value_takes_no_part(tmp_path, prefix):
    number = "http://www.w3.org/2001/XMLSchema#integer"
    (tmp_path / "g.nt").write_text(
        f'<urn:a> <urn:n> "tall"^^<{number}> .\n<urn:b> <urn:n> "3"^^<{number}> .\n'
        f'<urn:a> <urn:only> "bad"^^<{number}> .\n'
    )
    graph = open_graph(f"{prefix}{tmp_path / 'g.nt'}")
    both = graph.entity("urn:a", SOON) | graph.entity("urn:b", SOON)

    assert set(graph.extreme(both, "urn:n", SOON, largest=True)) == {"urn:b"}
    assert set(graph.extreme(both, "urn:only", SOON, largest=True)) == set()
    assert graph.attributes(both, SOON) == ["urn:n", "urn:only"]


def test_building_shows_a_progress_bar_on_request(folder, tmp_path, capsys):
    build_graph(folder, tmp_path / "store", progress=True)
    shown = capsys.readouterr()

    assert shown.out == ""
    assert "Built" in shown.err


@pytest.mark.parametrize("prefix", ["", "rdflib+"])
def test_an_empty_graph_is_a_graph(tmp_path, prefix):
    (tmp_path / "empty.nt").write_text("")
    graph = open_graph(f"{prefix}{tmp_path / 'empty.nt'}")

    assert graph.entity("m.a", SOON) is None
    assert graph.relations(frozenset({"m.a"}), SOON) == []
    assert len(graph.neighbors(frozenset({"m.a"}), "r.to", SOON)) == 0
    assert len(graph.extreme(frozenset({"m.a"}), "v.n", SOON, largest=True)) == 0


def test_building_touches_no_folder_of_somebody_else(tmp_path):
    pytest.importorskip("pyoxigraph")
    source = tmp_path / "built.part"
    source.mkdir()
    (source / "triples.tsv").write_text("m.a\tpeople.person.friend\tm.b\n")
    build_graph(source, tmp_path / "built")

    assert (source / "triples.tsv").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["built", "built.part"]
