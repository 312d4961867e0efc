"""The published knowledge-graph tasks: both sets, both forms, and what is refused."""

from __future__ import annotations

import json

import pytest

from lifelong_gym.errors import TaskError
from lifelong_gym.tasks import TaskSet

ENTRY = {
    "question": "what cheese?",
    "qid": "1",
    "source": "grailqa",
    "entity_dict": {"Goat": "m.1"},
    "s_expression": "(JOIN (R r.to) m.1)",
    "action_list": ["get_relations(m.1)", "get_neighbors(m.1,r.to)"],
    "answer_list": ["m.2"],
    "skill_list": ["get_neighbors"],
}
AGENTBENCH = {
    "question": "what cheese?",
    "entities": {"Goat": "m.1"},
    "s_expression": "(JOIN (R r.to) m.1)",
    "actions": ["get_relations(m.1)", "get_neighbors(m.1,r.to)"],
    "answer": [{"answer_type": "Entity", "answer_argument": "m.2", "entity_name": "Brie"}],
}


def load(path, entry, key="0"):
    path.write_text(json.dumps({key: entry}))
    return TaskSet.load(str(path), "knowledge_graph")


def test_an_entry_becomes_a_task(tmp_path):
    task = load(tmp_path / "entry_dict.json", ENTRY, "17")[0]

    assert task.id == "knowledge_graph/17"
    assert task.ids == {"Goat": "m.1"}
    assert (task.skills, task.answer) == (("get_neighbors",), ("m.2",))


def test_agentbench_s_form_is_told_by_its_fields(tmp_path):
    (tmp_path / "dev.json").write_text(json.dumps([AGENTBENCH]))
    task = TaskSet.load(str(tmp_path / "dev.json"), "knowledge_graph")[0]

    assert (task.id, task.split) == ("knowledgegraph/0", "dev")
    assert task.skills == ("get_neighbors", "get_relations")
    assert task.answer == ("m.2",)


@pytest.mark.parametrize(
    "field", sorted(set(ENTRY) - {"qid", "source", "entity_dict", "answer_list"})
)
def test_a_missing_field_is_named(tmp_path, field):
    entry = {name: value for name, value in ENTRY.items() if name != field}

    with pytest.raises(TaskError, match=rf"entry '0', field {field}: Field required"):
        load(tmp_path / "entry_dict.json", entry)


def test_a_task_without_actions_is_refused(tmp_path):
    with pytest.raises(TaskError, match="field actions"):
        load(tmp_path / "entry_dict.json", {**ENTRY, "action_list": []})


def test_native_lines_come_back_equal(tmp_path):
    tasks = load(tmp_path / "entry_dict.json", ENTRY)
    tasks.save(tmp_path / "mine.jsonl")

    assert TaskSet.load(str(tmp_path / "mine.jsonl"), "knowledge_graph") == tasks


def test_both_published_forms_give_the_same_tasks(data_folder):
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    folder = data_folder / "lifelongagentbench"
    parquet = folder / "knowledge_graph" / "train-00000-of-00001.parquet"
    from_json = TaskSet.load(f"lifelongagentbench?path={folder}", "knowledge_graph")

    assert TaskSet.load(str(parquet), "knowledge_graph") == from_json
    assert len(from_json) == 200


def test_agentbench_s_development_split_loads(data_folder):
    reference = f"agentbench?path={data_folder / 'agentbench'}"

    assert len(TaskSet.load(reference, "knowledge_graph")) == 20
