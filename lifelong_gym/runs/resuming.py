"""What a stored run allows to go on with it, and what is left to play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.changes import check_unchanged, settings_changed
from lifelong_gym.runs.fingerprint import harmless_settings
from lifelong_gym.runs.stack import find_stream
from lifelong_gym.runs.store import RunStore


def check_settings(
    store: RunStore, agent: gymnasium.Env[Any, Any], current: Mapping[str, Any]
) -> None:
    """Refuses to go on with a stack under which recorded episodes would come out differently.

    Args:
        store: A run that has begun.
        agent: The stack that is to go on.
        current: Its settings, as `fingerprint.describe` has them.

    Raises:
        SettingsChangedError: The message names each setting that changed.
    """
    recorded = store.settings or {}
    folder = None if store.path is None else store.path.parent
    check_unchanged(recorded, current, harmless_settings(agent), folder)
    positions = find_stream(agent).positions
    if lost := [position for position in store.outcomes if position not in positions]:
        limits = [
            f"{name}: recorded {recorded[name]!r}, now {value!r}"
            for name, value in current.items()
            if name.endswith(".limit") and name in recorded
        ]
        left_out = f"{len(lost)} recorded episodes, the first at position {lost[0]}, are left out"
        raise settings_changed(folder, [*limits, left_out])


def check_backend(store: RunStore, served: Mapping[str, Any] | None) -> None:
    """Refuses a backend other than the one that the run was served by so far.

    Raises:
        SettingsChangedError: See above.
    """
    recorded = store.backend
    if served and recorded and served["name"] != recorded["name"]:
        folder = None if store.path is None else store.path.parent
        change = f"backend: recorded {recorded['name']!r}, now {served['name']!r}"
        raise settings_changed(folder, [change])


def left_to_play(store: RunStore, positions: range) -> list[int]:
    """The positions that were not played yet, then those that stayed unscored."""
    outcomes = store.outcomes
    left = [position for position in positions if position not in outcomes]
    return left + [position for position, success in outcomes.items() if success is None]


def check_retries(retries: int) -> None:
    """Refuses a number of retries that is none.

    Raises:
        UsageError: See above.
    """
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise UsageError(f"retries must be at least 0, got {retries!r}")
