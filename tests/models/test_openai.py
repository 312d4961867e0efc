"""OpenAIModel: what it sends, what it reads, and every fault of an endpoint."""

import email.utils
import threading
import time

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.models import (
    BatchError,
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    ModelSetupError,
    OpenAIModel,
    QuotaExhaustedError,
    RequestRefusedError,
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


# Faults --------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["lost", "half", (500, "oops"), (503, error()), (200, "<html>")])
def test_a_lost_connection_is_tried_again(fault, endpoint, connect, ask, body):
    endpoint.answers = [fault, fault, body("Back.")]

    assert ask(connect()).text == "Back."
    assert len(endpoint.requests) == 3


def test_a_connection_that_stays_lost_is_the_systems_failure(endpoint, connect, ask):
    endpoint.answers = ["lost"]

    with pytest.raises(ConnectionLostError, match="the connection was lost"):
        ask(connect())
    assert len(endpoint.requests) == 3


def test_an_endpoint_that_is_not_there_is_the_systems_failure(connect, ask):
    with pytest.raises(ConnectionLostError):
        ask(connect(base_url="http://127.0.0.1:9/v1", retries=1))


def test_a_reply_that_takes_too_long_is_given_up(endpoint, connect, ask):
    endpoint.answers = ["slow"]

    with pytest.raises(ConnectionLostError, match=r"no reply within 0\.1 s"):
        ask(connect(timeout_s=0.1, retries=0))


@pytest.mark.parametrize(
    ("headers", "body", "least_s"),
    [
        ({"Retry-After": "1"}, error(), 1.0),
        ({"retry-after-ms": "300"}, error(), 0.3),
        ({}, error("Please try again in 250ms."), 0.25),
        ({}, error("Rate limit reached. Please try again in 0.2s."), 0.2),
    ],
)
def test_a_rate_limit_waits_as_told(headers, body, least_s, endpoint, connect, ask):
    endpoint.answers = [(429, body, headers), {"choices": [{"message": {"content": "Now."}}]}]

    assert ask(connect()).text == "Now."
    assert least_s <= endpoint.times[1] - endpoint.times[0] < least_s + 1


def test_a_rate_limit_can_name_a_date(endpoint, connect, ask, body):
    date = email.utils.formatdate(time.time() + 2, usegmt=True)
    endpoint.answers = [(429, error(), {"Retry-After": date}), body()]
    ask(connect())

    assert 0.5 < endpoint.times[1] - endpoint.times[0] < 3


def test_rate_limits_do_not_use_the_retries_up(endpoint, connect, ask, body):
    endpoint.answers = [(429, error(), {"Retry-After": "0.01"})] * 6 + [body("Now.")]

    assert ask(connect(retries=0)).text == "Now."


def test_a_rate_limit_that_lifts_too_late_pauses_the_run(endpoint, connect, ask):
    endpoint.answers = [(429, error("Daily limit."), {"Retry-After": "7200"})]
    started = time.monotonic()

    with pytest.raises(QuotaExhaustedError, match="run the same again"):
        ask(connect(max_wait_s=60))
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, error("You exceeded your current quota, please check your plan and billing details.",
                    type="insufficient_quota", code="insufficient_quota")),
        (402, error("Insufficient Balance")),
        (400, error("Your credit balance is too low to access the API.")),
        (403, error("billing hard limit has been reached", code="billing_hard_limit_reached")),
        (429, error("Request too large for m on tokens per min (TPM): Limit 10, Requested 20.")),
        (200, error("This request requires more credits", code=402)),
    ],
    ids=["openai", "402", "anthropic", "billing", "tpm", "openrouter"],
)  # fmt: skip
def test_an_exhausted_quota_pauses_the_run_at_once(status, body, endpoint, connect, ask):
    endpoint.answers = [(status, body, {"Retry-After": "30"} if status == 429 else {})]
    started = time.monotonic()

    with pytest.raises(QuotaExhaustedError):
        ask(connect())
    assert time.monotonic() - started < 2
    assert len(endpoint.requests) == 1


def test_a_quota_that_comes_back_soon_is_waited_for(endpoint, connect, ask, body):
    gemini = [{"error": {"code": 429, "message": "You exceeded your current quota.",
                         "details": [{"retryDelay": "0.2s"}]}}]  # fmt: skip
    endpoint.answers = [(429, gemini), body("Now.")]

    assert ask(connect()).text == "Now."


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_the_callers_and_is_not_repeated(status, endpoint, connect, ask):
    endpoint.answers = [(status, error("Incorrect API key provided: sk-secret."))]

    with pytest.raises(ModelSetupError, match=r"provided: \*\*\*.*check the key") as caught:
        ask(connect(api_key="sk-secret"))
    assert "sk-secret" not in repr(caught.value)


def test_an_unknown_model_is_the_callers(endpoint, connect, ask):
    endpoint.answers = [(404, error("The model `m` does not exist."))]

    with pytest.raises(ModelSetupError, match="the model's name"):
        ask(connect())


def test_a_refused_request_is_not_tried_again(endpoint, connect, ask):
    endpoint.answers = [(400, error("messages[2] is odd"))]

    with pytest.raises(RequestRefusedError, match="odd"):
        ask(connect())
    assert len(endpoint.requests) == 1


def test_a_filtered_prompt_is_an_empty_completion(endpoint, connect, ask):
    endpoint.answers = [(400, error("The response was filtered.", code="content_filter"))]

    with pytest.raises(EmptyCompletionError):
        ask(connect())


def test_one_conversation_too_long_costs_the_others_nothing(endpoint, connect, say):
    def answer(sent):
        if sent["messages"][0]["content"] == "long":
            return 400, error("too long", code="context_length_exceeded")
        return {"choices": [{"message": {"content": sent["messages"][0]["content"]}}]}

    endpoint.answers = [answer]
    with pytest.raises(BatchError, match="1 of 3 conversations failed") as caught:
        connect().generate([say("a"), say("long"), say("b")], sampling=Sampling())

    first, second, third = caught.value.outcomes
    assert (first.text, third.text) == ("a", "b")
    assert isinstance(second, ContextTooLongError)


def test_conversations_are_asked_side_by_side(endpoint, connect, say):
    together = threading.Barrier(4, timeout=5)

    def answer(sent):
        together.wait()
        return {"choices": [{"message": {"content": sent["messages"][0]["content"]}}]}

    endpoint.answers = [answer]
    found = connect(concurrency=4).generate([say(x) for x in "abcd"], sampling=Sampling())

    assert [completion.text for completion in found] == list("abcd")


def test_a_quota_that_ends_in_a_batch_ends_the_others_waits(endpoint, connect, say):
    def answer(sent):
        if sent["messages"][0]["content"] == "a":
            return 429, error(), {"Retry-After": "30"}
        return 402, error()

    endpoint.answers = [answer]
    started = time.monotonic()
    with pytest.raises(QuotaExhaustedError):
        connect().generate([say("a"), say("b")], sampling=Sampling())
    assert time.monotonic() - started < 5


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
