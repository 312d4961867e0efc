"""ModelPool: models by name, loaded once, asked by any number of threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from lifelong_gym.errors import UsageError
from lifelong_gym.models.cache import ResponseCache
from lifelong_gym.models.metering import Budget, Ledger, Metered
from lifelong_gym.models.pooled import PooledModel, PoolSettings, Source
from lifelong_gym.models.reference import ModelReference, Price


class ModelPool(Mapping[str, PooledModel]):
    """Models by name. Each is loaded when it is first asked, once, and shared by all.

    What several threads ask of a local model at the same time becomes one batch; an endpoint
    gets it side by side. Every model counts its tokens; together they keep a budget.

    Args:
        models: Models by name, or references with names in them.
        cache: A file of replies: what was asked before, in this run or another, is answered
            from it and costs nothing. Failures are not kept.
        budget: What all may cost together; `BudgetSpentError` pauses the run when it is
            spent.
        prices: What a model's tokens cost, by name; a reference may say it as well.
        max_in_flight: How many conversations a model may be asked at the same time.
        batch_size: How many conversations a joined call has at most.
        batch_wait_s: How long a batch waits for threads that ask in step, in seconds.

    Raises:
        UsageError: An argument is out of its range, or a reference is none.

    Examples:
        >>> from lifelong_gym.models import Sampling, ScriptedModel
        >>> pool = ModelPool({"main": ScriptedModel(["Hello."])}, budget=Budget(tokens=2))
        >>> messages = [{"role": "user", "content": "Hi!"}]
        >>> pool["main"].generate([messages], sampling=Sampling())[0].text
        'Hello.'
        >>> pool.metered("main").completion_tokens
        1
    """

    def __init__(
        self,
        models: Mapping[str, Source] | Sequence[str | ModelReference],
        *,
        cache: ResponseCache | Path | str | None = None,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        max_in_flight: int = 32,
        batch_size: int = 16,
        batch_wait_s: float = 0.01,
    ) -> None:
        for name, value in (("max_in_flight", max_in_flight), ("batch_size", batch_size)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be at least 1, got {value!r}")
        self._cache = ResponseCache(cache) if isinstance(cache, str | Path) else cache
        self._ledger = Ledger(budget or Budget(), self._cache)
        size = min(batch_size, max_in_flight)
        shared = PoolSettings(self._cache, self._ledger, max_in_flight, size, batch_wait_s)
        sources = _by_name(models)
        if unknown := sorted(set(prices or ()) - set(sources)):
            raise UsageError(f"prices names {unknown[0]!r}; the models are {sorted(sources)}")
        self._models = {
            name: PooledModel(shared, name, source, (prices or {}).get(name))
            for name, source in sources.items()
        }

    def __getitem__(self, name: str) -> PooledModel:
        """The model called `name`, not loaded yet."""
        try:
            return self._models[name]
        except KeyError:
            raise KeyError(f"no model is called {name!r}; there are {sorted(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def metered(self, name: str) -> Metered:
        """What the model `name` was asked so far."""
        return self._ledger.metered(name)

    def close(self) -> None:
        """Closes the cache and the models that can be closed; twice is fine."""
        for model in self._models.values():
            model.close()
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> ModelPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _by_name(models: Mapping[str, Source] | Sequence[str | ModelReference]) -> dict[str, Source]:
    if isinstance(models, Mapping):
        return dict(models)
    if isinstance(models, str):
        raise UsageError(f"models is a mapping or a list of references, got the text {models!r}")
    references = [ModelReference.parse(one) if isinstance(one, str) else one for one in models]
    names = [reference.name for reference in references]
    if doubled := [name for name, count in Counter(names).items() if count > 1]:
        raise UsageError(f"two models are called {doubled[0]!r}: give each a name, NAME=...")
    return {reference.name: reference for reference in references}
