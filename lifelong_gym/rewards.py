"""From the verdict on an episode to its reward."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lifelong_gym.episode import Grading
from lifelong_gym.errors import UsageError
from lifelong_gym.plugins import import_path

RewardShaper: TypeAlias = Callable[[Grading], float]
"""Turns the final grading into the reward of the last step."""


def success(grading: Grading) -> float:
    """1.0 for a success and 0.0 otherwise: the reward without a shaper."""
    return 1.0 if grading.success else 0.0


def partial(grading: Grading) -> float:
    """The partial credit: 1.0 for a success, and less for less."""
    return float(grading.score)


_NAMED: dict[str, RewardShaper] = {"success": success, "partial": partial}


def shaped(shaper: RewardShaper, grading: Grading) -> float:
    """The reward that `shaper` gives.

    Raises:
        UsageError: It gives no number.
    """
    reward = shaper(grading)
    try:
        return float(reward)
    except (TypeError, ValueError):
        raise UsageError(f"reward_shaper must return a number, got {reward!r}") from None


def reward_shaper(shaper: RewardShaper | str | None) -> RewardShaper:
    """The function that a `reward_shaper` argument stands for.

    Args:
        shaper: A function, its import path `"module:function"`, `"success"` or `"partial"`;
            None is `"success"`.

    Raises:
        UsageError: There is no such function.
    """
    if shaper is None:
        return success
    if isinstance(shaper, str) and ":" not in shaper and shaper not in _NAMED:
        names = ", ".join(map(repr, _NAMED))
        raise UsageError(
            f'reward_shaper must be {names} or an import path "module:function", got {shaper!r}'
        )
    if isinstance(shaper, str):
        shaper = _NAMED.get(shaper) or import_path(shaper, "reward_shaper")
    if not callable(shaper):
        raise UsageError(f"reward_shaper must be a function of a Grading, got {shaper!r}")
    return shaper
