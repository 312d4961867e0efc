"""The agents that need no model."""

import json

import pytest

from lifelong_gym import baselines
from lifelong_gym.baselines import IdleAgent, OracleAgent, ScriptedAgent
from lifelong_gym.core import Agent
from lifelong_gym.errors import UsageError
from lifelong_gym.runs import run_stream
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import TaskStream


class GuessEnv(ScriptedEnv):
    """The answer is told by the backend: the reference must pass on what it saw."""

    def reference_actions(self, task):
        observation = yield "look"
        yield f"I saw {observation}"


def play(agent):
    """The actions of one episode and its verdict."""
    agent.reset()
    actions = []
    while True:
        _, _, terminated, truncated, info = agent.step(None)
        actions.append(info["action"])
        if terminated or truncated:
            return actions, info["success"]


# Oracle --------------------------------------------------------------------------------


@pytest.mark.parametrize("action_format", ["text", "tools"])
def test_oracle_solves_what_its_reference_solves(action_format):
    env = TaskStream(ScriptedEnv(["one", "two"], action_format=action_format))

    assert run_stream(OracleAgent(env)).metrics().success_rate == 1.0


def test_oracle_answers_with_what_it_saw():
    assert play(OracleAgent(GuessEnv([("Guess.", "I saw No.")]))) == (["look", "I saw No."], True)


def test_oracle_idles_once_its_reference_is_over():
    class Short(ScriptedEnv):
        def reference_actions(self, task):
            yield "look"

    assert play(OracleAgent(Short(["one"]))) == (["look", "give up"], False)


def test_oracle_with_an_empty_reference_idles():
    class Empty(ScriptedEnv):
        def reference_actions(self, task):
            yield from ()

    assert play(OracleAgent(Empty(["one"]))) == (["give up"], False)


def test_oracle_moves_on_once_a_turn_however_often_it_is_asked():
    class Twice(Agent):
        def act(self, messages):
            return max(self.env.get_wrapper_attr("act")(messages) for _ in range(2))

    agent = Twice(OracleAgent(GuessEnv([("Guess.", "I saw No.")])))
    assert play(agent) == (["look", "I saw No."], True)


def test_oracle_begins_anew_with_each_episode():
    agent = OracleAgent(GuessEnv([("Guess.", "I saw No.")]))
    agent.reset()
    agent.step(None)

    assert play(agent)[1] is True


def test_oracle_needs_an_environment_with_a_reference():
    import gymnasium

    with pytest.raises(UsageError, match="reference_actions"):
        OracleAgent(gymnasium.Env())


# Idle ----------------------------------------------------------------------------------


def test_idle_agent_sends_the_idle_action():
    assert play(IdleAgent(ScriptedEnv(["one"]))) == (["give up"], False)


def test_idle_agent_says_nothing_where_there_is_no_idle_action():
    class Plain(ScriptedEnv):
        def has_wrapper_attr(self, name):
            return name != "idle_action" and super().has_wrapper_attr(name)

    assert play(IdleAgent(Plain(["one"]))) == ([""], False)


# Scripted ------------------------------------------------------------------------------


def test_list_is_used_for_every_task():
    env = TaskStream(ScriptedEnv(["one", "two"]))

    assert run_stream(ScriptedAgent(env, ["two"])).metrics().successes == 1


def test_mapping_is_used_task_by_task():
    env = TaskStream(ScriptedEnv(["one", "two"]))
    agent = ScriptedAgent(env, {"task-0": ["?", "one"], "task-1": ["two"]})

    assert run_stream(agent).metrics().success_rate == 1.0


def test_script_that_runs_out_idles():
    assert play(ScriptedAgent(ScriptedEnv(["one"]), ["?"])) == (["?", "give up"], False)


def test_script_begins_anew_with_each_episode():
    agent = ScriptedAgent(ScriptedEnv(["one"]), ["?", "one"])
    agent.reset()
    agent.step(None)

    assert play(agent)[1] is True


@pytest.mark.parametrize(
    "text",
    [
        '{"task_id": "task-0", "actions": ["one"]}\n\n{"task_id": "x", "actions": []}\n',
        '{"task_id": "task-0", "actions": ["one"]}',
        '{"task-0": ["one"]}',
        '["one"]',
    ],
    ids=["lines", "one line", "mapping", "list"],
)
def test_script_is_read_from_a_file(text, tmp_path):
    (tmp_path / "script.json").write_text(text)

    assert play(ScriptedAgent(ScriptedEnv(["one"]), tmp_path / "script.json")) == (["one"], True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", r"script\.json: expected a list of texts, got 1 in it"),
        ('{"a": "b"}', r"script\.json, a: expected a list of texts, got 'b'"),
        ('{"task_id": "a", "actions": []}\nnonsense', r"script\.json, line 2: not JSON"),
        ('{"task_id": "a"}\n{"task_id": "b"}', r"script\.json, line 1, actions: expected a list"),
        ('{"actions": []}\n{}', r"script\.json, line 1: there is no task_id"),
        (
            '{"task_id": "a", "actions": []}\n{"task_id": "a", "actions": []}',
            r"script\.json, line 2: the task 'a' stands there for a second time",
        ),
    ],
)
def test_malformed_script_is_refused_with_its_place(text, message, tmp_path):
    (tmp_path / "script.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        ScriptedAgent(ScriptedEnv(["one"]), tmp_path / "script.json")


def test_missing_file_is_refused():
    with pytest.raises(UsageError, match=r"the script nowhere\.json cannot be read"):
        ScriptedAgent(ScriptedEnv(["one"]), "nowhere.json")


def test_task_without_actions_is_refused():
    agent = ScriptedAgent(ScriptedEnv(["one"]), {"other": []})
    with pytest.raises(UsageError, match=r"no actions for the task 'task-0'.* such as other"):
        agent.reset()


def test_other_script_is_another_setting(tmp_path):
    def agent(word):
        (tmp_path / "script.json").write_text(json.dumps([word]))
        return ScriptedAgent(TaskStream(ScriptedEnv(["one"])), tmp_path / "script.json")

    run_stream(agent("one"), tmp_path / "run")
    with pytest.raises(UsageError, match=r"ScriptedAgent\.actions"):
        run_stream(agent("two"), tmp_path / "run")


def test_every_exported_name_is_a_documented_agent():
    assert baselines.__all__ == sorted(baselines.__all__)
    for name in baselines.__all__:
        assert issubclass(getattr(baselines, name), Agent)
        assert getattr(baselines, name).__doc__
