"""Trying again: how long to wait, as told or longer each time, and when to give up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lifelong_gym.errors import MissingExtraError
from lifelong_gym.models.errors import (
    ConnectionLostError,
    QuotaExhaustedError,
    RateLimitedError,
)

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """When to try again and when to give up.

    Attributes:
        retries: How often a lost connection is tried again.
        first_wait_s: How long the first wait is, where the endpoint names none; each further
            one is twice as long and drawn by chance, 60 s at most.
        max_wait_s: How long rate limits are waited for, all waits of a call together; a
            limit that lifts later pauses the run.
    """

    retries: int = 5
    first_wait_s: float = 1.0
    max_wait_s: float = 600.0


def retrying(
    function: Callable[[], T], patience: Patience, given_up: threading.Event | None = None
) -> T:
    """Calls `function` until it returns, while that is worth it.

    Args:
        function: Raises `RateLimitedError` or `ConnectionLostError` where it may be tried
            again; any other error is passed on at once.
        patience: How often and how long.
        given_up: Ends every wait at once when it is set.

    Raises:
        ConnectionLostError: It was lost `retries` times more.
        QuotaExhaustedError: A rate limit lifts too late to wait for.
    """
    try:
        import tenacity
    except ImportError as error:
        raise MissingExtraError("tenacity", "openai", "Calling an endpoint") from error
    stopped = given_up or threading.Event()
    backoff = tenacity.wait_random_exponential(multiplier=patience.first_wait_s, max=60)
    losses = 0

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        told = error.retry_after_s if isinstance(error, RateLimitedError) else None
        return backoff(state) if told is None else told

    def stop(state: RetryCallState) -> bool:
        nonlocal losses
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RateLimitedError):
            return stopped.is_set() or state.idle_for + state.upcoming_sleep > patience.max_wait_s
        losses += 1
        return stopped.is_set() or losses > patience.retries

    retryer = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type((RateLimitedError, ConnectionLostError)),
        wait=wait,
        stop=stop,
        sleep=tenacity.sleep_using_event(stopped),
        reraise=True,
    )
    try:
        result: T = retryer(function)
        return result
    except RateLimitedError as error:
        raise QuotaExhaustedError(
            f"{error}; that limit lifts later than {patience.max_wait_s:g} s from now: "
            "run the same again then, or raise max_wait_s"
        ) from error
