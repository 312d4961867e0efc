"""`graph build`."""

import pytest

pytest.importorskip("pyoxigraph", reason='needs pip install "lifelong-gym[graph]"')


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "triples.tsv").write_text("m.a\tpeople.person.friend\tm.b\n")
    return folder


def test_a_folder_of_triples_becomes_a_store(call, source, tmp_path):
    shown = call("graph", "build", source, "--output", tmp_path / "built", "--quiet").stdout

    assert "1 triples, 2 entities" in shown
    assert (tmp_path / "built").is_dir()


def test_a_folder_in_use_is_refused(refused, source):
    assert "is not empty" in refused("graph", "build", source, "--output", source)


def test_what_is_no_graph_is_refused(refused, tmp_path):
    assert "nope" in refused("graph", "build", tmp_path / "nope", "--output", tmp_path / "built")
