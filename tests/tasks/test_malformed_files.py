"""Malformed task files: each is refused whole, with file, entry and field named."""

from __future__ import annotations

import re

import pytest

from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks import TaskSet

TABLE = {"name": "t", "columns": [{"name": "a", "type": "INT"}], "rows": [[1], [2]]}
GOOD = {
    "format": 1,
    "domain": "database",
    "id": "one",
    "instruction": "Delete row 1.",
    "tables": [TABLE],
    "sql": "DELETE FROM t WHERE a = 1",
}
MISSING = object()


def changed(field: str, value: object) -> dict:
    entry = {**GOOD, field: value}
    return {name: entry[name] for name in entry if entry[name] is not MISSING}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 3: not JSON: .* at column 2"),
        ("[1]", "line 3: expected an object, got list"),
        ('{"id": NaN}', "line 3: NaN is not JSON: write null"),
        ('{"id": 1e999}', "line 3: the number 1e999 is too large"),
        ('{"id": "a", "id": "b"}', "line 3: 'id' is given twice"),
        ("[" * 100_000, "line 3: "),
        (changed("format", MISSING), "line 3, field format: missing; a native task says format: 1"),
        (changed("format", 2), "line 3, field format: expected 1, got 2"),
        (changed("format", True), "line 3, field format: expected 1, got True"),
        (changed("domain", MISSING), "line 3, field domain: missing"),
        (changed("domain", "os"), "line 3, field domain: expected 'database', got 'os'"),
        (changed("sql", MISSING), "line 3, field sql: Field required"),
        (changed("sql", 5), "line 3, field sql: Input should be a valid string, got 5"),
        (changed("sqll", "x"), "line 3, field sqll: Extra inputs are not permitted"),
        (changed("skills", "select"), "line 3, field skills: Input should be a valid tuple"),
        (changed("tables", []), "line 3, field tables: Tuple should have at least 1 item"),
        (
            changed("tables", [{**TABLE, "rows": [[1], [1, 2]]}]),
            "line 3, field tables.0: row 1 of table 't' has 2 values for 1 columns",
        ),
        (changed("tables", [{**TABLE, "rows": [[{}]]}]), r"line 3, field tables\.0\.rows\.0\.0"),
        (changed("answer", [[1], [1, 2]]), "line 3: row 1 of answer has 2 values"),
        (changed("answer_form", "sets"), "line 3, field answer_form: .*got 'sets'"),
        (changed("instruction", "\ud800"), r"line 3: '\\ud800' is half of a character"),
        (changed("id", "zero"), "line 3, field id: 'zero' is the id of line 1 already"),
    ],
)
def test_a_bad_entry_is_refused_with_file_line_and_field(write, line, message):
    path = write(changed("id", "zero"), "", line)

    with pytest.raises(TaskError, match=re.escape(path) + ", " + message):
        TaskSet.load(path, "database")


def test_several_problems_of_an_entry_are_counted(write):
    entry = changed("sql", MISSING)
    del entry["instruction"]

    with pytest.raises(TaskError, match=r"field instruction: Field required \(and 1 more\)"):
        TaskSet.load(write(entry), "database")


def test_a_file_without_tasks_is_refused(write):
    with pytest.raises(UsageError, match=r"tasks.jsonl' has no tasks"):
        TaskSet.load(write(), "database")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(TaskError, match=r"no\.jsonl cannot be read: No such file or directory"):
        TaskSet.load(str(tmp_path / "no.jsonl"), "database")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "tasks.jsonl").mkdir()

    with pytest.raises(TaskError, match="is a folder, expected a file"):
        TaskSet.load(str(tmp_path / "tasks.jsonl"), "database")


def test_bytes_that_are_not_utf8_are_refused(write):
    with pytest.raises(TaskError, match=r"is not UTF-8: .* at byte 0"):
        TaskSet.load(write(b"\xff\xfe{}"), "database")


@pytest.mark.parametrize("content", ["3", '"text"', "null"])
def test_json_that_holds_no_entries_is_refused(tmp_path, content):
    (tmp_path / "a.json").write_text(content)

    with pytest.raises(TaskError, match="must hold a list or an object, got"):
        TaskSet.load(str(tmp_path / "a.json"), "database")


def test_bad_json_over_several_lines_is_refused_with_its_line(tmp_path):
    (tmp_path / "a.json").write_text("[\n{},\n{,\n]")

    with pytest.raises(TaskError, match=r"not JSON: .* at line 3, column 2"):
        TaskSet.load(str(tmp_path / "a.json"), "database")


def test_what_is_not_parquet_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR0 nothing")

    with pytest.raises(TaskError, match=r"a\.parquet cannot be read as Parquet"):
        TaskSet.load(str(tmp_path / "a.parquet"), "database")
