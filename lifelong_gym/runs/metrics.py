"""Metrics: what a run's episodes came to. Definitions stand in docs/runs.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import pydantic

from lifelong_gym.errors import UsageError
from lifelong_gym.trajectory import Trajectory

_Z_95 = 1.959963984540054  # the 97.5th percentile of the normal distribution
_POINTS = 10


class _Figures(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)


class SkillMetrics(_Figures):
    """The episodes of one skill; an episode with several skills counts in each.

    Attributes:
        tasks: How many there are, unscored ones included.
        scored: How many are scored.
        success_rate: Over the scored ones; None if there is none.
    """

    tasks: int
    scored: int
    success_rate: float | None


class Tokens(_Figures):
    """Tokens that models read and wrote, unscored episodes included."""

    prompt: int
    completion: int


class Window(_Figures):
    """One point of the curve over time.

    Attributes:
        first: The first episode in it, counted from 0 in the order of the stream.
        last: The last one.
        scored: How many of them are scored.
        success_rate: Over these; None if there is none.
        cumulative_success_rate: Over all scored episodes up to `last`.
    """

    first: int
    last: int
    scored: int
    success_rate: float | None
    cumulative_success_rate: float | None


class Metrics(_Figures):
    """What a run's episodes came to.

    Attributes:
        tasks: How many episodes are recorded; each attempt at a task is one.
        scored: How many of them count.
        unscored: How many do not, because the system failed.
        successes: How many of the scored ones succeeded.
        success_rate: `successes / scored`; None if nothing is scored.
        success_interval: Its 95 % Wilson interval.
        by_skill: The same by skill.
        by_status: How many episodes ended with each status.
        mean_turns: Turns an episode, over the scored ones.
        tokens: What models read and wrote in all.
        pass_at: pass@k by k, where tasks were attempted several times.
        over_time: The success rate along the stream.
    """

    tasks: int
    scored: int
    unscored: int
    successes: int
    success_rate: float | None
    success_interval: tuple[float, float] | None
    by_skill: dict[str, SkillMetrics]
    by_status: dict[str, int]
    mean_turns: float | None
    tokens: Tokens
    pass_at: dict[int, float]
    over_time: tuple[Window, ...]


def measure(trajectories: Sequence[Trajectory], *, window: int | None = None) -> Metrics:
    """Computes the metrics of some episodes.

    Args:
        trajectories: In the order of the stream.
        window: How many make one point of `over_time`; by default a tenth of them.

    Raises:
        UsageError: `window` is below 1.
    """
    scored = [episode for episode in trajectories if episode.is_scored]
    successes = _successes(scored)
    return Metrics(
        tasks=len(trajectories),
        scored=len(scored),
        unscored=len(trajectories) - len(scored),
        successes=successes,
        success_rate=_rate(successes, len(scored)),
        success_interval=wilson_interval(successes, len(scored)),
        by_skill=_by_skill(trajectories),
        by_status=dict(sorted(Counter(episode.status for episode in trajectories).items())),
        mean_turns=_rate(sum(len(episode.turns) for episode in scored), len(scored)),
        tokens=_tokens(trajectories),
        pass_at=_pass_at(scored),
        over_time=_over_time(trajectories, window),
    )


def wilson_interval(successes: float, scored: float) -> tuple[float, float] | None:
    """The 95 % Wilson score interval of a success rate; None if nothing is scored.

    Examples:
        >>> low, high = wilson_interval(8, 10)
        >>> round(low, 4), round(high, 4)
        (0.4902, 0.9433)
    """
    if scored == 0:
        return None
    rate, z = successes / scored, _Z_95
    scale = 1 + z * z / scored
    centre = rate + z * z / (2 * scored)
    spread = z * math.sqrt(rate * (1 - rate) / scored + z * z / (4 * scored * scored))
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == scored else min(1.0, (centre + spread) / scale)
    return low, high  # the ends are exact, whatever rounding says


def pass_at_k(attempts: int, successes: int, k: int) -> float:
    """The chance that one of `k` attempts succeeds: Chen et al. 2021, unbiased.

    Args:
        attempts: How many were made, at least `k`.
        successes: How many of them succeeded.
        k: How many may be tried.

    Examples:
        >>> round(pass_at_k(attempts=5, successes=2, k=2), 6)   # 1 - C(3, 2) / C(5, 2)
        0.7
    """
    if not 1 <= k <= attempts:
        raise UsageError(f"k must be from 1 to the {attempts} attempts, got {k}")
    return 1.0 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def _successes(episodes: Iterable[Trajectory]) -> int:
    return sum(episode.success is True for episode in episodes)


def _rate(count: int, total: int) -> float | None:
    return count / total if total else None


def _by_skill(trajectories: Sequence[Trajectory]) -> dict[str, SkillMetrics]:
    by_skill: dict[str, list[Trajectory]] = {}
    for episode in trajectories:
        for skill in set(episode.skills):
            by_skill.setdefault(skill, []).append(episode)
    return {skill: _skill_metrics(by_skill[skill]) for skill in sorted(by_skill)}


def _skill_metrics(episodes: Sequence[Trajectory]) -> SkillMetrics:
    scored = sum(episode.is_scored for episode in episodes)
    return SkillMetrics(
        tasks=len(episodes), scored=scored, success_rate=_rate(_successes(episodes), scored)
    )


def _tokens(trajectories: Iterable[Trajectory]) -> Tokens:
    total: Counter[str] = Counter()
    for episode in trajectories:
        total.update(episode.usage)
    return Tokens(prompt=total["prompt_tokens"], completion=total["completion_tokens"])


def _pass_at(scored: Iterable[Trajectory]) -> dict[int, float]:
    by_task: dict[str, list[bool]] = {}
    for episode in scored:
        by_task.setdefault(episode.task_id, []).append(bool(episode.success))
    most = max(map(len, by_task.values()), default=0)
    if most < 2:
        return {}
    return {k: _mean_pass_at(k, by_task.values()) for k in range(1, most + 1)}


def _mean_pass_at(k: int, tasks: Iterable[Sequence[bool]]) -> float:
    # A task with fewer than k scored attempts says nothing about k.
    values = [pass_at_k(len(made), sum(made), k) for made in tasks if len(made) >= k]
    return math.fsum(values) / len(values)


def _over_time(trajectories: Sequence[Trajectory], window: int | None) -> tuple[Window, ...]:
    size = max(1, math.ceil(len(trajectories) / _POINTS)) if window is None else window
    if size < 1:
        raise UsageError(f"window must be at least 1, got {size}")
    points, all_scored, all_successes = [], 0, 0
    for first in range(0, len(trajectories), size):
        episodes = trajectories[first : first + size]
        scored, successes = sum(e.is_scored for e in episodes), _successes(episodes)
        all_scored, all_successes = all_scored + scored, all_successes + successes
        points.append(
            Window(
                first=first,
                last=first + len(episodes) - 1,
                scored=scored,
                success_rate=_rate(successes, scored),
                cumulative_success_rate=_rate(all_successes, all_scored),
            )
        )
    return tuple(points)
