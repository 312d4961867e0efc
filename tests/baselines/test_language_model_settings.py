"""LanguageModelAgent: its prompts, its seeds, its settings."""

import json

import pytest

from lifelong_gym.baselines import LanguageModelAgent, prompts
from lifelong_gym.baselines.agents.language_model import first_prompt
from lifelong_gym.core import Agent
from lifelong_gym.errors import SettingsChangedError, UsageError
from lifelong_gym.models import (
    ModelPool,
    Sampling,
    ScriptedModel,
)
from lifelong_gym.runs import run_stream
from lifelong_gym.runs.fingerprint import describe
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.wrappers import TaskStream

TASKS = [("Say please.", "please"), ("Say thanks.", "thanks"), ("Say sorry.", "sorry")]
ANSWERS = {"Say please": "please", "Say thanks": "thanks", "Say sorry": "sorry"}


def agent(replies, tasks=TASKS, model=ScriptedModel, **options):
    of_env = {key: options.pop(key) for key in ("action_format", "max_turns") if key in options}
    return LanguageModelAgent(TaskStream(ScriptedEnv(tasks, **of_env)), model(replies), **options)


# Prompts -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", prompts.names())
def test_every_prompt_holds_the_rules(name):
    acting = agent([], prompt=name)
    rules = ScriptedEnv(TASKS).reset()[1]["opening"]["rules"]

    assert rules in first_prompt(acting)[0]["content"]


def test_by_default_the_model_is_told_what_the_environment_says():
    acting = agent([])
    sent = first_prompt(acting)

    assert sent == acting.conversation


def test_a_prompt_can_be_a_file_of_ones_own(tmp_path):
    (tmp_path / "mine.md").write_text("Be kind.\n\n{rules}\n")
    sent = first_prompt(agent([], prompt=tmp_path / "mine.md"))

    assert sent[0]["content"].startswith("Be kind.\n\nSay the right words")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (None, "nope", "no prompt is called 'nope'; there are direct, think, tools"),
        (None, "nope.md", r"the prompt nope\.md cannot be read"),
        ("Be kind.", "mine.md", r"must have \{rules\} in it once.*0 times"),
        ("{rules}{rules}", "mine.md", "2 times"),
    ],
)
def test_a_wrong_prompt_is_refused(text, name, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        agent([], prompt=name)


def test_the_first_prompt_is_shown_without_a_call_and_skips_no_task():
    model = ScriptedModel(ANSWERS)
    acting = LanguageModelAgent(TaskStream(ScriptedEnv(TASKS)), model)

    assert first_prompt(acting)[-1]["content"] == "Say please."
    assert model.calls == []
    assert len(run_stream(acting).trajectories) == 3


def test_a_stack_without_a_model_has_no_first_prompt():
    with pytest.raises(UsageError, match="there is no LanguageModelAgent"):
        first_prompt(ScriptedEnv(TASKS))


# Seeds and settings --------------------------------------------------------------------


def seeds_of(run_seed=0, calls=1, **options):
    """The seeds of all model calls of a run."""

    class Again(Agent):
        def act(self, messages):
            inner = self.env.get_wrapper_attr("act")
            return [inner(messages) for _ in range(calls)][-1]

    model = ScriptedModel(lambda messages: "words")
    stream = TaskStream(ScriptedEnv(TASKS), seed=run_seed, **options)
    run_stream(Again(LanguageModelAgent(stream, model)))
    return [call.seed for call in model.calls]


def test_every_reply_has_its_own_seed_and_a_run_repeats():
    assert seeds_of() == seeds_of()
    assert len(set(seeds_of())) == 9
    assert not set(seeds_of()) & set(seeds_of(run_seed=1))


def test_seeds_do_not_depend_on_what_was_played_before():
    assert seeds_of(shard=(1, 3)) == seeds_of()[3:6]


def test_asking_twice_gives_two_samples():
    assert len(set(seeds_of(calls=2))) == 18
    assert seeds_of(calls=2)[::2] == seeds_of()


def test_a_seed_given_to_reset_seeds_the_replies():
    def seed(*resets):
        model = ScriptedModel(lambda messages: "words")
        acting = LanguageModelAgent(ScriptedEnv(TASKS[:1]), model)
        for one in resets:
            acting.reset(seed=one)
        acting.step(None)
        return model.calls[0].seed

    assert seed(5) == seed(4, 5) != seed(4)
    assert seed(5, None) != seed(5)


def test_settings_are_recorded_without_secrets():
    model = ModelPool(["openai:m?base_url=http://h/v1&api_key=sk-secret&temperature=0.5"])["main"]
    settings = describe(LanguageModelAgent(TaskStream(ScriptedEnv(TASKS)), model, prompt="think"))

    assert settings["LanguageModelAgent.model.model"] == "m"
    assert settings["LanguageModelAgent.model.base_url"] == "http://h/v1"
    assert settings["LanguageModelAgent.sampling.temperature"] == 0.5
    assert "think in a few sentences" in settings["LanguageModelAgent.prompt"]
    assert "sk-secret" not in json.dumps(settings)


@pytest.mark.parametrize(
    "change", [{"sampling": Sampling(0.5)}, {"prompt": "think"}, {"keep_thinking": True}]
)
def test_a_changed_setting_is_refused(change, tmp_path):
    run_stream(agent(ANSWERS), tmp_path)
    with pytest.raises(SettingsChangedError, match=f"LanguageModelAgent.{next(iter(change))}"):
        run_stream(agent(ANSWERS, **change), tmp_path)


def test_another_model_is_refused(tmp_path):
    run_stream(agent(ANSWERS), tmp_path)
    with pytest.raises(SettingsChangedError, match=r"LanguageModelAgent\.model"):
        run_stream(agent(ANSWERS | {"x": "y"}), tmp_path)


@pytest.mark.parametrize("wrong", [{"model": "openai:m"}, {"pause_after": 0}])
def test_a_wrong_argument_is_refused(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        LanguageModelAgent(ScriptedEnv(TASKS[:1]), **{"model": ScriptedModel([]), **wrong})
