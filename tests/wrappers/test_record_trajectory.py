"""RecordTrajectory: which episodes it keeps, and where."""

import pytest

from lifelong_gym.baselines import OracleAgent
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.trajectory import Trajectory
from lifelong_gym.wrappers import RecordTrajectory, TaskStream


def play(env, *actions):
    env.reset()
    for action in actions:
        env.step(action)


def test_episode_is_recorded_at_its_end():
    env = RecordTrajectory(ScriptedEnv(["one"]))
    play(env, "two")
    assert env.trajectories == []
    env.step("one")

    assert [turn.action for turn in env.trajectories[0].turns] == ["two", "one"]
    assert env.trajectories[0].success is True


def test_episode_that_is_reset_leaves_no_record():
    env = RecordTrajectory(ScriptedEnv(["one"]))
    play(env, "two")
    play(env, "one")

    assert [len(trajectory.turns) for trajectory in env.trajectories] == [1]


def test_episode_that_the_system_broke_is_recorded_as_unscored():
    env = RecordTrajectory(ScriptedEnv(["one"], fail_steps=[1]))
    play(env, "two")
    with pytest.raises(BackendError):
        env.step("one")

    trajectory = env.trajectories[0]
    assert (trajectory.status, trajectory.success, len(trajectory.turns)) == (
        "environment_error",
        None,
        1,
    )
    assert trajectory.error == "step 1 was told to fail"


def test_what_an_agent_did_beneath_it_is_recorded():
    env = RecordTrajectory(OracleAgent(TaskStream(ScriptedEnv(["one", "two"]))))
    play(env, None)
    play(env, None)

    assert [(t.position, t.turns[0].action) for t in env.trajectories] == [(0, "one"), (1, "two")]


def test_file_gets_a_line_an_episode(tmp_path):
    env = RecordTrajectory(ScriptedEnv(["one"]), path=tmp_path / "all.jsonl")
    play(env, "one")
    play(env, "give up")
    lines = (tmp_path / "all.jsonl").read_text().splitlines()

    assert [Trajectory.model_validate_json(line) for line in lines] == env.trajectories


@pytest.mark.parametrize("keep", [0, 2])
def test_only_the_latest_are_kept(keep):
    env = RecordTrajectory(ScriptedEnv(["one"], max_turns=1), keep=keep)
    for word in "abc":
        play(env, word)

    assert [t.turns[0].action for t in env.trajectories] == ["a", "b", "c"][3 - keep :]


def test_keeping_less_than_none_is_refused():
    with pytest.raises(UsageError, match="keep must be at least 0, got -1"):
        RecordTrajectory(ScriptedEnv(["one"]), keep=-1)
