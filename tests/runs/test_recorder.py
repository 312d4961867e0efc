"""Recorder: what is written is what is read back."""

import numpy as np
import pytest

from lifelong_gym.runs.recorder import Recorder, plain
from lifelong_gym.trajectory import Trajectory


def record(info, reset_info=None):
    recorder = Recorder()
    recorder.begin()
    recorder.opened("hello", {"task_id": "t", "domain": "d", **(reset_info or {})})
    return recorder.stepped("act", ("seen", np.float64(1.0), True, False, info))


@pytest.mark.parametrize(
    "info",
    [
        {"exit_code": 0},
        {"array": np.arange(3), "number": np.int64(3), "tuple": (1, (2,))},
        {"nan": float("nan"), "infinity": float("-inf")},
        {"text": "a\ud800b", 3: "key", "object": object(), "set": {1}},
    ],
    ids=["plain", "numpy", "not in JSON", "odd"],
)
def test_trajectory_comes_back_from_json_as_it_was(info):
    trajectory = record({"status": "completed", "success": True, "grading": info, **info})

    assert Trajectory.model_validate_json(trajectory.model_dump_json()) == trajectory


def test_turn_leaves_out_what_the_trajectory_says():
    info = {"status": "completed", "success": True, "grading": {}, "turn": 1, "exit_code": 2}

    assert record(info).turns[0].info == {"exit_code": 2}


def test_observation_stands_in_for_messages_that_are_missing():
    assert record({"status": "completed", "success": True}).messages == (
        {"role": "user", "content": "hello"},
    )


def test_what_the_agent_did_is_recorded_rather_than_what_was_passed():
    trajectory = record({"status": "completed", "success": True, "action": "decided"})

    assert trajectory.turns[0].action == "decided"


def test_later_change_of_what_was_recorded_changes_nothing():
    messages = [{"role": "user", "content": "hello"}]
    trajectory = record({"status": "completed", "success": True}, {"messages": messages})
    messages[0]["content"] = "changed"

    assert trajectory.messages[0]["content"] == "hello"


def test_booleans_stay_booleans():
    assert plain([True, np.bool_(False), None]) == [True, False, None]
