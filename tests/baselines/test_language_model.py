"""LanguageModelAgent: what it asks, what it sends, how its episodes end."""

import copy
import pickle

import pytest

from lifelong_gym.baselines import LanguageModelAgent
from lifelong_gym.core import Decision, Stop
from lifelong_gym.errors import RunPaused
from lifelong_gym.models import (
    Completion,
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    QuotaExhaustedError,
    ScriptedModel,
)
from lifelong_gym.runs import run_stream
from lifelong_gym.testing import ScriptedEnv
from lifelong_gym.tools import tool_call
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


class Named(ScriptedModel):
    """Is the same model, whatever it is told to say."""

    @property
    def fingerprint(self):
        return {"provider": "scripted", "model": "named"}
