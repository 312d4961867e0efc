"""LifelongAgentBench: both published forms give the same tasks, from a folder or the hub."""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path

import pytest

from lifelong_gym.errors import MissingExtraError, TaskError, UsageError
from lifelong_gym.tasks import TaskSet

DATA = Path(os.environ.get("LIFELONG_GYM_DATA", Path(__file__).parents[3] / "shared" / "data"))
REAL = DATA / "lifelongagentbench"
needs_real_data = pytest.mark.skipif(
    not (REAL / "db_bench").is_dir(), reason=f"no real task data in {REAL}: set LIFELONG_GYM_DATA"
)

TABLE = {
    "name": "boats",
    "column_info_list": [{"name": "id", "type": "INT"}, {"name": "name", "type": "TEXT"}],
    "row_list": [[1, "It's 'Gull'"], [2, None]],
}
QUESTION = {
    "instruction": "Name boat 1.",
    "answer_info": {"direct": [["It's 'Gull'"]], "md5": None, "sql": "SELECT name FROM boats"},
    "table_info": TABLE,
    "skill_list": ["select", "where_single_condition"],
}
CHANGE = {
    "instruction": "Remove boat 1.",
    "answer_info": {"direct": None, "md5": "0" * 32, "sql": "DELETE FROM boats WHERE id = 1"},
    "table_info": TABLE,
    "skill_list": ["delete"],
}
ENTRIES = {"0": QUESTION, "10": CHANGE, "9": QUESTION}


def write_json(root: Path, entries: dict = ENTRIES) -> str:
    folder = root / "db_bench"
    folder.mkdir(exist_ok=True)
    (folder / "entry_dict.json").write_text(json.dumps(entries))
    return f"lifelongagentbench?path={root}"


def write_parquet(root: Path, *shards: dict, **replaced: str) -> str:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = root / "db_bench"
    folder.mkdir(exist_ok=True)
    for number, entries in enumerate(shards):
        rows = [
            {"sample_index": int(key), **{name: _column(value) for name, value in entry.items()}}
            for key, entry in entries.items()
        ]
        rows[0].update(replaced)
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / f"train-{number:05}.parquet")
    return f"lifelongagentbench?path={root}"


def _column(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


@pytest.fixture
def parquet_root(tmp_path):
    root = tmp_path / "parquet"
    root.mkdir()
    return root


def test_both_forms_give_equal_tasks(tmp_path, parquet_root):
    from_json = TaskSet.load(write_json(tmp_path), "database")
    from_parquet = TaskSet.load(write_parquet(parquet_root, ENTRIES), "database")

    assert list(from_json) == list(from_parquet)
    assert from_json.fingerprint == from_parquet.fingerprint


def test_ids_are_folder_and_sample_index_in_the_order_of_the_index(tmp_path):
    tasks = TaskSet.load(write_json(tmp_path), "database")

    assert tasks.ids == ("db_bench/0", "db_bench/9", "db_bench/10")


def test_several_parquet_files_are_one_set(parquet_root):
    reference = write_parquet(parquet_root, {"5": QUESTION}, {"3": CHANGE})

    assert TaskSet.load(reference, "database").ids == ("db_bench/3", "db_bench/5")


def test_a_direct_answer_makes_a_question(tmp_path):
    task = TaskSet.load(write_json(tmp_path), "database").by_id("db_bench/0")

    assert task.answer == (("It's 'Gull'",),)
    assert task.md5 is None
    assert task.source == "lifelongagentbench"


def test_no_direct_answer_makes_a_change(tmp_path):
    task = TaskSet.load(write_json(tmp_path), "database").by_id("db_bench/10")

    assert not task.is_question
    assert task.md5 == "0" * 32


@pytest.mark.parametrize("name", ["entry_dict.json", "train-00000.parquet"])
def test_a_published_file_given_by_its_path_is_recognised(tmp_path, name):
    write_json(tmp_path)
    reference = write_parquet(tmp_path, ENTRIES)
    by_path = TaskSet.load(str(tmp_path / "db_bench" / name), "database")

    assert by_path == TaskSet.load(reference, "database")


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("instruction", 5, "field instruction: .* got 5"),
        ("skill_list", None, "field skill_list: Input should be a valid tuple, got None"),
        ("answer_info", {"sql": "x", "md5": None}, "field answer_info.direct: Field required"),
        ("table_info", {**TABLE, "row_list": [[1]]}, "table_info: row 0 has 1 values for 2"),
        ("table_info", {**TABLE, "name": 3}, "field table_info.name: .* got 3"),
        ("table_info", {**TABLE, "column_info_list": [], "row_list": []}, "at least 1 item"),
    ],
)
def test_a_bad_entry_is_refused_with_file_entry_and_field(tmp_path, part, value, message):
    reference = write_json(tmp_path, {**ENTRIES, "17": {**QUESTION, part: value}})

    with pytest.raises(TaskError, match=r"entry_dict.json, entry '17', .*" + message):
        TaskSet.load(reference, "database")


def test_a_nested_column_that_is_no_literal_is_refused(parquet_root):
    reference = write_parquet(parquet_root, ENTRIES, answer_info="{'sql': open('x')}")

    with pytest.raises(TaskError, match=r"row 0, field answer_info: not a Python literal"):
        TaskSet.load(reference, "database")


def test_an_index_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(TaskError, match=r"entry 'x', field sample_index: expected an integer"):
        TaskSet.load(write_json(tmp_path, {"x": QUESTION}), "database")


def test_a_repeated_sample_index_is_refused_with_both_places(parquet_root):
    reference = write_parquet(parquet_root, {"3": QUESTION}, {"3": CHANGE})

    with pytest.raises(TaskError, match=r"'db_bench/3' is the id of .*00000.parquet, row 0"):
        TaskSet.load(reference, "database")


def test_a_key_given_twice_in_json_is_refused(tmp_path):
    reference = write_json(tmp_path)
    text = json.dumps(QUESTION)
    (tmp_path / "db_bench" / "entry_dict.json").write_text(f'{{"3": {text}, "3": {text}}}')

    with pytest.raises(TaskError, match=r"entry_dict.json: '3' is given twice"):
        TaskSet.load(reference, "database")


def test_a_folder_without_either_form_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"entry_dict.json or \*.parquet, but .* is not a folder"):
        TaskSet.load(f"lifelongagentbench?path={tmp_path}", "database")


def test_parquet_without_pyarrow_says_what_to_install(parquet_root, monkeypatch):
    reference = write_parquet(parquet_root, ENTRIES)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtraError, match=r'pip install "lifelong-gym\[parquet\]"'):
        TaskSet.load(reference, "database")


def test_without_a_path_the_hub_is_asked_for_the_domains_folder(tmp_path, monkeypatch):
    write_json(tmp_path)
    asked = []

    def snapshot_download(name, **options):
        asked.append((name, options))
        return str(tmp_path)

    hub = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)

    assert len(TaskSet.load("lifelongagentbench", "database")) == 3
    assert asked == [
        (
            "csyq/LifelongAgentBench",
            {"repo_type": "dataset", "allow_patterns": ["db_bench/*.parquet"]},
        )
    ]


def test_without_a_path_and_without_the_hub_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(UsageError, match=r"pip install huggingface_hub pyarrow. Or download"):
        TaskSet.load("lifelongagentbench", "database")


def test_a_hub_that_cannot_be_reached_says_what_to_do(monkeypatch):
    def snapshot_download(name, **options):
        raise ConnectionError("no route to host")

    hub = types.SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)

    with pytest.raises(UsageError, match=r"no route to host. Or .*lifelongagentbench\?path="):
        TaskSet.load("lifelongagentbench", "database")


@needs_real_data
def test_the_real_set_loads_from_both_forms_alike():
    pytest.importorskip("pyarrow")
    folder = REAL / "db_bench"
    from_json = TaskSet.load(str(folder / "entry_dict.json"), "database")
    from_parquet = TaskSet.load(str(next(folder.glob("*.parquet"))), "database")

    assert from_json == from_parquet
    assert from_json == TaskSet.load(f"lifelongagentbench?path={REAL}", "database")


@needs_real_data
def test_the_real_set_is_whole():
    tasks = TaskSet.load(f"lifelongagentbench?path={REAL}", "database")

    assert tasks.ids == tuple(f"db_bench/{index}" for index in range(250))
    assert sum(task.is_question for task in tasks) == 176
    assert all(task.is_question == (task.md5 is None) for task in tasks)


@needs_real_data
def test_the_real_set_survives_being_saved(tmp_path):
    tasks = TaskSet.load(f"lifelongagentbench?path={REAL}", "database")
    tasks.save(tmp_path / "saved.jsonl")

    assert TaskSet.load(str(tmp_path / "saved.jsonl"), "database") == tasks
