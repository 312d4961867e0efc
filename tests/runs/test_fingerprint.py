"""The settings of a stack: what is told, what is hidden, what counts as a change."""

import dataclasses
import functools
from pathlib import Path

import gymnasium
import pydantic
import pytest

from lifelong_gym.baselines import OracleAgent, ScriptedAgent
from lifelong_gym.core import Agent
from lifelong_gym.errors import SettingsChangedError
from lifelong_gym.runs.changes import check_unchanged
from lifelong_gym.runs.described import described, flat
from lifelong_gym.runs.fingerprint import describe, harmless_settings
from lifelong_gym.testing import ScriptedEnv, ScriptedTask
from lifelong_gym.wrappers import RecordTrajectory, TaskStream


def make_scripted(tasks="one,two", database="auto", max_turns=None, render_mode=None):
    return ScriptedEnv(tasks.split(","), max_turns=max_turns, render_mode=render_mode)


@pytest.fixture(scope="module", autouse=True)
def registered():
    gymnasium.register("test/Scripted-v0", entry_point=make_scripted)
    yield
    del gymnasium.registry["test/Scripted-v0"]


def test_registered_environment_tells_its_id_and_every_argument():
    settings = describe(gymnasium.make("test/Scripted-v0", database="mysql://root:pw@db/x"))

    assert settings["env.id"] == "test/Scripted-v0"
    assert settings["env.tasks"] == "one,two"
    assert settings["env.database"] == "mysql://root:***@db/x"
    assert settings["env.max_turns"] == 3
    assert settings["stack"] == ["lifelong_gym.testing:ScriptedEnv"]


def test_wrapper_tells_its_recorded_arguments():
    settings = describe(TaskStream(ScriptedEnv(["one"]), order="shuffle", shard=(0, 2)))

    assert settings["TaskStream.order"] == "shuffle"
    assert settings["TaskStream.shard"] == [0, 2]


def test_second_wrapper_of_a_class_has_a_name_of_its_own():
    agent = ScriptedAgent(ScriptedAgent(ScriptedEnv(["one"]), ["a"]), ["b"])
    settings = describe(agent)

    assert (settings["ScriptedAgent.actions"], settings["ScriptedAgent#2.actions"]) == (
        ["a"],
        ["b"],
    )


def test_same_tasks_from_elsewhere_have_the_same_content():
    def settings(**task):
        return describe(ScriptedEnv([ScriptedTask(id="a", instruction="b", **task)]))

    assert settings(source="here.jsonl") == settings(source="there.jsonl")
    assert settings() != settings(answer="c")


def changed(recorded, current):
    """The names that are refused, if any."""
    try:
        check_unchanged(describe(recorded), describe(current), harmless_settings(current), None)
    except SettingsChangedError as error:
        return [line.split(":")[0].strip() for line in str(error).splitlines()[1:-1]]
    return []


def make(**arguments):
    return gymnasium.make("test/Scripted-v0", **arguments)


@pytest.mark.parametrize(
    ("recorded", "current", "names"),
    [
        ({}, {"database": "auto"}, []),
        ({}, {"max_turns": 3}, []),
        ({}, {"render_mode": "ansi"}, []),
        ({}, {"max_turns": 4}, ["env.max_turns"]),
        ({}, {"database": "local"}, ["env.database"]),
        (
            {"database": "mysql://root:old@db"},
            {"database": "mysql://root:new@db"},
            [],
        ),
        ({}, {"tasks": "one,three"}, ["tasks.sha256", "env.tasks"]),
    ],
)
def test_what_counts_as_a_change(recorded, current, names):
    assert sorted(changed(make(**recorded), make(**current))) == sorted(names)


def test_observers_may_come_and_go():
    bare = gymnasium.make("test/Scripted-v0", disable_env_checker=True)

    assert changed(bare, RecordTrajectory(make())) == []


def test_class_says_which_of_its_settings_change_nothing():
    class Careful(Agent):
        harmless_settings = frozenset({"patience"})

        def __init__(self, env, patience, style):
            super().__init__(env, patience=patience, style=style)

    def agent(patience, style):
        return Careful(ScriptedEnv(["one"]), patience, style)

    assert changed(agent(1, "a"), agent(2, "a")) == []
    assert changed(agent(1, "a"), agent(2, "b")) == ["Careful.style"]


def test_environment_that_was_not_made_by_its_id_tells_what_it_kept():
    class Strict(ScriptedEnv):
        def __init__(self, tasks, scoring="strict", **options):
            super().__init__(tasks, **options)
            self._scoring = scoring

    assert changed(Strict(["one"]), Strict(["one"], scoring="paper")) == ["env.scoring"]


def test_limit_of_another_wrapper_is_a_change():
    class Bounded(gymnasium.Wrapper, gymnasium.utils.RecordConstructorArgs):
        def __init__(self, env, limit):
            gymnasium.utils.RecordConstructorArgs.__init__(self, limit=limit)
            super().__init__(env)

    env = ScriptedEnv(["one"])
    assert changed(Bounded(env, 1), Bounded(env, 2)) == ["Bounded.limit"]
    assert changed(TaskStream(env, limit=1), TaskStream(env, limit=2)) == []


def test_long_values_are_shown_where_they_differ():
    class Prompted(Agent):
        def __init__(self, env, prompt):
            super().__init__(env, prompt=prompt)

    old, new = (Prompted(ScriptedEnv(["one"]), "x" * 500 + end) for end in ("old", "new"))
    with pytest.raises(SettingsChangedError, match=r"xxold', now \.\.\.xx.*xxnew'"):
        check_unchanged(describe(old), describe(new), harmless_settings(new), Path("run"))


def test_agents_are_named():
    assert describe(OracleAgent(ScriptedEnv(["one"])))["agent"] == [
        "lifelong_gym.baselines.agents.oracle:OracleAgent"
    ]


@dataclasses.dataclass
class Sampling:
    temperature: float
    api_key: str | None = None


class Endpoint(pydantic.BaseModel):
    name: str
    password: str


class WithFingerprint:
    def fingerprint(self):
        return {"weights": "abc"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Path("a/b"), "a/b"),
        ({3: {"x"}}, {"3": ["x"]}),
        (Sampling(0.5, "s3cret"), {"temperature": 0.5, "api_key": "***"}),
        (Endpoint(name="n", password="s3cret"), {"name": "n", "password": "***"}),
        (WithFingerprint(), {"weights": "abc"}),
        (WithFingerprint, "WithFingerprint"),
        (object(), "builtins:object"),
        (len, "builtins:len"),
        (functools.partial(int, base=2), {"function": "builtins:int", "arguments": {"base": 2}}),
        ("http://u:p@ss@h/v1?token=abc&x=1", "http://u:***@h/v1?token=***&x=1"),
        ("http://host:80/a@b", "http://host:80/a@b"),
        ("mysql://root@db:3306", "mysql://root@db:3306"),
    ],
    ids=str,
)
def test_any_argument_is_described(value, expected):
    told = described(value)

    assert told == expected or told.endswith(f":{expected}")


def test_object_is_described_the_same_in_every_process():
    assert "0x" not in str(flat("a", {"object": object(), "function": lambda: 0}))


def test_secrets_are_hidden_by_name():
    assert flat("Agent", {"api_key": "k", "password": None}) == {
        "Agent.api_key": "***",
        "Agent.password": None,
    }
