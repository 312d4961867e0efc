"""Exports: every trajectory comes back as it was, and other tools find their way."""

import json
import sys
from pathlib import Path

import pytest

from lifelong_gym.baselines import OracleAgent
from lifelong_gym.errors import MissingExtraError, UsageError
from lifelong_gym.runs import Run, RunStore, export_trajectories, read_trajectories, run_stream
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.trajectory import Trajectory, Turn
from lifelong_gym.wrappers import TaskStream

ODD = Trajectory(
    task_id="odd \N{SNOWMAN}",
    domain="scripted",
    messages=(
        {"role": "system", "content": ""},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {}}]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "parts"}]},
    ),
    turns=(Turn(action="a\x00", observation="", reward=0.5, info={"n": [1, {"x": None}]}),),
    status="model_error",
    position=500,
    error="gone",
    usage={"calls": 1, "prompt_tokens": 2**40},
    grading={"rows": [[1, "a"]], "empty": {}},
)


@pytest.fixture
def folder(make_stack, tmp_path):
    """300 episodes, more than are written at once, an unscored and an odd one among them."""
    folder = tmp_path / "run"
    run_stream(make_stack(200, fail_resets=[3, 4, 5]), folder)
    tools = OracleAgent(TaskStream(ScriptedEnv(["a"] * 99, action_format="tools")))
    with RunStore(folder) as store:
        for trajectory in run_stream(tools).trajectories:
            moved = trajectory.model_copy(update={"position": trajectory.position + 200})
            store.record(moved, {})
        store.record(ODD, {})
    return folder


@pytest.mark.parametrize("name", ["all.jsonl", "all.parquet", "ALL.PARQUET", "all"])
def test_every_trajectory_comes_back_as_it_was(folder, tmp_path, name):
    assert export_trajectories(folder, tmp_path / name) == 300

    assert tuple(read_trajectories(tmp_path / name)) == Run.load(folder).trajectories


def test_other_tools_find_columns_of_their_types(folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export_trajectories(folder, tmp_path / "x", "parquet")
    table = parquet.read_table(tmp_path / "x")
    first = table.slice(0, 1).to_pylist()[0]

    assert table.num_rows == 300
    assert {"role", "content", "json"} == set(first["messages"][0])
    assert isinstance(first["turns"][0]["observation"], str)
    assert table.column("success").null_count == 2
    assert table.column("reward").type == "double"
    about = json.loads(table.schema.metadata[b"lifelong_gym"])
    assert about["settings"] == Run.load(folder).settings


def test_a_run_without_an_episode_makes_an_empty_file(tmp_path):
    RunStore(tmp_path / "run").close()

    assert export_trajectories(tmp_path / "run", tmp_path / "x.parquet") == 0
    assert list(read_trajectories(tmp_path / "x.parquet")) == []


def test_without_pyarrow_the_extra_is_named_and_nothing_is_left(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtraError, match=r'pip install "lifelong-gym\[parquet\]"'):
        export_trajectories(folder, tmp_path / "x.parquet")
    assert not list(tmp_path.glob("x.parquet*"))


def test_a_format_that_is_none_and_files_that_are_none_are_refused(folder, tmp_path):
    (tmp_path / "bad.parquet").write_text("no")
    (tmp_path / "bad.jsonl").write_text("{}\n")

    with pytest.raises(UsageError, match="format must be jsonl or parquet, got 'csv'"):
        export_trajectories(folder, tmp_path / "x", "csv")
    with pytest.raises(UsageError, match=r"bad.parquet is no export"):
        list(read_trajectories(tmp_path / "bad.parquet"))
    with pytest.raises(UsageError, match=r"bad.jsonl, line 1: no trajectory"):
        list(read_trajectories(tmp_path / "bad.jsonl"))
    with pytest.raises(UsageError, match="none is no file"):
        read_trajectories(tmp_path / "none")


def test_the_runs_own_files_are_not_written_over(folder):
    before = (folder / "run.sqlite").read_bytes()
    with pytest.raises(UsageError, match="belongs to the run itself"):
        export_trajectories(folder, folder / "run.sqlite")

    assert (folder / "run.sqlite").read_bytes() == before


def test_a_folder_is_no_file_to_write(folder, tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        export_trajectories(folder, tmp_path)


def test_a_device_is_written_to_and_stays_a_device(folder):
    assert export_trajectories(folder, "/dev/null") > 0
    assert Path("/dev/null").is_char_device()


def test_a_link_leads_to_the_file_that_is_written(folder, tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    export_trajectories(folder, tmp_path / "link.jsonl")

    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").is_file()
