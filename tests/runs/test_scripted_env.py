"""ScriptedEnv keeps the promises of a LanguageEnv."""

import pickle

import pytest
from gymnasium.utils.env_checker import check_env

from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.testing import ScriptedEnv, ScriptedTask
from lifelong_gym.tools import tool_call


@pytest.mark.filterwarnings("ignore:.*Not able to test alternative render modes")
def test_gymnasiums_checker_passes():
    check_env(ScriptedEnv(["one", "two"]))


@pytest.mark.parametrize("action_format", ["text", "tools"])
def test_reference_succeeds_and_idling_does_not(action_format):
    env = ScriptedEnv([("Say please.", "please")], action_format=action_format)
    env.reset()
    assert env.step(next(env.reference_actions(env.task)))[4]["success"]
    env.reset()
    _, reward, terminated, _, info = env.step(env.idle_action)

    assert (reward, terminated, info["success"]) == (0.0, True, False)


def test_wrong_words_cost_turns():
    env = ScriptedEnv(["one"], max_turns=2)
    env.reset()
    assert env.step("two")[2:4] == (False, False)

    _, _, terminated, truncated, info = env.step("three")
    assert (terminated, truncated, info["status"]) == (False, True, "turn_limit")


@pytest.mark.parametrize(
    ("action_format", "action"),
    [("text", " "), ("tools", "one"), ("tools", tool_call("shout", {"text": "one"}))],
)
def test_no_words_forfeit(action_format, action):
    env = ScriptedEnv(["one"], action_format=action_format)
    env.reset()

    assert env.step(action)[4]["status"] == "invalid_action"


def test_step_can_be_told_to_fail():
    env = ScriptedEnv(["one"], fail_steps=[0])
    env.reset()
    with pytest.raises(BackendError, match="step 0 was told to fail"):
        env.step("one")
    env.reset()

    assert env.step("one")[4]["success"]


def test_whole_tasks_keep_their_ids_and_skills():
    env = ScriptedEnv([ScriptedTask(id="a", instruction="b", skills=("c",))])

    assert (env.reset()[1]["task_id"], env.reset()[1]["skills"]) == ("a", ["c"])


def test_copy_plays_like_the_original():
    env = pickle.loads(pickle.dumps(ScriptedEnv(["one", "two", "three"])))

    assert env.reset(seed=3) == ScriptedEnv(["one", "two", "three"]).reset(seed=3)


@pytest.mark.parametrize("tasks", [[3], [("a", "b", "c")]])
def test_other_tasks_are_refused(tasks):
    with pytest.raises(UsageError, match="a scripted task is a text, a pair of texts"):
        ScriptedEnv(tasks)
