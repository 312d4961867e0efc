"""One worker of `run_parallel`: plays the positions of a shard and sends what came of them.

It writes nothing itself. It ends with its parent, whatever ends that, `kill -9` included.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

import gymnasium

from lifelong_gym.errors import (
    BackendError,
    BackendUnavailableError,
    LifelongGymError,
    RunPaused,
    UsageError,
)
from lifelong_gym.runs.player import Player
from lifelong_gym.runs.stack import stateful_layers
from lifelong_gym.runs.states import LayerState, capture
from lifelong_gym.trajectory import Trajectory

Shard: TypeAlias = tuple[int, int]
"""`(i, n)`: every n-th position from the i-th."""

MakeAgent: TypeAlias = "Callable[[Shard | None], gymnasium.Env[Any, Any]]"
"""Makes the stack of a shard; None stands for the whole stream."""

_CLOSES_WITHIN_S = 3.0
_KINDS = (RunPaused, BackendUnavailableError, BackendError, UsageError, LifelongGymError)


@dataclass(frozen=True)
class Played:
    """What a worker sends for each episode.

    Attributes:
        trajectory: The episode.
        states: What the stream remembers after it.
        served: The backend that served.
    """

    trajectory: Trajectory
    states: Mapping[str, LayerState]
    served: Mapping[str, Any] | None


@dataclass(frozen=True)
class Failed:
    """What a worker sends when it cannot go on.

    Attributes:
        error: What was raised, its traceback as a note.
    """

    error: Exception


@dataclass(frozen=True)
class Done:
    """What a worker sends when it has played everything."""


Message: TypeAlias = "Played | Failed | Done"
"""What a worker sends."""


def work(
    make_agent: MakeAgent,
    shard: Shard,
    positions: Sequence[int],
    retries: int,
    parent: Connection,
) -> None:
    """Plays `positions` and sends a `Played` for each, then `Done`; or else `Failed`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with contextlib.closing(make_agent(shard)) as agent:
            _play(agent, positions, retries, parent)
        parent.send(Done())
    except BrokenPipeError:  # the parent is gone
        sys.exit(1)
    except Exception as error:
        parent.send(Failed(_sendable(error)))


def _play(
    agent: gymnasium.Env[Any, Any], positions: Sequence[int], retries: int, parent: Connection
) -> None:
    # Only the stream has a state, and the position decides all that it does.
    player = Player(agent, retries, restore=lambda: None, check_served=lambda served: None)
    for position in positions:
        trajectory = player.play(position)
        layers = stateful_layers(agent)
        states = {name: capture(layer, name) for name, layer in layers.items()}
        parent.send(Played(trajectory, states, player.served))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:  # called in the parent itself
        return
    wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)  # closes the stack in the main thread
    threading.Event().wait(_CLOSES_WITHIN_S)
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    """`error`, or the nearest kind of error that can cross to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # pickling runs code of any class
        kind = next((kind for kind in _KINDS if isinstance(error, kind)), None)
        error = kind(str(error)) if kind else RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note("(its own class cannot be sent from a worker)")
    error.add_note("In a worker:\n" + traceback.format_exc())
    return error
