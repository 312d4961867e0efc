"""AgentBench's dbbench: TEXT columns, flat labels, nested checksums."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks import TaskSet

DATA = Path(os.environ.get("LIFELONG_GYM_DATA", Path(__file__).parents[3] / "shared" / "data"))
REAL = DATA / "agentbench"
needs_real_data = pytest.mark.skipif(
    not (REAL / "dbbench").is_dir(), reason=f"no real task data in {REAL}: set LIFELONG_GYM_DATA"
)

SHEET = {
    "columns": [{"name": "Team", "type": "TEXT"}, {"name": "Won  (total)", "type": "INT"}],
    "rows": [["Reds", 5], ["Blues", 1.5], ["Greens", None]],
}
QUESTION = {
    "description": "Which teams won?",
    "add_description": "The name of this table is Cup's Results.",
    "label": ["Reds", "Blues"],
    "table": {"table_name": "Cup's Results", "table_info": SHEET},
    "type": ["ranking"],
    "sql": {"query": "SELECT Team FROM Cup's Results", "length": 3},
    "heads": ["Team", "Won  (total)"],
    "evaluation": "",
    "example": "",
}
CHANGE = {
    **QUESTION,
    "type": ["UPDATE"],
    "label": ["UPDATE `Cup's Results` SET Team = 'Golds'"],
    "answer_md5": f"[('{'a1' * 16}',)]",
}
del CHANGE["sql"]


@pytest.fixture
def load(tmp_path):
    """Loads entries that were written as a split's file."""

    def load(*entries: dict, file: str = "dev.jsonl", reference: str = "agentbench") -> TaskSet:
        (tmp_path / "dbbench").mkdir()
        text = "\n".join(json.dumps(entry) for entry in entries)
        (tmp_path / "dbbench" / file).write_text(text)
        return TaskSet.load(f"{reference}?path={tmp_path}", "database")

    return load


def test_ids_are_folder_and_line(load):
    tasks = load(QUESTION, CHANGE)

    assert tasks.ids == ("dbbench/0", "dbbench/1")
    assert {(task.source, task.split) for task in tasks} == {("agentbench", "dev")}


def test_every_column_and_value_is_text(load):
    table = load(QUESTION)[0].tables[0]

    assert table.name == "Cup's Results"
    assert [(column.name, column.type) for column in table.columns] == [
        ("Team", "TEXT"),
        ("Won  (total)", "TEXT"),
    ]
    assert table.rows == (("Reds", "5"), ("Blues", "1.5"), ("Greens", None))


def test_a_question_is_judged_by_its_labels_values(load):
    task = load(QUESTION)[0]

    assert task.answer == (("Reds",), ("Blues",))
    assert task.answer_form == "values"
    assert task.sql == "SELECT Team FROM Cup's Results"
    assert task.skills == ("select",)


def test_the_label_none_is_null(load):
    assert load({**QUESTION, "label": ["none"]})[0].answer == ((None,),)


def test_a_change_takes_its_sql_from_the_label_and_its_checksum_out_of_the_nesting(load):
    task = load(CHANGE)[0]

    assert task.sql == "UPDATE `Cup's Results` SET Team = 'Golds'"
    assert task.md5 == "a1" * 16
    assert not task.is_question
    assert task.skills == ("update",)


def test_a_change_without_a_checksum_is_judged_by_its_sql(load):
    task = load({**CHANGE, "answer_md5": ""})[0]

    assert task.md5 is None
    assert not task.is_question


def test_the_instruction_is_the_description_and_what_is_said_about_the_table(load):
    assert load(QUESTION)[0].instruction == (
        "Which teams won?\nThe name of this table is Cup's Results."
    )


def test_a_header_that_mysql_refuses_is_changed_and_the_instruction_says_so(load):
    sheet = {**SHEET, "columns": [{"name": ""}, {"name": "Won "}]}
    task = load({**QUESTION, "table": {"table_name": "t", "table_info": sheet}})[0]

    assert [column.name for column in task.tables[0].columns] == ["column_1", "Won"]
    assert "the columns are ['column_1', 'Won']" in task.instruction


def test_several_tables_are_several_tables(load):
    two = [{"table_name": name, "table_info": SHEET} for name in ("one", "two")]

    assert [table.name for table in load({**QUESTION, "table": two})[0].tables] == ["one", "two"]


@pytest.mark.parametrize("file", ["standard.jsonl", "test.jsonl"])
def test_the_test_split_is_the_standard_file(load, file):
    assert load(QUESTION, file=file, reference="agentbench:test")[0].split == "test"


def test_a_file_given_by_its_path_is_recognised(load, tmp_path):
    by_name = load(QUESTION, CHANGE)

    assert TaskSet.load(str(tmp_path / "dbbench" / "dev.jsonl"), "database") == by_name


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**QUESTION, "label": []}, "field label: expected at least one value, got none"),
        ({**QUESTION, "type": []}, "field type: Tuple should have at least 1 item"),
        ({**QUESTION, "description": None}, "field description: .* got None"),
        ({**CHANGE, "label": [3]}, "field label: expected the SQL of the change, got 3"),
        ({**CHANGE, "label": []}, "field label: expected the SQL of the change, got None"),
        ({**CHANGE, "answer_md5": "[]"}, "field answer_md5: expected one checksum .* got '\\[\\]'"),
        (
            {**QUESTION, "table": {"table_name": "t", "table_info": {**SHEET, "rows": [["a"]]}}},
            r"field table\.0\.table_info: row 0 has 1 values for 2 columns",
        ),
    ],
)
def test_a_bad_entry_is_refused_with_file_line_and_field(load, entry, message):
    with pytest.raises(TaskError, match=r"dev\.jsonl, line 2, " + message):
        load(QUESTION, entry)


def test_a_folder_without_the_split_is_refused(load):
    with pytest.raises(UsageError, match=r"agentbench:test is read from standard.jsonl or test"):
        load(QUESTION, reference="agentbench:test")


@needs_real_data
def test_the_real_development_split_is_whole():
    tasks = TaskSet.load(f"agentbench?path={REAL}", "database")

    assert tasks.ids == tuple(f"dbbench/{index}" for index in range(60))
    assert sum(task.is_question for task in tasks) == 20
    assert sum(task.md5 is not None for task in tasks) == 40
    assert {skill for task in tasks for skill in task.skills} == {"select", "insert", "update"}


@needs_real_data
def test_real_column_names_are_ones_that_mysql_accepts():
    for task in TaskSet.load(f"agentbench?path={REAL}", "database"):
        names = [column.name for column in task.tables[0].columns]
        assert all(name and name == name.rstrip() and len(name) <= 64 for name in names)
        assert len({name.lower() for name in names}) == len(names)
