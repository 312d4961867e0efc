"""ScriptedModel: what it says and what it remembers."""

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    Completion,
    ConnectionLostError,
    QuotaExhaustedError,
    Sampling,
    ScriptedModel,
)
from lifelong_gym.tools import tool_call


def test_a_list_is_said_in_order(ask):
    model = ScriptedModel(["one", Completion("two")])

    assert [ask(model).text, ask(model).text] == ["one", "two"]
    with pytest.raises(UsageError, match="2 replies and was asked for one more"):
        ask(model)


def test_a_mapping_is_searched_in_the_last_message(ask):
    model = ScriptedModel({"^Say": "please", "No": "sorry"})

    assert [ask(model, text).text for text in ("Say it.", "Oh No.")] == ["please", "sorry"]
    with pytest.raises(UsageError, match="no pattern among"):
        ask(model, "What?")


def test_a_function_sees_the_messages_and_the_call(ask):
    assert ask(ScriptedModel(lambda messages: messages[0]["content"]), "echo").text == "echo"
    assert ask(ScriptedModel(lambda messages, call: str(call.seed)), seed=7).text == "7"


@pytest.mark.parametrize("error", [ConnectionLostError("gone"), QuotaExhaustedError("empty")])
def test_an_error_is_raised(error, ask):
    with pytest.raises(type(error)):
        ask(ScriptedModel([error]))


def test_calls_are_remembered(ask):
    model = ScriptedModel(["Hello."])
    ask(model, "Hi!", sampling=Sampling(0.5), tools=[{"type": "function"}], seed=3)

    (call,) = model.calls
    assert call.messages == ({"role": "user", "content": "Hi!"},)
    assert (call.sampling, call.tools, call.seed) == (Sampling(0.5), ({"type": "function"},), 3)


def test_tool_calls_are_told_where_tools_are_given(ask):
    action = tool_call("say", {"text": "hi"})

    assert ask(ScriptedModel([action]), tools=[]).tool_calls[0]["function"]["name"] == "say"
    assert ask(ScriptedModel([action])).text == action


def test_stop_texts_cut(ask):
    assert ask(ScriptedModel(["one END two"]), sampling=Sampling(stop="END")).text == "one "


@pytest.mark.parametrize("replies", ["a text", 7])
def test_what_is_no_script_is_refused(replies):
    with pytest.raises(UsageError, match="replies must be a list"):
        ScriptedModel(replies)


def test_another_script_is_another_fingerprint():
    assert ScriptedModel(["a"]).fingerprint != ScriptedModel(["b"]).fingerprint


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "r.json").write_text("[1]")
    with pytest.raises(UsageError, match="must hold a JSON list or object of texts"):
        ScriptedModel.from_file(tmp_path / "r.json")
