"""OpenAIModel: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from lifelong_gym.errors import MissingExtraError
from lifelong_gym.models.addresses import NO_KEY, OPENAI, key_for, without_password
from lifelong_gym.models.batching import all_at_once
from lifelong_gym.models.contract import Completion, Conversation, Sampling, Seed, Shared, seeds
from lifelong_gym.models.errors import (
    ConnectionLostError,
    ModelError,
    Outcome,
    completed,
)
from lifelong_gym.models.refusals import Refusal, error_of, refusal_in
from lifelong_gym.models.replies import read_reply
from lifelong_gym.models.retrying import Patience, retrying
from lifelong_gym.models.templates import without_system

if TYPE_CHECKING:
    import openai

_LOG = logging.getLogger(__name__)
_CONNECT_S = 10.0
# What a request may do without: an endpoint that refuses it is asked without it from then on.
_DISPENSABLE = ("seed", "logprobs", "parallel_tool_calls")


class OpenAIModel(Shared):
    """A model behind an endpoint; it may be asked by several threads at once.

    `max_tokens` is called `max_completion_tokens` where an endpoint wants that. Seeds and
    log-probabilities are left out for endpoints that do not take them, and the system text
    joins the first user message for models that take no system role.

    Args:
        model: The model's name at the endpoint.
        base_url: The endpoint; None takes `OPENAI_BASE_URL`, else OpenAI's own.
        api_key: The key. It is better kept in a variable.
        api_key_env: The environment variable that holds the key. With a `base_url` there is
            no default, so that a key goes nowhere that it was not meant for; without one it
            is `OPENAI_API_KEY`.
        timeout_s: How long one reply may take, in seconds.
        concurrency: How many conversations of one call are asked at a time.
        retries: How often a lost connection is tried again.
        first_wait_s: How long the first wait is, where the endpoint names none.
        max_wait_s: How long rate limits are waited for, all waits of a call together.
        reasoning_effort: Passed on to reasoning models.
        extra_body: More fields for each request, such as `{"chat_template_kwargs": {...}}`
            or `{"return_token_ids": True}` for vLLM.

    Raises:
        MissingExtraError: The extra `openai` is not installed.
        ModelSetupError: There is no key.
    """

    joins_calls = False
    harmless_options: ClassVar[frozenset[str]] = frozenset(
        {"api_key", "api_key_env", "timeout_s", "concurrency"}
        | {"retries", "first_wait_s", "max_wait_s"}
    )

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_key_env: str | None = None,
        timeout_s: float = 600.0,
        concurrency: int = 16,
        retries: int = 5,
        first_wait_s: float = 1.0,
        max_wait_s: float = 600.0,
        reasoning_effort: str | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self._key = key_for(api_key, api_key_env, base_url, self.base_url)
        self._timeout_s, self._concurrency = timeout_s, concurrency
        self._patience = Patience(retries, first_wait_s, max_wait_s)
        self._effort, self._extra = reasoning_effort, dict(extra_body or {})
        self._length_name = (
            "max_completion_tokens" if self.base_url.rstrip("/") == OPENAI else "max_tokens"
        )
        self._refused: frozenset[str] = frozenset()
        self._takes_system = True
        _ = self._client  # a missing extra is told before anything runs

    @cached_property
    def fingerprint(self) -> dict[str, Any]:
        """What the model is; without keys and passwords, and without what changes no reply."""
        return {
            "provider": "openai",
            "model": self.model,
            "base_url": without_password(self.base_url),
            "reasoning_effort": self._effort,
            "extra_body": self._extra,
        }

    def generate(
        self,
        conversations: Sequence[Conversation],
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: Seed = None,
    ) -> list[Completion]:
        """Asks for a reply to each conversation; see `LanguageModel`.

        Raises:
            ModelError: A conversation got no reply.
            QuotaExhaustedError: The account is empty, or the rate limit lifts too late.
            ModelSetupError: The endpoint does not take the key, the model or a parameter.
        """
        given_up = threading.Event()
        calls = [
            self._call(self._body(list(messages), sampling, tools, one), given_up)
            for messages, one in zip(conversations, seeds(conversations, seed), strict=True)
        ]
        if len(calls) == 1:
            return completed([calls[0]()])
        return completed(all_at_once(calls, self._concurrency, given_up))

    def close(self) -> None:
        """Closes the connections; twice is fine."""
        self._client.close()

    def _body(
        self,
        messages: list[dict[str, Any]],
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None,
        seed: int | None,
    ) -> dict[str, Any]:
        wanted = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p if sampling.top_p < 1 else None,
            "stop": list(sampling.stop) or None,
            "logprobs": sampling.logprobs or None,
            "seed": seed,
            "tools": list(tools) if tools else None,
            "reasoning_effort": self._effort,
            "extra_body": self._extra or None,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        # The name is chosen at the time of the call: an endpoint may teach us another.
        return {"model": self.model, "messages": messages, "length": sampling.max_tokens, **body}

    def _call(self, body: dict[str, Any], given_up: threading.Event) -> Callable[[], Outcome]:
        def call() -> Outcome:
            try:
                return retrying(lambda: self._adapting(body), self._patience, given_up)
            except ModelError as error:
                return error

        return call

    def _adapting(self, body: Mapping[str, Any]) -> Completion:
        """Asks once; and again without a name or parameter that the endpoint does not know."""
        import openai

        for _ in range(len(_DISPENSABLE) + 3):
            sent = {name: value for name, value in body.items() if name not in self._refused}
            sent[self._length_name] = sent.pop("length")
            if not self._takes_system:
                sent["messages"] = without_system(sent["messages"])
            try:
                return self._ask(sent)
            except openai.APIStatusError as error:
                refusal = Refusal(error.status_code, error.body or error.message, _headers(error))
                if not self._adapts(refusal, sent):
                    raise self._without_key(error_of(refusal)) from None
        raise self._without_key(error_of(refusal))

    def _ask(self, body: Mapping[str, Any]) -> Completion:
        import openai

        try:
            raw = self._client.chat.completions.with_raw_response.create(**body)
            answer = json.loads(raw.text)
        except openai.APITimeoutError:
            raise ConnectionLostError(f"no reply within {self._timeout_s:g} s") from None
        except openai.APIConnectionError as error:
            reason = error.__cause__ or error
            raise ConnectionLostError(f"the connection was lost: {reason}") from None
        except ValueError as error:  # half an answer, or a proxy's page
            raise ConnectionLostError(f"the reply is no JSON: {error}") from None
        if isinstance(answer, Mapping) and answer.get("error") and not answer.get("choices"):
            raise self._without_key(error_of(refusal_in(answer)))
        return read_reply(answer)

    def _adapts(self, refusal: Refusal, sent: Mapping[str, Any]) -> bool:
        """Whether another try, with what was learnt from `refusal`, may be taken."""
        other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
        used = next(name for name in other if name in sent)
        if other[used] in refusal.message and refusal.refuses(used):
            self._length_name = other[used]
            return True
        if self._takes_system and refusal.refuses_system:
            self._takes_system = False
            return True
        for name in _DISPENSABLE:
            if name in sent and refusal.refuses(name):
                _LOG.warning("%s takes no %s: it is left out", self.model, name)
                self._refused |= {name}
                return True
        return False

    def _without_key(self, error: Exception) -> Exception:
        """The same error with the key, should the endpoint have repeated it, hidden."""
        if self._key != NO_KEY and self._key in str(error):
            error.args = tuple(
                one.replace(self._key, "***") if isinstance(one, str) else one for one in error.args
            )
        return error

    @cached_property
    def _client(self) -> openai.OpenAI:
        try:
            import openai
        except ImportError as error:
            raise MissingExtraError("openai", "openai", "OpenAIModel") from error
        timeout = openai.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
        return openai.OpenAI(
            api_key=self._key, base_url=self.base_url, timeout=timeout, max_retries=0
        )


def _headers(error: openai.APIStatusError) -> dict[str, str]:
    return {name.lower(): value for name, value in error.response.headers.items()}
