"""LifelongAgentBench's operating-system tasks: both published forms give the same."""

from __future__ import annotations

import json

import pytest

from lifelong_gym.errors import TaskError
from lifelong_gym.tasks import OPERATING_SYSTEM_SKILLS, TaskSet

ENTRY = {
    "instruction": "Create /srv/x.",
    "initialization_command_item": {"command_name": "bash", "script": "mkdir -p /srv"},
    "evaluation_info": {
        "evaluation_command_item": {"command_name": "bash", "script": "test -f /srv/x"},
        "ground_truth_command_item": {"command_name": "bash", "script": "touch /srv/x"},
    },
    "skill_list": ["touch"],
    "raw_entry_hash": 1,
}


def write(root, entries):
    (root / "os_interaction").mkdir()
    (root / "os_interaction" / "entry_dict.json").write_text(json.dumps(entries))
    return f"lifelongagentbench?path={root}"


def test_an_entry_becomes_a_task(tmp_path):
    (task,) = TaskSet.load(write(tmp_path, {"7": ENTRY}), "operating_system")

    assert task.id == "os_interaction/7"
    assert (task.setup, task.check, task.solution) == (
        "mkdir -p /srv",
        "test -f /srv/x",
        "touch /srv/x",
    )
    assert task.skills == ("touch",)
    assert not task.is_question


def test_another_interpreter_than_bash_is_refused(tmp_path):
    script = {"command_name": "python", "script": "pass"}
    reference = write(tmp_path, {"7": {**ENTRY, "initialization_command_item": script}})

    with pytest.raises(
        TaskError, match=r"entry '7', field initialization_command_item.command_name"
    ):
        TaskSet.load(reference, "operating_system")


def test_the_real_set_loads_from_both_forms_alike(data_folder):
    pytest.importorskip("pyarrow")
    folder = data_folder / "lifelongagentbench" / "os_interaction"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    from_json = TaskSet.load(str(folder / "entry_dict.json"), "operating_system")
    from_parquet = TaskSet.load(str(next(folder.glob("*.parquet"))), "operating_system")

    assert from_json == from_parquet
    assert from_json.ids == tuple(f"os_interaction/{index}" for index in range(250))
    assert {skill for task in from_json for skill in task.skills} <= set(OPERATING_SYSTEM_SKILLS)


def test_a_task_needs_something_to_be_judged_by(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        '{"format": 1, "domain": "operating_system", "id": "x", "instruction": "", "solution": ""}'
    )

    with pytest.raises(TaskError, match="a task needs a check or an answer, got neither"):
        TaskSet.load(str(path), "operating_system")
