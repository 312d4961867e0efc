"""What a pool's models were asked, what it cost, and how much is allowed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lifelong_gym.errors import UsageError
from lifelong_gym.models.cache import ResponseCache
from lifelong_gym.models.contract import Completion
from lifelong_gym.models.errors import BudgetSpentError, Outcome
from lifelong_gym.models.reference import Price


@dataclass(frozen=True, slots=True)
class Budget:
    """What the models of a pool may cost together; None means no bound.

    Calls under way when it is spent still end: it can be exceeded by what they cost.

    Attributes:
        tokens: Prompt and completion tokens.
        money: In the currency of the prices.

    Raises:
        UsageError: A bound is not above 0.
    """

    tokens: int | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        """Checks the bounds."""
        for name, value in (("tokens", self.tokens), ("money", self.money)):
            if value is not None and value <= 0:
                raise UsageError(f"a budget's {name} must be above 0, got {value!r}")


@dataclass(frozen=True, slots=True)
class Metered:
    """What one model was asked so far.

    Attributes:
        calls: How often its `generate` was called.
        completions: How many replies it gave.
        failures: How many conversations got none.
        cached: How many replies came from the response cache instead.
        prompt_tokens: Tokens that it read.
        completion_tokens: Tokens that it drew.
        cost: What that cost, by its price.
        latency_s: How long its calls took, all together, in seconds.
    """

    calls: int = 0
    completions: int = 0
    failures: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    latency_s: float = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def mean_latency_s(self) -> float:
        """How long a call took on average, in seconds."""
        return self.latency_s / self.calls if self.calls else 0.0


class Ledger:
    """Counts for all models of a pool, and stops them when the budget is spent.

    With a response cache the budget holds for everything that was ever spent through its
    file, by this process or others: a run that is resumed goes on counting.

    Args:
        budget: What is allowed.
        cache: Where spending is kept.
    """

    def __init__(self, budget: Budget, cache: ResponseCache | None) -> None:
        self._budget, self._cache = budget, cache
        self._lock = threading.Lock()
        self._metered: dict[str, Metered] = {}

    def metered(self, name: str) -> Metered:
        """What the model `name` was asked so far."""
        with self._lock:
            return self._metered.get(name, Metered())

    def check(self) -> None:
        """Stops the call that is about to be made, if nothing is left for it.

        Raises:
            BudgetSpentError: The budget is spent; it says of what and how to go on.
        """
        if self._budget == Budget():
            return
        tokens, money = self._spent()
        for what, limit, spent in (
            ("tokens", self._budget.tokens, tokens),
            ("money", self._budget.money, money),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpentError(
                    f"the budget of {limit:g} ({what}) is spent: {spent:g} were used; "
                    "raise it and run the same again"
                )

    def count_cached(self, name: str, count: int) -> None:
        """Counts replies that cost nothing."""
        with self._lock:
            old = self._metered.get(name, Metered())
            self._metered[name] = replace(old, cached=old.cached + count)

    def count(self, name: str, outcomes: Sequence[Outcome], price: Price, took_s: float) -> None:
        """Counts one call of the model `name`."""
        done = [one for one in outcomes if isinstance(one, Completion)]
        prompt = sum(one.usage.get("prompt_tokens", 0) for one in done)
        completion = sum(one.usage.get("completion_tokens", 0) for one in done)
        cost = sum(price.cost(one.usage) for one in done)
        with self._lock:
            old = self._metered.get(name, Metered())
            self._metered[name] = replace(
                old,
                calls=old.calls + 1,
                completions=old.completions + len(done),
                failures=old.failures + len(outcomes) - len(done),
                prompt_tokens=old.prompt_tokens + prompt,
                completion_tokens=old.completion_tokens + completion,
                cost=old.cost + cost,
                latency_s=old.latency_s + took_s,
            )
        if self._cache is not None:
            self._cache.spend(name, prompt + completion, cost)

    def _spent(self) -> tuple[int, float]:
        if self._cache is not None:
            return self._cache.spent()
        with self._lock:
            each = list(self._metered.values())
        return sum(one.tokens for one in each), sum(one.cost for one in each)
