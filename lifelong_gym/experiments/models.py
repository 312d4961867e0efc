"""The models of an experiment, loaded when they are first asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lifelong_gym.errors import UsageError
from lifelong_gym.experiments.settings import RunTable, Settings
from lifelong_gym.experiments.source import Source

if TYPE_CHECKING:
    from lifelong_gym.models import Budget


def open_models(settings: Settings, source: Source, share: int = 1) -> Mapping[str, Any]:
    """The pool of the models that the settings name; an empty mapping if they name none.

    Args:
        settings: The experiment's.
        source: Where they came from.
        share: How many workers share the budget. With a cache they keep one account in it;
            without, each has its part.

    Raises:
        UsageError: A reference or table is wrong.
    """
    run = settings.run
    if not settings.models:
        if run.cache or run.budget_tokens or run.budget_money:
            raise UsageError(
                f"{source.name('[run]')} has a cache or a budget, but no model uses it"
            )
        return {}
    with source.blaming("[models]"):
        return _pool(settings, source, run, share)


@contextlib.contextmanager
def closing_models(models: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Closes a pool at the end."""
    try:
        yield models
    finally:
        if hasattr(models, "close"):
            models.close()


def _pool(settings: Settings, source: Source, run: RunTable, share: int) -> Mapping[str, Any]:
    from lifelong_gym import models
    from lifelong_gym.models import reference

    if isinstance(settings.models, tuple):
        references = [reference.ModelReference.parse(text) for text in settings.models]
    else:
        references = [
            reference.resolve_model(reference.ModelReference.from_table(name, table), source.base)
            for name, table in settings.models.items()
        ]
    cache = None if run.cache is None else source.base / run.cache
    pool: Mapping[str, Any] = models.ModelPool(
        references, cache=cache, budget=budget_of(run, share)
    )
    return pool


def budget_of(run: RunTable, workers: int) -> Budget:
    """What each of some workers may spend.

    With a cache they keep one account, in its file; without, each has its part.
    """
    from lifelong_gym.models import Budget

    share = 1 if run.cache else workers
    return Budget(
        tokens=None if run.budget_tokens is None else max(1, run.budget_tokens // share),
        money=None if run.budget_money is None else run.budget_money / share,
    )
