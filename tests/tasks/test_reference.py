"""Task references: what the one string says, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.errors import UsageError
from lifelong_gym.tasks import SOURCES, TaskSet, resolve
from lifelong_gym.tasks.reference import encode, parse

values = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
keys = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)


@given(st.dictionaries(keys, values, max_size=4))
def test_any_value_survives_being_encoded(given_values):
    query = "&".join(f"{key}={encode(value)}" for key, value in given_values.items())

    assert parse("agentbench:dev" + "?" * bool(query) + query, SOURCES).values == given_values


@given(values.filter(lambda name: "/" not in name and "\0" not in name))
def test_any_file_name_is_a_path(name):
    reference = parse(f"tasks/{name}.jsonl?limit=3", SOURCES)

    assert reference.path == f"tasks/{name}.jsonl"
    assert reference.limit == 3


@given(st.text(max_size=60))
def test_any_text_is_a_reference_or_a_usage_error(text):
    try:
        reference = parse(text, SOURCES)
    except UsageError:
        return
    assert reference.source in {*SOURCES, "file"}


@given(values.filter(lambda name: "\0" not in name))
def test_a_resolved_path_means_the_file_under_the_base(path):
    resolved = resolve(f"lifelongagentbench?path={encode(path)}&limit=2", Path("/base"))

    if not path.startswith("~/"):
        assert parse(resolved, SOURCES).values["path"] == str(Path("/base") / path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a.jsonl", "a.jsonl"),
        ("a.json?limit=1", "a.json"),
        ("what?.jsonl", "what?.jsonl"),
        ("a.json?b.jsonl?skills=x", "a.json?b.jsonl"),
        ("old.json?x/new.parquet", "old.json?x/new.parquet"),
        ("50%25 off.jsonl", "50%25 off.jsonl"),
        ("./builtin.json", "./builtin.json"),
    ],
)
def test_a_path_ends_at_its_suffix(text, path):
    assert parse(text, SOURCES).path == path


def test_a_source_name_wins_over_a_path():
    reference = parse("lifelongagentbench?path=a.json", SOURCES)

    assert (reference.source, reference.path) == ("lifelongagentbench", None)


def test_skills_are_separated_by_commas_and_decoded():
    assert parse("builtin?skills=insert, update", SOURCES).skills == ("insert", "update")
    assert parse("builtin?skills=insert%2Cupdate", SOURCES).skills == ("insert", "update")


def test_a_plus_sign_is_a_plus_sign():
    assert parse("agentbench?path=c++", SOURCES).values == {"path": "c++"}


def test_relative_paths_are_taken_from_the_file_that_holds_the_reference():
    assert resolve("mine/a.jsonl?limit=2", Path("/exp")) == "/exp/mine/a.jsonl?limit=2"
    assert resolve("agentbench:dev?path=d%20d", Path("/exp")) == "agentbench:dev?path=/exp/d%20d"


def test_absolute_paths_and_sources_without_a_path_stay(tmp_path):
    assert resolve("/data/a.jsonl", tmp_path) == "/data/a.jsonl"
    assert resolve("builtin?limit=2", tmp_path) == "builtin?limit=2"


def test_a_tilde_is_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")

    assert resolve("~/a.jsonl", Path("/exp")) == "/home/ada/a.jsonl"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("", "the sources are agentbench, builtin, lifelongagentbench"),
        ("bultin", "no task source is called 'bultin'"),
        ("generated", "no task source is called 'generated'"),
        ("tasks.csv", "a path to a .jsonl, .json or .parquet file"),
        ("builtin:dev", "builtin has no split 'dev': it has none"),
        ("builtin:", "builtin has no split ''"),
        ("agentbench:train?path=x", "its splits are dev, test"),
        ("builtin?size=3", "does not understand 'size'.*understands skills, limit"),
        ("lifelongagentbench?seed=1", "understands path, skills, limit"),
        ("builtin?limit", "expected key=value.*got 'limit'"),
        ("builtin?limit=", "expected key=value"),
        ("builtin?limit=0", "limit must be at least 1, got '0'"),
        ("builtin?limit=-1", "limit must be at least 1, got '-1'"),
        ("builtin?limit=1.5", "limit must be at least 1, got '1.5'"),
        ("builtin?limit=%C2%B2", "limit must be at least 1"),
        ("builtin?limit=1&limit=2", "limit is given twice"),
        ("builtin?skills=a,,b", "names with commas between them"),
        ("builtin?skills=%FF", "is not percent-encoded UTF-8"),
        ("builtin?skills=juggling", "no task .* juggling; its skills are column_alias, "),
        ("agentbench", "clone https://github.com/THUDM/AgentBench"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_the_choices(reference, message):
    with pytest.raises(UsageError, match=message):
        TaskSet.load(reference, "database")


def test_a_reference_is_a_text():
    with pytest.raises(UsageError, match=r"a task reference is a str, .* got PosixPath"):
        TaskSet.load(Path("a.jsonl"), "database")


def test_an_unknown_domain_is_refused_with_the_domains():
    with pytest.raises(UsageError, match="no domain is called 'databse'; the domains are database"):
        TaskSet.load("builtin", "databse")
