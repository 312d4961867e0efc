"""PooledModel: one model of a pool, loaded late, cached, counted, shared by threads."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from lifelong_gym.models.batching import Joining, Request, SideBySide, answer
from lifelong_gym.models.cache import ResponseCache
from lifelong_gym.models.contract import (
    Completion,
    Conversation,
    LanguageModel,
    Sampling,
    Seed,
    Shared,
    seeds,
)
from lifelong_gym.models.errors import Outcome, completed
from lifelong_gym.models.keys import call_key, occurrences
from lifelong_gym.models.metering import Ledger
from lifelong_gym.models.reference import ModelReference, Price

Source: TypeAlias = "LanguageModel | ModelReference | str | Callable[[], LanguageModel]"
"""A model, a reference to one, or a function that makes one."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What the models of a pool have in common.

    Attributes:
        cache: Their replies, if they are kept.
        ledger: Their counts and budget.
        max_in_flight: How many conversations a model may be asked at the same time.
        batch_size: How many conversations a joined call has at most.
        batch_wait_s: How long a batch waits for threads that ask in step, in seconds.
    """

    cache: ResponseCache | None
    ledger: Ledger
    max_in_flight: int
    batch_size: int
    batch_wait_s: float


class PooledModel(Shared):
    """One model of a pool; a `LanguageModel` itself. Made by `ModelPool`.

    Attributes:
        name: What it is called in the pool.
        sampling: How its reference wants replies drawn; None where it does not say.
    """

    def __init__(
        self, shared: PoolSettings, name: str, source: Source, price: Price | None
    ) -> None:
        if isinstance(source, str):
            source = ModelReference.parse(source)
        self._shared, self.name, self._source = shared, name, source
        self.sampling: Sampling | None = None
        self._price = price or Price()
        if isinstance(source, ModelReference):
            self.sampling = source.sampling
            self._price = price or source.price
        self._loading = threading.Lock()
        self._loaded: LanguageModel | None = None
        self._lane: Joining | SideBySide | None = None
        self._samples: Counter[str] = Counter()

    @property
    def fingerprint(self) -> Any:
        """What the model is, for the settings of a run; a reference is not loaded for it."""
        if isinstance(self._source, ModelReference):
            return self._source.fingerprint
        model = self.load()
        own = getattr(model, "fingerprint", None)
        return own or {"provider": type(model).__module__, "model": type(model).__qualname__}

    @property
    def identity(self) -> Any:
        """What the model is, for the keys of the cache."""
        if isinstance(self._source, ModelReference):
            return self._source.identity
        own = getattr(self.load(), "identity", None)
        return own or [self.name, self.fingerprint]

    def load(self) -> LanguageModel:
        """The model itself, loaded now if it was not before.

        Raises:
            UsageError: It cannot be made.
        """
        with self._loading:
            if self._loaded is None:
                source = self._source
                if isinstance(source, ModelReference):
                    source = source.load
                made = source if hasattr(source, "generate") else cast("Any", source)()
                self._loaded = cast("LanguageModel", made)
            return self._loaded

    def generate(
        self,
        conversations: Sequence[Conversation],
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: Seed = None,
    ) -> list[Completion]:
        """Answers from the cache, or asks the model; see `LanguageModel`.

        Raises:
            ModelError: A conversation got no usable reply.
            RunPaused: The budget is spent, the quota gone, or the disk full.
        """
        each = seeds(conversations, seed)
        requests = [
            Request(messages, sampling, tools, one)
            for messages, one in zip(conversations, each, strict=True)
        ]
        cache = self._shared.cache
        keys = [] if cache is None else self._keys(requests, seed)
        for request, key in zip(requests, keys, strict=False):
            request.outcome = None if cache is None else cache.get(key)
        asked = [request for request in requests if not request.is_done]
        self._shared.ledger.count_cached(self.name, len(requests) - len(asked))
        if asked:
            self._submit(asked)
        if cache is not None:
            for request, key in zip(requests, keys, strict=True):
                if request in asked and isinstance(request.outcome, Completion):
                    request.outcome = cache.put(key, request.outcome)
        return completed([request.result() for request in requests])

    def close(self) -> None:
        """Closes the model, if it is loaded and can be closed."""
        close = getattr(self._loaded, "close", None)
        if close is not None:
            close()

    def _keys(self, requests: Sequence[Request], seed: Seed) -> list[str]:
        identity = self.identity
        numbers = occurrences([one.conversation for one in requests], [r.seed for r in requests])
        return [
            self._key(identity, request, number)
            for request, number in zip(requests, numbers, strict=True)
        ]

    def _key(self, identity: Any, request: Request, number: int) -> str:
        def key(sample: int) -> str:
            one = request
            return call_key(identity, one.conversation, one.tools, one.sampling, one.seed, sample)

        if request.seed is not None or request.sampling.is_greedy:
            return key(number)
        # Nothing tells two draws apart but their order: the n-th of a run is its n-th again.
        with self._loading:
            self._samples[key(0)] += 1
            return key(self._samples[key(0)] - 1)

    def _submit(self, requests: Sequence[Request]) -> None:
        self._shared.ledger.check()  # before a model is loaded for nothing
        model, shared = self.load(), self._shared
        with self._loading:
            if self._lane is None:
                joins = getattr(model, "joins_calls", True)
                self._lane = (
                    Joining(self._run, shared.batch_size, shared.batch_wait_s)
                    if joins
                    else SideBySide(self._run, shared.max_in_flight)
                )
        self._lane.submit(requests)

    def _run(self, requests: Sequence[Request]) -> None:
        ledger = self._shared.ledger
        try:
            ledger.check()
        except Exception as error:
            for request in requests:
                request.failure = error
            return
        started_s = time.perf_counter()
        answer(self.load(), requests)
        outcomes: list[Outcome] = [one.outcome for one in requests if one.outcome is not None]
        ledger.count(self.name, outcomes, self._price, time.perf_counter() - started_s)
