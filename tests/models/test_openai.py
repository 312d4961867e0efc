"""OpenAIModel: what it sends, what it reads, and whom it gives a key."""

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    ModelSetupError,
    OpenAIModel,
    Sampling,
)

TOOL = {"type": "function", "function": {"name": "say", "parameters": {"type": "object"}}}


def error(message="no", **fields):
    return {"error": {"message": message, **fields}}


# What is sent --------------------------------------------------------------------------


def test_sampling_reaches_the_endpoint(endpoint, connect, ask):
    ask(connect(), sampling=Sampling(0.5, 0.9, 7, ("END",), logprobs=True), seed=3, tools=[TOOL])

    sent = endpoint.requests[0]
    assert sent == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi!"}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "stop": ["END"],
        "logprobs": True,
        "seed": 3,
        "tools": [TOOL],
    }


def test_temperature_of_none_is_left_to_the_endpoint(endpoint, connect, ask):
    ask(connect(), sampling=Sampling(temperature=None))

    assert "temperature" not in endpoint.requests[0]


def test_a_reasoning_model_gets_its_own_settings(endpoint, connect, ask):
    ask(connect(reasoning_effort="low", extra_body={"chat_template_kwargs": {"think": False}}))

    assert endpoint.requests[0]["reasoning_effort"] == "low"
    assert endpoint.requests[0]["chat_template_kwargs"] == {"think": False}


def test_length_is_renamed_for_an_endpoint_that_wants_it_and_stays_so(endpoint, connect, ask):
    refusal = error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    )
    endpoint.answers = [
        lambda sent: (400, refusal) if "max_tokens" in sent else endpoint.answers[1],
        endpoint.answers[0],
    ]
    endpoint.answers[1] = {"choices": [{"message": {"content": "Yes."}}]}
    model = connect()

    assert [ask(model).text, ask(model).text] == ["Yes.", "Yes."]
    assert ["max_tokens" in sent for sent in endpoint.requests] == [True, False, False]
    assert endpoint.requests[2]["max_completion_tokens"] == 8


@pytest.mark.parametrize(
    "message",
    [
        "System role not supported",
        "Only user and assistant roles are supported!",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
)
def test_the_system_text_joins_the_user_where_a_model_takes_none(message, endpoint, connect):
    def answer(sent):
        if sent["messages"][0]["role"] == "system":
            return 400, error(message)
        return {"choices": [{"message": {"content": sent["messages"][0]["content"]}}]}

    endpoint.answers = [answer]
    model = connect()
    messages = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Task."}]

    for _ in range(2):
        (completion,) = model.generate([messages], sampling=Sampling())
        assert completion.text == "Rules.\n\nTask."
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("name", ["seed", "logprobs"])
def test_what_is_dispensable_is_left_out_where_it_is_refused(name, endpoint, connect, ask):
    endpoint.answers = [
        (422, {"detail": f"Extra inputs are not permitted: {name}"}),
        {"choices": [{"message": {"content": "Yes."}}]},
    ]
    model = connect()

    assert ask(model, seed=1, sampling=Sampling(logprobs=True)).text == "Yes."
    assert name not in endpoint.requests[1]


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            "temperature=none",
        ),
        ("Unsupported parameter: 'stop' is not supported with this model.", "no stop texts"),
        (
            '"auto" tool choice requires --enable-auto-tool-choice, unsupported tools',
            "action_format",
        ),
    ],
)
def test_a_setting_that_the_model_does_not_take_is_the_callers(
    message, advice, endpoint, connect, ask
):
    endpoint.answers = [(400, error(message))]

    with pytest.raises(ModelSetupError, match=advice):
        ask(connect())


# What is read --------------------------------------------------------------------------


def test_a_completion_is_read(endpoint, connect, ask, body):
    endpoint.answers = [body("Hello.", logprobs={"content": [{"token": "H", "logprob": -0.5}]})]

    completion = ask(connect())

    assert (completion.text, completion.finish_reason) == ("Hello.", "stop")
    assert completion.usage == {"prompt_tokens": 5, "completion_tokens": 2}
    assert completion.logprobs == (-0.5,)
    assert completion.prompt_ids is None


def test_token_ids_are_read_where_the_server_tells_them(endpoint, connect, ask, body):
    answer = body() | {"prompt_token_ids": [1, 2]}
    answer["choices"][0]["token_ids"] = [3]
    endpoint.answers = [answer]

    completion = ask(connect())

    assert (completion.prompt_ids, completion.completion_ids) == ((1, 2), (3,))


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Go.", "reasoning_content": "Hm."},
        {"content": "Go.", "reasoning": "Hm."},
        {
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "Go."},
            ]
        },
    ],
    ids=["reasoning_content", "reasoning", "parts"],
)
def test_thoughts_are_kept_apart(message, endpoint, connect, ask, body):
    endpoint.answers = [body(**message)]

    completion = ask(connect())

    assert (completion.text, completion.reasoning) == ("Go.", "Hm.")


def test_tool_calls_come_in_openais_form(endpoint, connect, ask, body):
    call = {"id": "a", "type": "function", "function": {"name": "say", "arguments": {"text": "x"}}}
    endpoint.answers = [body(None, tool_calls=[call], finish_reason="tool_calls")]

    completion = ask(connect(), tools=[TOOL])

    assert completion.tool_calls[0]["function"] == {"name": "say", "arguments": '{"text": "x"}'}
    assert completion.text == ""


@pytest.mark.parametrize("answer", [{"choices": []}, {"choices": [{"message": {"content": None}}]}])
def test_a_reply_that_says_nothing_is_an_empty_completion(answer, endpoint, connect, ask):
    endpoint.answers = [answer]

    assert ask(connect()).is_empty


# Keys ----------------------------------------------------------------------------------


def test_the_openai_key_is_not_sent_to_another_endpoint(endpoint, connect, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ask(connect())

    assert "sk-secret" not in str(endpoint.headers)


def test_a_key_comes_from_the_variable_that_is_named(endpoint, connect, ask, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine")
    ask(connect(api_key_env="MY_KEY"))

    assert endpoint.headers[0]["authorization"] == "Bearer sk-mine"


def test_a_variable_without_a_key_is_refused(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds no key"):
        OpenAIModel("m")
    with pytest.raises(UsageError, match="NOPE holds no key"):
        OpenAIModel("m", base_url="http://127.0.0.1:9/v1", api_key_env="NOPE")


def test_the_fingerprint_holds_no_key_and_no_password(connect):
    model = connect(base_url="http://me:hunter2@127.0.0.1:9/v1", api_key="sk-secret")

    assert model.fingerprint["base_url"] == "http://127.0.0.1:9/v1"
    assert "hunter2" not in str(model.fingerprint)
    assert "sk-secret" not in str(model.fingerprint)
