"""RunStore: all of a task or nothing, and what it makes of strange files."""

import sqlite3

import pytest

from lifelong_gym.core import AppendOnly
from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.runs import RunStore
from lifelong_gym.runs.states import capture, restore
from lifelong_gym.trajectory import Trajectory


class Layer:
    def __init__(self, state=None):
        self.state = state

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.state = state


def trajectory(position=0, success=True):
    return Trajectory(
        task_id=f"t{position}", domain="d", position=position, status="completed", success=success
    )


STATES = [
    {"plain": [1, {"a": None}], "text": "東京 🗼", "list": AppendOnly([1, {"b": 2}])},
    AppendOnly(["the whole state"]),
    {"nested": [{"a/b": AppendOnly([1])}, {"a": {"b": AppendOnly([2, 3])}}], "none": AppendOnly()},
    {},
]


@pytest.mark.parametrize("state", STATES, ids=["mixed", "whole", "nested", "empty"])
def test_state_comes_back_as_it_was(state, tmp_path):
    with RunStore(tmp_path) as store:
        store.record(trajectory(), {"0:Layer": capture(Layer(state), "0:Layer")})
    other = Layer()
    with RunStore(tmp_path) as store:
        restore(other, *store.state("0:Layer"))

    assert other.state == state


def test_append_only_list_comes_back_as_one(tmp_path):
    with RunStore(None) as store:
        store.record(trajectory(), {"0": capture(Layer({"a": AppendOnly([1])}), "0")})
        layer = Layer()
        restore(layer, *store.state("0"))

    assert isinstance(layer.state["a"], AppendOnly)


def test_only_what_was_added_is_written(tmp_path):
    items = AppendOnly(range(1000))
    with RunStore(tmp_path) as store:
        store.record(trajectory(0), {"0": capture(Layer(items), "0")})
        before = store._connection.total_changes
        items.append("new")
        store.record(trajectory(1), {"0": capture(Layer(items), "0")})

        assert store._connection.total_changes - before == 3  # trajectory, state, one item


def test_failed_transaction_leaves_everything_as_it_was(tmp_path):
    state, unwritable = Layer({"a": AppendOnly([1])}), Layer({"a": AppendOnly([1, object()])})
    with RunStore(tmp_path) as store:
        store.record(trajectory(0), {"0": capture(state, "0")})
        with pytest.raises(UsageError, match="must be JSON"):
            store.record(trajectory(1), {"0": capture(unwritable, "0")})
        store.record(trajectory(2), {"0": capture(state, "0")})

        assert store.outcomes == {0: True, 2: True}
        assert store.state("0")[1] == {"/a": [1]}


def test_later_record_takes_the_place_of_an_earlier_one():
    with RunStore(None) as store:
        store.record(trajectory(0, success=None), {})
        store.record(trajectory(0, success=False), {})

        assert store.outcomes == {0: False}


def test_file_that_is_no_run_is_refused_and_kept(tmp_path):
    (tmp_path / "run.sqlite").write_text("my notes, which are no database at all" * 9)
    for read_only in (True, False):
        with pytest.raises(UsageError, match="is not the file of a run"):
            RunStore(tmp_path, read_only=read_only)

    assert (tmp_path / "run.sqlite").read_text().startswith("my notes")


def test_file_of_a_later_version_is_refused(tmp_path):
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UsageError, match=r"has format 99.*update lifelong_gym"):
        RunStore(tmp_path)


def test_refused_file_leaves_no_lock(tmp_path):
    (tmp_path / "run.sqlite").write_text("no database" * 99)
    with pytest.raises(UsageError):
        RunStore(tmp_path)
    (tmp_path / "run.sqlite").unlink()

    RunStore(tmp_path).close()


def test_file_that_cannot_be_opened_pauses(tmp_path):
    (tmp_path / "run.sqlite").mkdir()
    with pytest.raises(RunPaused, match="cannot be written"):
        RunStore(tmp_path)


def test_closing_twice_is_fine(tmp_path):
    store = RunStore(tmp_path)
    store.close()
    store.close()


def test_closed_run_is_one_file(tmp_path):
    with RunStore(tmp_path) as store:
        store.record(trajectory(), {})

    assert {path.name for path in tmp_path.iterdir()} == {"run.sqlite", "run.lock"}


def test_database_of_something_else_is_refused_and_kept(tmp_path):
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(UsageError, match="a database of something else"):
        RunStore(tmp_path)

    connection = sqlite3.connect(tmp_path / "run.sqlite")
    tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
    connection.close()
    assert tables == [("mine",)]


def test_episode_that_cannot_be_read_is_named_as_damage(tmp_path):
    with RunStore(tmp_path) as store:
        store.begin({}, {})
        store.record(trajectory(), {})
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("UPDATE trajectories SET trajectory = '{'")
    connection.commit()
    connection.close()
    with (
        RunStore(tmp_path, read_only=True) as store,
        pytest.raises(UsageError, match="is damaged"),
    ):
        list(store.trajectories())
