"""Every error of a model, and whose fault it is.

```
LifelongGymError
├── UsageError
│   ├── ModelSetupError        the caller's: the key, the model's name, a parameter
│   └── TemplateRefusedError   the model's form: its chat template takes no such messages
├── ModelError                 one conversation got no usable reply; `status` ends its episode
│   ├── ContextTooLongError    the agent's: the conversation has outgrown the model
│   ├── EmptyCompletionError   the agent's: the model said nothing
│   ├── ModelFailedError       the system's: not scored
│   │   ├── ConnectionLostError    no answer, or half of one: tried again first
│   │   ├── RateLimitedError       too many calls: waited for first, as told
│   │   └── RequestRefusedError    the endpoint refuses this request: not tried again
│   └── BatchError             some conversations of a call, each with its own error
└── RunPaused                  nobody's: the run stops here and can be resumed
    ├── QuotaExhaustedError    the endpoint's account is empty, or its limit hours away
    └── BudgetSpentError       what a pool was allowed is spent
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from lifelong_gym.errors import LifelongGymError, RunPaused, UsageError
from lifelong_gym.models.contract import Completion, Conversation, LanguageModel, Sampling, Seed


class ModelSetupError(UsageError):
    """The caller's setting cannot work: the key, the model's name, a parameter."""


class TemplateRefusedError(UsageError):
    """A model's chat template takes no conversation of this form, however it is arranged."""


class ModelError(LifelongGymError):
    """A conversation got no usable reply."""

    status: ClassVar[str] = "model_error"
    """What the episode ends with: one of `core.STOP_STATUSES`."""


class ContextTooLongError(ModelError):
    """The conversation, or it and the reply asked for, does not fit into the model."""

    status = "context_limit"


class EmptyCompletionError(ModelError):
    """The model said nothing."""

    status = "empty_completion"


class ModelFailedError(ModelError):
    """The endpoint or the machine failed: never the agent's loss."""


class ConnectionLostError(ModelFailedError):
    """No answer, half of one, or a server's own failure: worth another try."""


class RateLimitedError(ModelFailedError):
    """Too many calls.

    Args:
        message: What the endpoint said.
        retry_after_s: How long it wants to be left alone, in seconds; None if it did not say.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s)
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return str(self.args[0])


class RequestRefusedError(ModelFailedError):
    """The endpoint refuses this very request: trying again would change nothing."""


class BatchError(ModelError):
    """Some conversations of one call got no usable reply.

    Args:
        outcomes: A completion or an error for each conversation, in their order.
    """

    def __init__(self, outcomes: Sequence[Completion | ModelError]) -> None:
        super().__init__(tuple(outcomes))
        self.outcomes = tuple(outcomes)

    def __str__(self) -> str:
        failed = [outcome for outcome in self.outcomes if isinstance(outcome, ModelError)]
        return f"{len(failed)} of {len(self.outcomes)} conversations failed, first: {failed[0]}"


class QuotaExhaustedError(RunPaused):
    """The endpoint's account is empty, or its limit lifts too late to wait for."""


class BudgetSpentError(RunPaused):
    """What a pool was allowed to spend is spent."""


Outcome: TypeAlias = Completion | ModelError
"""What became of one conversation."""


def completed(outcomes: Sequence[Outcome]) -> list[Completion]:
    """The completions, if that is what all outcomes are: how a driver ends `generate`.

    Raises:
        ModelError: The only outcome, if it is an error.
        BatchError: One of several outcomes is an error.
    """
    done = [outcome for outcome in outcomes if isinstance(outcome, Completion)]
    if len(done) == len(outcomes):
        return done
    if len(outcomes) == 1 and isinstance(outcomes[0], ModelError):
        raise outcomes[0]
    raise BatchError(outcomes)


def generate_each(
    model: LanguageModel,
    conversations: Sequence[Conversation],
    *,
    sampling: Sampling,
    tools: Sequence[Mapping[str, Any]] | None = None,
    seed: Seed = None,
) -> list[Outcome]:
    """Calls `generate`, and returns what became of each conversation, errors as values.

    One conversation that does not fit then costs the others nothing.

    Raises:
        RunPaused: No call can succeed for now.
        UsageError: The call itself is wrong.
    """
    if not conversations:
        return []
    try:
        return list(model.generate(conversations, sampling=sampling, tools=tools, seed=seed))
    except BatchError as error:
        return list(error.outcomes)
    except ModelError as error:
        if len(conversations) == 1:
            return [error]
        # A model that knows no BatchError: which conversation it was is found one by one.
        return _one_by_one(model, conversations, sampling, tools, seed)


def _one_by_one(
    model: LanguageModel,
    conversations: Sequence[Conversation],
    sampling: Sampling,
    tools: Sequence[Mapping[str, Any]] | None,
    seed: Seed,
) -> list[Outcome]:
    from lifelong_gym.models.contract import seeds

    outcomes: list[Outcome] = []
    for conversation, one in zip(conversations, seeds(conversations, seed), strict=True):
        outcomes += generate_each(model, [conversation], sampling=sampling, tools=tools, seed=one)
    return outcomes
