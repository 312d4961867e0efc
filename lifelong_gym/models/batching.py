"""How concurrent calls reach a model: joined into batches, or let through side by side."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifelong_gym.models.contract import Conversation, LanguageModel, Sampling
from lifelong_gym.models.errors import Outcome, generate_each
from lifelong_gym.models.keys import digest


@dataclass(eq=False, slots=True)
class Request:
    """One conversation that waits for its reply.

    Attributes:
        conversation: What was said.
        sampling: How the reply is drawn.
        tools: What can be called.
        seed: The conversation's seed.
        outcome: The reply, once it is there.
        failure: What ended the whole call instead: `RunPaused`, a wrong setting.
    """

    conversation: Conversation
    sampling: Sampling
    tools: Sequence[Mapping[str, Any]] | None
    seed: int | None
    outcome: Outcome | None = None
    failure: BaseException | None = None
    group: str = field(init=False)

    def __post_init__(self) -> None:
        """Names the requests that can share a call."""
        tools = None if self.tools is None else list(self.tools)
        self.group = f"{self.sampling!r} {digest(tools)}"

    @property
    def is_done(self) -> bool:
        """Whether there is an answer."""
        return self.outcome is not None or self.failure is not None

    def result(self) -> Outcome:
        """The answer; raises what ended the call."""
        if self.failure is not None:
            raise self.failure
        if self.outcome is None:
            raise RuntimeError("the request has no answer yet: submit it first")
        return self.outcome


def answer(model: LanguageModel, requests: Sequence[Request]) -> None:
    """Runs requests of one group as one call, and writes the answers into them."""
    try:
        outcomes = generate_each(
            model,
            [request.conversation for request in requests],
            sampling=requests[0].sampling,
            tools=requests[0].tools,
            seed=[request.seed for request in requests],
        )
        for request, outcome in zip(requests, outcomes, strict=True):
            request.outcome = outcome
    except BaseException as error:
        for request in requests:
            request.failure = error
        if not isinstance(error, Exception):  # Ctrl-C belongs to the thread that got it
            raise


Run = Callable[[Sequence[Request]], None]
"""Answers requests of one group."""


class Joining:
    """One call at a time; what other threads ask meanwhile is the next one.

    There is no thread of its own: whoever asks first runs the batch, for the others as well.

    Args:
        run: Makes the call.
        batch_size: How many conversations a call has at most.
        wait_s: How long a batch is kept open for threads that ask in step, in seconds; only
            once two have asked at the same time.
    """

    def __init__(self, run: Run, batch_size: int, wait_s: float) -> None:
        self._run, self._batch_size, self._wait_s = run, batch_size, wait_s
        self._condition = threading.Condition()
        self._queue: list[Request] = []
        self._is_running = False
        self._callers = 0  # threads inside `submit`
        self._in_step = 1  # how many of them there were when the last batch was taken

    def submit(self, requests: Sequence[Request]) -> None:
        """Returns when all of `requests` are answered."""
        with self._condition:
            self._queue += requests
            self._callers += 1
            self._condition.notify_all()
        try:
            while batch := self._turn(requests):
                self._lead(batch)
        finally:
            with self._condition:
                self._callers -= 1
                self._queue = [one for one in self._queue if one not in requests]
                self._condition.notify_all()

    def _turn(self, own: Sequence[Request]) -> list[Request]:
        """Waits until this thread may run a batch; empty once its own are answered."""
        with self._condition:
            self._condition.wait_for(lambda: _are_done(own) or not self._is_running)
            if _are_done(own):
                return []
            self._is_running = True
            if self._in_step > 1:
                self._condition.wait_for(lambda: self._callers >= self._in_step, self._wait_s)
            self._in_step = self._callers
            return self._take()

    def _take(self) -> list[Request]:
        first = self._queue[0]
        batch: list[Request] = []
        taken = set()
        for request in self._queue:
            # Equal requests go into calls of their own: in one they would be two samples.
            key = digest([list(request.conversation), request.seed])
            if request.group == first.group and key not in taken:
                batch.append(request)
                taken.add(key)
            if len(batch) == self._batch_size:
                break
        self._queue = [request for request in self._queue if request not in batch]
        return batch

    def _lead(self, batch: list[Request]) -> None:
        try:
            self._run(batch)
        finally:
            with self._condition:
                self._is_running = False
                self._condition.notify_all()


class SideBySide:
    """Every call goes through at once, as many conversations at a time as allowed.

    Args:
        run: Makes a call.
        in_flight: How many conversations may be asked at the same time.
    """

    def __init__(self, run: Run, in_flight: int) -> None:
        self._run, self._limit = run, in_flight
        self._free = in_flight
        self._condition = threading.Condition()

    def submit(self, requests: Sequence[Request]) -> None:
        """Returns when all of `requests`, which are of one group, are answered."""
        for start in range(0, len(requests), self._limit):
            part = requests[start : start + self._limit]
            with self._slots(len(part)):
                self._run(part)

    @contextlib.contextmanager
    def _slots(self, count: int) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: self._free >= count)
            self._free -= count
        try:
            yield
        finally:
            with self._condition:
                self._free += count
                self._condition.notify_all()


def all_at_once(
    calls: Sequence[Callable[[], Outcome]], concurrency: int, given_up: threading.Event
) -> list[Outcome]:
    """Makes several calls in threads.

    Args:
        calls: What to call.
        concurrency: How many at a time.
        given_up: Set when a call raises, so that the others stop waiting, and at the end.

    Returns:
        What they returned, in their order.
    """
    pool = concurrent.futures.ThreadPoolExecutor(min(concurrency, len(calls) or 1))
    try:
        futures = [pool.submit(call) for call in calls]
        for done in concurrent.futures.as_completed(futures):
            done.result()
        return [future.result() for future in futures]
    finally:
        given_up.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _are_done(requests: Sequence[Request]) -> bool:
    return all(request.is_done for request in requests)
