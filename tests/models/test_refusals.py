# ruff: noqa: E501 - wordings as they come
"""Refusals: the wordings of servers, and what they mean."""

import pytest

from lifelong_gym.models.errors import ConnectionLostError, ContextTooLongError
from lifelong_gym.models.refusals import Refusal, error_of

TOO_LONG = {
    "openai": (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."),
    "openai responses": (400, "Your input exceeds the context window of this model."),
    "openai configured": (400, "Input tokens exceed the configured limit of 272000 tokens."),
    "vllm": (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4488 in the messages, 512 in the completion)."),
    "vllm new": (400, "You passed 4000 input tokens and requested 512 output tokens. However, the model's context length is only 4096 tokens."),
    "vllm decoder": (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    "vllm negative": (400, "max_tokens must be at least 1, got -904."),
    "vllm large": (400, "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 4096 tokens and your request has 4000 input tokens."),
    "sglang": (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    "sglang total": (400, "Requested token count exceeds the model's maximum context length of 4096 tokens."),
    "sglang allowed": (400, "Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens)."),
    "llama.cpp": (500, "the request exceeds the available context size. try increasing the context size or enable context shift"),
    "llama.cpp new": (400, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
    "llama-cpp-python": (400, "Requested tokens (5000) exceed context window of 4096"),
    "tgi": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`"),
    "tgi inputs": (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"),
    "tensorrt-llm": (400, "Prompt length (5000) exceeds maximum input length (4096)."),
    "tabbyapi": (400, "Prompt length 5000 is greater than max_seq_len 4096"),
    "lm studio": (400, "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"),
    "ollama": (400, "the input length exceeds the context length"),
    "anthropic": (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "anthropic total": (400, "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"),
    "anthropic 413": (413, "Request exceeds the maximum size"),
    "gemini": (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    "mistral": (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
    "groq": (400, "Please reduce the length of the messages or completion."),
    "fireworks": (400, "The prompt is too long: 9000, model maximum context length: 8191"),
    "cohere": (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."),
    "bedrock": (400, "Input is too long for requested model."),
    "xai": (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    "moonshot": (400, "Invalid request: Your request exceeded model token limit: 8192"),
    "zhipu": (400, "Prompt exceeds max length"),
    "dashscope": (400, "Range of input length should be [1, 30720]"),
    "minimax": (400, "invalid params, context window exceeds limit"),
    "watsonx": (400, "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model"),
    "copilot": (400, "prompt token count of 5000 exceeds the limit of 4096"),
    "openrouter": (400, "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens."),
}  # fmt: skip


@pytest.mark.parametrize("server", TOO_LONG)
def test_an_over_long_context_is_recognised_in_every_wording(server):
    status, message = TOO_LONG[server]
    bodies = [{"error": {"message": message}}, {"object": "error", "message": message}, message]

    for body in bodies:
        assert isinstance(error_of(Refusal(status, body, {})), ContextTooLongError), body


@pytest.mark.parametrize("key", ["code", "type"])
@pytest.mark.parametrize("name", ["context_length_exceeded", "exceed_context_size_error"])
def test_an_over_long_context_is_recognised_by_its_code(key, name):
    body = {"error": {"message": "no", key: name}}

    assert isinstance(error_of(Refusal(400, body, {})), ContextTooLongError)


@pytest.mark.parametrize(
    "message",
    [
        "Invalid 'messages[0].content': string too odd",
        "the tool call arguments are no JSON",
        "max_tokens must be at least 1, got 0.",
        "the context of this message is unclear",
        "upstream model is too busy",
    ],
)
def test_other_refusals_are_not_taken_for_it(message):
    assert not isinstance(error_of(Refusal(400, {"error": {"message": message}}, {})),
                          ContextTooLongError)  # fmt: skip


def test_a_servers_own_failure_is_worth_another_try():
    assert isinstance(error_of(Refusal(502, "<html>Bad gateway</html>", {})), ConnectionLostError)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("try again in 6m0s", 360.0),
        ("try again in 1h2m3.5s", 3723.5),
        ("retry after 20 seconds", 20.0),
        ("try again in 850ms", 0.85),
        ("try again later", None),
    ],
)
def test_the_wait_is_read_from_words(words, seconds):
    assert Refusal(429, {"error": {"message": words}}, {}).retry_after_s == seconds
