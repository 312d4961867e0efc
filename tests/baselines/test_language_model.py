"""LanguageModelAgent: what it asks, what it sends, how its episodes end."""

import copy
import json
import pickle

import pytest

from lifelong_gym.baselines import LanguageModelAgent, prompts
from lifelong_gym.baselines.agents.language_model import first_prompt
from lifelong_gym.conversation import tool_call
from lifelong_gym.core import Agent, Decision, Stop
from lifelong_gym.errors import RunPaused, SettingsChangedError, UsageError
from lifelong_gym.models import (
    Completion,
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    ModelPool,
    QuotaExhaustedError,
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


def ends(played):
    """Status and success of every episode of a run."""
    return [(one.status, one.success) for one in played.trajectories]


def play(agent):
    """Plays one episode and returns the `info` of its last step."""
    agent.reset()
    while True:
        *_, terminated, truncated, info = agent.step(None)
        if terminated or truncated:
            return info


# Acting --------------------------------------------------------------------------------


def test_the_model_reads_the_conversation_and_its_reply_is_the_action():
    model = ScriptedModel(["now!", "please"])
    info = play(LanguageModelAgent(ScriptedEnv(TASKS[:1]), model))

    assert info["success"]
    assert [message["role"] for message in model.calls[1].messages] == [
        "system", "user", "assistant", "user"
    ]  # fmt: skip
    assert model.calls[1].messages[2]["content"] == "now!"


def test_the_tokens_of_an_episode_are_counted():
    (trajectory,) = run_stream(agent(["a b", "please"], TASKS[:1])).trajectories

    assert trajectory.usage["calls"] == 2
    assert trajectory.usage["completion_tokens"] == 3


def test_a_decision_carries_its_completion():
    acting = agent(["please"])
    acting.reset()
    decision = acting.act(acting.conversation)

    assert isinstance(decision, Decision)
    assert decision.completions[0].text == "please"


def test_a_batch_is_one_call():
    class Noting(ScriptedModel):
        sizes = ()

        def generate(self, conversations, **options):
            self.sizes += (len(conversations),)
            return super().generate(conversations, **options)

    model = Noting(["a", "b", "c"])
    acting = LanguageModelAgent(ScriptedEnv(TASKS[:1]), model)
    acting.reset()

    assert acting.act_batch([acting.conversation] * 3) == ["a", "b", "c"]
    assert model.sizes == (3,)


def test_one_conversation_too_long_stops_only_itself():
    acting = agent(["a", ContextTooLongError("too long"), "b"])
    acting.reset()
    first, second, third = acting.act_batch([acting.conversation] * 3)

    assert (first, third) == ("a", "b")
    assert isinstance(second, Stop)
    assert second.status == "context_limit"


def test_earlier_thoughts_are_not_shown_again():
    replies = ["<think>Rude?</think>now!", "please"]
    model = ScriptedModel(replies)
    play(LanguageModelAgent(ScriptedEnv(TASKS[:1]), model))
    assert model.calls[1].messages[2]["content"] == "now!"

    model = ScriptedModel(replies)
    play(LanguageModelAgent(ScriptedEnv(TASKS[:1]), model, keep_thinking=True))
    assert model.calls[1].messages[2]["content"] == replies[0]


# Tool calls ----------------------------------------------------------------------------


def test_tools_are_given_and_a_call_is_the_action():
    model = ScriptedModel([tool_call("say", {"text": "no"}), tool_call("say", {"text": "please"})])
    acting = LanguageModelAgent(ScriptedEnv(TASKS[:1], action_format="tools"), model)

    assert play(acting)["success"]
    assert model.calls[0].tools[0]["function"]["name"] == "say"
    assert [message["role"] for message in model.calls[1].messages[2:]] == ["assistant", "tool"]
    assert "calling one of the given tools" in model.calls[0].messages[0]["content"]


def test_a_text_where_a_call_was_due_is_for_the_environment_to_judge():
    info = play(agent(["please"], action_format="tools"))

    assert (info["status"], info["success"]) == ("invalid_action", False)


def test_text_actions_come_without_tools():
    model = ScriptedModel(["please"])
    play(LanguageModelAgent(ScriptedEnv(TASKS[:1]), model))

    assert model.calls[0].tools is None


# How episodes end ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (ContextTooLongError("too long"), ("context_limit", False)),
        (EmptyCompletionError("filtered"), ("empty_completion", False)),
        ("", ("empty_completion", False)),
        (" \n", ("empty_completion", False)),
        (Completion("", reasoning="Hm.", finish_reason="length"), ("empty_completion", False)),
        (ConnectionLostError("gone"), ("model_error", None)),
    ],
)
def test_what_the_model_fails_at_ends_the_episode(reply, end):
    def answer(messages):
        text = messages[-1]["content"]
        return reply if "thanks" in text else ANSWERS[text.rstrip(".")]

    run = run_stream(agent(answer))

    assert ends(run) == [("completed", True), end, ("completed", True)]


def test_an_empty_completion_is_paid_for():
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    (trajectory,) = run_stream(agent([Completion("", usage=usage)], TASKS[:1])).trajectories

    assert trajectory.usage == {"calls": 1, **usage}


def test_a_stop_that_was_paid_for_can_be_copied():
    acting = agent([""])
    acting.reset()
    stop = acting.act(acting.conversation)

    for other in (copy.deepcopy(stop), pickle.loads(pickle.dumps(stop))):
        assert (other.status, other.reason, other.usage) == (stop.status, stop.reason, stop.usage)


def test_thinking_that_used_all_tokens_up_is_told():
    acting = agent([Completion("", finish_reason="length")])
    acting.reset()

    assert "raise max_tokens" in acting.step(None)[0]


def test_an_exhausted_quota_pauses_the_run_and_it_resumes(tmp_path):
    replies = ["please", QuotaExhaustedError("empty")]
    with pytest.raises(RunPaused, match="empty"):
        run_stream(agent(replies, model=Named), tmp_path)
    run = run_stream(agent(ANSWERS, model=Named), tmp_path)

    assert ends(run) == [("completed", True)] * 3


def test_an_endpoint_that_stays_away_pauses_the_run_after_some_episodes(tmp_path):
    def gone(messages):
        return ConnectionLostError("gone")

    with pytest.raises(RunPaused, match="failed 3 times in a row, last with: gone"):
        run_stream(agent(gone, model=Named, pause_after=3), tmp_path)
    run = run_stream(agent(ANSWERS, model=Named), tmp_path)

    assert ends(run) == [("completed", True)] * 3


def test_a_success_between_failures_starts_the_count_anew():
    lost = ConnectionLostError("gone")
    run = run_stream(agent([lost, "thanks", lost], pause_after=2))

    assert [status for status, _ in ends(run)] == ["model_error", "completed", "model_error"]


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


class Named(ScriptedModel):
    """Is the same model, whatever it is told to say."""

    @property
    def fingerprint(self):
        return {"provider": "scripted", "model": "named"}
