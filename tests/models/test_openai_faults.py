"""OpenAIModel: every fault of an endpoint, and whose it is."""

import email.utils
import threading
import time

import pytest

from lifelong_gym.models import (
    BatchError,
    ConnectionLostError,
    ContextTooLongError,
    EmptyCompletionError,
    ModelSetupError,
    QuotaExhaustedError,
    RequestRefusedError,
    Sampling,
)

TOOL = {"type": "function", "function": {"name": "say", "parameters": {"type": "object"}}}


def error(message="no", **fields):
    return {"error": {"message": message, **fields}}


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
    assert least_s <= endpoint.times[1] - endpoint.times[0]


def test_a_rate_limit_can_name_a_date(endpoint, connect, ask, body):
    date = email.utils.formatdate(time.time() + 2, usegmt=True)
    endpoint.answers = [(429, error(), {"Retry-After": date}), body()]
    ask(connect())

    assert endpoint.times[1] - endpoint.times[0] > 0.5


def test_rate_limits_do_not_use_the_retries_up(endpoint, connect, ask, body):
    endpoint.answers = [(429, error(), {"Retry-After": "0.01"})] * 6 + [body("Now.")]

    assert ask(connect(retries=0)).text == "Now."


def test_a_rate_limit_that_lifts_too_late_pauses_the_run(endpoint, connect, ask):
    endpoint.answers = [(429, error("Daily limit."), {"Retry-After": "7200"})]
    started = time.monotonic()

    with pytest.raises(QuotaExhaustedError, match="run the same again"):
        ask(connect(max_wait_s=60))
    assert time.monotonic() - started < 20  # and not what the endpoint asked for


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
    assert time.monotonic() - started < 20  # and not what the endpoint asked for
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
