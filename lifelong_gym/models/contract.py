"""What a language model is to the rest of the package: `generate`, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeAlias

from lifelong_gym.conversation import Message
from lifelong_gym.errors import UsageError

Conversation: TypeAlias = Sequence[Message]
"""Messages in OpenAI's form, the oldest first."""

Seed: TypeAlias = "int | Sequence[int | None] | None"
"""One seed for a whole call, one for each conversation, or none."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn from a model.

    Attributes:
        temperature: 0 takes the likeliest token each time; None leaves it to the endpoint, as
            some reasoning models demand (a local model then samples at 1).
        top_p: Draws from the likeliest tokens that hold this share of the probability.
        max_tokens: How long a reply may be, in tokens, its thinking included.
        stop: Texts that end a reply; they are not part of it.
        logprobs: Asks an endpoint for log-probabilities; a local model always has them.

    Raises:
        UsageError: A value is out of its range.

    Examples:
        >>> Sampling(temperature=0.7).is_greedy, Sampling().is_greedy
        (False, True)
    """

    temperature: float | None = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    logprobs: bool = False

    def __post_init__(self) -> None:
        """Checks the ranges, and takes one stop text or any sequence of them."""
        stop = (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)
        object.__setattr__(self, "stop", stop)
        if self.temperature is not None:
            _check_number("temperature", self.temperature, "at least 0", lambda value: value >= 0)
        _check_number("top_p", self.top_p, "above 0 and at most 1", lambda value: 0 < value <= 1)
        if isinstance(self.max_tokens, bool) or not isinstance(self.max_tokens, int):
            raise UsageError(f"max_tokens must be a whole number, got {self.max_tokens!r}")
        _check_number("max_tokens", self.max_tokens, "at least 1", lambda value: value >= 1)
        if not all(isinstance(text, str) and text for text in stop):
            raise UsageError(f"stop must be texts that are not empty, got {stop!r}")

    @property
    def is_greedy(self) -> bool:
        """Whether nothing is left to chance."""
        return self.temperature == 0


def _check_number(name: str, value: Any, expected: str, is_right: Callable[[float], bool]) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and math.isfinite(value) and is_right(value)):
        raise UsageError(f"{name} must be {expected}, got {value!r}")


def _no_usage() -> dict[str, int]:
    return {"prompt_tokens": 0, "completion_tokens": 0}


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a model.

    Attributes:
        text: What the model said, without its stop text and without separate thinking.
        tool_calls: OpenAI tool calls, arguments as JSON texts.
        prompt_ids: The token ids that the model read, where the provider tells them.
        completion_ids: The token ids that it drew, end and stop tokens included.
        logprobs: The log-probability of each drawn token, in nats, under the model's own
            distribution (before temperature and `top_p`) where the model is local.
        usage: `prompt_tokens` and `completion_tokens`; 0 where a provider does not count.
        finish_reason: `"stop"`, `"length"`, `"tool_calls"`, or what the provider says.
        reasoning: What a reasoning model thought, where its provider keeps that apart.
    """

    text: str
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    prompt_ids: tuple[int, ...] | None = None
    completion_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    usage: Mapping[str, int] = field(default_factory=_no_usage)
    finish_reason: str = "stop"
    reasoning: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said and nothing called."""
        return not self.text.strip() and not self.tool_calls


class LanguageModel(Protocol):
    """Anything that continues conversations.

    Two attributes are optional. `fingerprint`, a mapping of JSON values, says what the model
    is, for the settings of a run; never a secret. `identity` is the same for the response
    cache, where it must also tell the files of a local model apart. `joins_calls = False`
    tells a `ModelPool` to let calls through one by one, at the same time: right for an
    endpoint, which makes batches itself. A model without it is called by one thread at a
    time, and what several threads ask meanwhile is one call.
    """

    def generate(
        self,
        conversations: Sequence[Conversation],
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: Seed = None,
    ) -> list[Completion]:
        """Continues each conversation.

        Args:
            conversations: What was said so far.
            sampling: How replies are drawn.
            tools: OpenAI tool schemas that a reply may call.
            seed: Makes sampled replies repeatable. Where a conversation occurs several times
                under one seed, each occurrence is another sample (`contract.seeds`), so that
                a reply does not depend on what else is in the batch.

        Returns:
            A completion for each conversation, in their order.

        Raises:
            ModelError: The only conversation could not be continued; `errors.BatchError`
                if it was some of several.
            RunPaused: No call can succeed for now: the quota is gone or the budget spent.
            UsageError: The call itself is wrong: the key, the model's name, a parameter.
        """


class Shared:
    """A model that a copy of what holds it shares: Gymnasium copies the settings of wrappers."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same model: weights, connections and locks are not copied."""
        return self


def seeds(conversations: Sequence[Conversation], seed: Seed) -> list[int | None]:
    """The seed of each conversation, in 0 to 2**31 - 1; None where there is none.

    The first occurrence of a conversation under a seed gets that seed, a further one a seed
    derived from it, so that equal conversations are different samples.

    Raises:
        UsageError: There are seeds, but not one for each conversation.

    Examples:
        >>> a, b = [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]
        >>> first, again, other = seeds([a, a, b], 7)
        >>> first == other == 7, first == again
        (True, False)
    """
    from lifelong_gym.models.keys import derived_seed, occurrences

    if isinstance(seed, Sequence):
        if len(seed) != len(conversations):
            raise UsageError(
                f"seed must be one number or one for each of the {len(conversations)} "
                f"conversations, got {len(seed)}"
            )
        each = list(seed)
    else:
        each = [seed] * len(conversations)
    numbers = occurrences(conversations, each)
    return [
        None if one is None else derived_seed(one, number)
        for one, number in zip(each, numbers, strict=True)
    ]
