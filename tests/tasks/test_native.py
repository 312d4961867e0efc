"""The native form: what is saved loads again, and what is malformed is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifelong_gym.backends.database.contract import Column, Table
from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks import DatabaseTask, TaskSet
from lifelong_gym.tasks.native import json_schema

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "task.schema.json"
TABLE = {"name": "t", "columns": [{"name": "a", "type": "INT"}], "rows": [[1], [2]]}
GOOD = {
    "format": 1,
    "domain": "database",
    "id": "one",
    "instruction": "Delete row 1.",
    "tables": [TABLE],
    "sql": "DELETE FROM t WHERE a = 1",
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
cells = st.none() | st.booleans() | numbers | texts


@st.composite
def tables(draw, name):
    width = draw(st.integers(1, 3))
    columns = tuple(Column(name=draw(texts), type=draw(texts)) for _ in range(width))
    rows = draw(st.lists(st.tuples(*[cells] * width), max_size=3))
    return Table(name=name, columns=columns, rows=tuple(rows))


database_tasks = st.builds(
    DatabaseTask,
    id=texts,
    instruction=texts,
    skills=st.lists(texts, max_size=3).map(tuple),
    source=texts,
    split=st.none() | texts,
    tables=st.tuples(tables("one"), tables("two")),
    sql=texts,
    answer=st.none() | st.lists(st.tuples(cells, cells), max_size=3).map(tuple),
    answer_form=st.sampled_from(["rows", "values"]),
    md5=st.none() | texts,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(database_tasks, min_size=1, max_size=3, unique_by=lambda task: task.id))
def test_what_is_saved_loads_again(tmp_path, given_tasks):
    tasks = TaskSet(given_tasks, domain="database")
    tasks.save(tmp_path / "saved.jsonl")
    loaded = TaskSet.load(str(tmp_path / "saved.jsonl"), "database")

    assert loaded == tasks
    assert loaded.fingerprint == tasks.fingerprint
    assert repr(list(loaded)) == repr(list(tasks))  # True is not 1, nor 1 1.0


def test_the_builtin_tasks_survive_being_saved(tmp_path):
    tasks = TaskSet.load("builtin", "database")
    tasks.save(tmp_path / "builtin.jsonl")

    assert TaskSet.load(str(tmp_path / "builtin.jsonl"), "database") == tasks


def test_every_line_says_format_and_domain(tmp_path):
    TaskSet.load("builtin?limit=3", "database").save(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]

    assert [(line["format"], line["domain"]) for line in lines] == [(1, "database")] * 3


def test_saving_replaces_the_file_and_leaves_nothing_else(tmp_path):
    TaskSet.load("builtin", "database").save(tmp_path / "a.jsonl")
    TaskSet.load("builtin?limit=1", "database").save(str(tmp_path / "a.jsonl"))

    assert len(TaskSet.load(str(tmp_path / "a.jsonl"), "database")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_only_json_lines_are_saved(tmp_path):
    with pytest.raises(UsageError, match=r"to a \.jsonl file; got '.*a\.json'"):
        TaskSet.load("builtin", "database").save(tmp_path / "a.json")


def test_saving_where_nothing_can_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        TaskSet.load("builtin", "database").save(tmp_path / "no" / "a.jsonl")


def test_a_number_that_json_lacks_is_not_saved(tmp_path):
    table = {**TABLE, "rows": [[float("nan")]]}
    task = DatabaseTask(id="a", instruction="", tables=[table], sql="")

    with pytest.raises(TaskError, match="task 'a' cannot be written as JSON"):
        TaskSet([task], domain="database").save(tmp_path / "a.jsonl")


def test_byte_order_mark_crlf_and_blank_lines_are_accepted(write):
    path = write(b"\xef\xbb\xbf" + json.dumps(GOOD).encode(), b"", b"  ", end=b"\r\n")

    assert TaskSet.load(path, "database").ids == ("one",)


def test_a_line_separator_inside_a_string_ends_no_line(write):
    line = json.dumps({**GOOD, "instruction": "a\u2028b\x85c"}, ensure_ascii=False)

    assert TaskSet.load(write(line), "database")[0].instruction == "a\u2028b\x85c"


def test_skills_that_nobody_knows_are_accepted(write):
    assert TaskSet.load(write({**GOOD, "skills": ["juggling"]}), "database")[0].skills == (
        "juggling",
    )


def test_a_list_of_tasks_is_read_from_json(tmp_path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([GOOD, {**GOOD, "id": "two"}]))

    assert TaskSet.load(str(path), "database").ids == ("one", "two")


def test_a_single_task_is_read_from_json(tmp_path):
    path = tmp_path / "task.json"
    path.write_text(json.dumps(GOOD, indent=2))

    assert TaskSet.load(str(path), "database").ids == ("one",)


def test_native_tasks_are_read_from_parquet_with_nested_fields_as_json(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    row = {**GOOD, "tables": json.dumps([TABLE]), "skills": ["delete"], "answer": None}
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "tasks.parquet")
    task = TaskSet.load(str(tmp_path / "tasks.parquet"), "database")[0]

    assert task.tables[0].rows == ((1,), (2,))
    assert task.skills == ("delete",)
    assert not task.is_question


def test_the_published_schema_is_the_models_schema():
    assert json.loads(SCHEMA.read_text()) == json_schema(), (
        "write the schema again: docs/tasks.md says how"
    )
