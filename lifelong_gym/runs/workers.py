"""run_parallel: several processes play the shards of one stream into one run."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, TypeAlias, cast

import gymnasium

from lifelong_gym.errors import RunPaused, UsageError
from lifelong_gym.runs.connection import pausing_when_full
from lifelong_gym.runs.fingerprint import describe
from lifelong_gym.runs.progress import Progress, progress_bar
from lifelong_gym.runs.resuming import check_backend, check_retries, check_settings, left_to_play
from lifelong_gym.runs.run import Run
from lifelong_gym.runs.stack import check_agent, find_stream, stateful_layers
from lifelong_gym.runs.states import capture
from lifelong_gym.runs.store import RunStore
from lifelong_gym.runs.stream import Stream
from lifelong_gym.runs.worker import Failed, MakeAgent, Message, Played, work

_Crew: TypeAlias = "dict[Connection, SpawnProcess]"
_ENDS_WITHIN_S = 10.0


def run_parallel(
    make_agent: MakeAgent,
    output: Path | str | None = None,
    *,
    workers: int,
    progress: Progress = False,
    retries: int = 2,
) -> Run:
    """Plays a stream in several processes and records it as `run_stream` does.

    Each process plays one shard, with a stack and backend of its own; this one writes. The
    trajectories are those of `run_stream`, times apart, and either goes on with what the
    other began. Whatever stops a worker stops the run resumably.

    Args:
        make_agent: A function at the top of a module. It is called with a shard `(i, n)` in
            each worker, and here with None for the whole stream, and returns a stack whose
            `TaskStream` has that `shard`. It may be anything that pickles.
        output: The folder of the run; None keeps it in memory.
        workers: How many processes play.
        progress: As `run_stream` has it.
        retries: How often a task that the system broke is played again.

    Returns:
        The run.

    Raises:
        UsageError: A wrapper or the agent remembers something from task to task, which
            workers cannot share; or as `run_stream` has it.
        RunPaused: A worker paused or was ended; the run can be resumed.
    """
    check_retries(retries)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise UsageError(f"workers must be at least 1, got {workers!r}")
    _check_picklable(make_agent)
    with contextlib.closing(make_agent(None)) as agent:
        check_agent(agent)
        check_stateless(agent)
        with RunStore(output) as store, pausing_when_full(store.path):
            _begin(store, agent)
            positions = left_to_play(store, find_stream(agent).positions)
            with _crew(make_agent, positions, workers, retries) as crew:
                _record_all(store, crew, progress, len(positions))
            return Run(store)


def check_stateless(env: gymnasium.Env[Any, Any]) -> None:
    """Refuses a stack in which more than the stream remembers something.

    Raises:
        UsageError: Names the layers and says why.
    """
    remembering = [
        type(layer).__name__
        for layer in stateful_layers(env).values()
        if not isinstance(layer, Stream)
    ]
    if remembering:
        raise UsageError(
            f"{', '.join(remembering)} remembers from task to task (it has a state_dict), and "
            "workers that play side by side cannot share that: an episode would depend on "
            "which worker played it. Play this stack with one worker"
        )


def _check_picklable(make_agent: MakeAgent) -> None:
    try:
        pickle.dumps(make_agent)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"make_agent is sent to other processes, but does not pickle: {error}. "
            "Use a function at the top of a module, not one inside another or a lambda"
        ) from error


def _begin(store: RunStore, agent: gymnasium.Env[Any, Any]) -> None:
    settings = describe(agent)
    if store.settings is None:
        layers = stateful_layers(agent)
        store.begin(settings, {name: capture(layer, name) for name, layer in layers.items()})
        return
    check_settings(store, agent, settings)
    store.begin(settings, {})


def _record_all(store: RunStore, crew: _Crew, progress: Progress, count: int) -> None:
    done = [success for success in store.outcomes.values() if success is not None]
    furthest = max(store.outcomes, default=-1)
    with progress_bar(progress, done, count) as advance:
        for played in _received(crew):
            check_backend(store, played.served)
            position = played.trajectory.position
            # The stream's own state is that of the furthest position, as after a serial run.
            moves_on = played.trajectory.is_scored and position > furthest
            furthest = position if moves_on else furthest
            store.record(played.trajectory, played.states if moves_on else {}, _scored_by(played))
            advance(played.trajectory.success)


def _scored_by(played: Played) -> Mapping[str, Any] | None:
    return played.served if played.trajectory.is_scored else None


@contextlib.contextmanager
def _crew(
    make_agent: MakeAgent, positions: Sequence[int], workers: int, retries: int
) -> Iterator[_Crew]:
    """Starts the workers that have something to play; none is left afterwards."""
    context = multiprocessing.get_context("spawn")  # forks would copy locks that threads hold
    crew: _Crew = {}
    try:
        with _without_interrupts():
            for number in range(workers):
                shard = [p for p in positions if p % workers == number]
                if not shard:
                    continue
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(
                    target=work, args=(make_agent, (number, workers), shard, retries, sender)
                )
                process.start()
                sender.close()  # so that the worker's end is the only one
                crew[receiver] = process
        yield crew
    finally:
        _end(crew)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ignores Ctrl-C here and, from their first moment on, in processes started inside."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _received(crew: _Crew) -> Iterator[Played]:
    """What the workers send, until each of them is done.

    Raises:
        Exception: What a worker raised.
        RunPaused: A worker was ended.
    """
    waiting = set(crew)
    while waiting:
        for connection in cast("list[Connection]", wait(list(waiting))):
            message = _receive(connection, crew[connection])
            if isinstance(message, Played):
                yield message
                continue
            waiting.discard(connection)
            if isinstance(message, Failed):
                yield from _sent_already(waiting)
                raise message.error


def _receive(connection: Connection, process: SpawnProcess) -> Message:
    try:
        return cast("Message", connection.recv())
    except (EOFError, OSError):  # ended, perhaps in the middle of a message
        return Failed(_ended(process))


def _sent_already(connections: Iterable[Connection]) -> Iterator[Played]:
    """Episodes that others finished before the run stops."""
    for connection in connections:
        with contextlib.suppress(EOFError, OSError):
            while connection.poll():
                message = connection.recv()
                if isinstance(message, Played):
                    yield message


def _ended(process: SpawnProcess) -> RunPaused:
    process.join()
    code = process.exitcode or 0
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return RunPaused(
        f"a worker, process {process.pid}, ended {how} before it was done: what it sent is "
        "recorded, run the same again to go on"
    )


def _end(crew: _Crew) -> None:
    for process in crew.values():
        process.terminate()  # lets the worker close its stack
    deadline = time.monotonic() + _ENDS_WITHIN_S
    for process in crew.values():
        process.join(max(0.0, deadline - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()
    for connection in crew:
        connection.close()
