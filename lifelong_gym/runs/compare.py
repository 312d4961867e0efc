"""compare: two runs of the same tasks, episode by episode."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pydantic

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.changes import differing
from lifelong_gym.runs.metrics import wilson_interval
from lifelong_gym.runs.run import Run
from lifelong_gym.trajectory import Trajectory

_Pair = tuple[bool, bool]
_Attempt = tuple[str, int]
_RESAMPLES = 10_000
_UNNAMED = "in memory"


class Comparison(pydantic.BaseModel):
    """What two runs did with the same tasks, A and B.

    Two episodes make a pair if they have the same task and the same attempt at it. The
    figures are over the pairs in which both are scored.

    Attributes:
        a: The first run's folder.
        b: The second run's.
        pairs: Pairs with two scored episodes.
        unscored: Pairs in which one is unscored.
        only_in_a: Episodes of A without one in B.
        only_in_b: Episodes of B without one in A.
        both: Pairs that both solved.
        a_only: Pairs that A alone solved.
        b_only: Pairs that B alone solved.
        neither: Pairs that neither solved.
        rate_a: A's success rate over the pairs.
        rate_b: B's.
        difference: `rate_b - rate_a`.
        difference_interval: Its 95 % interval.
        interval_method: How that was computed: `"newcombe"`, or `"bootstrap"` over tasks where
            a task has several attempts (and not all tasks came out alike).
        p_value: That of the exact two-sided McNemar test; with several attempts that of the
            same test over tasks, see `sign_flip_p`.
        solved_by_a_only: The task ids, each once.
        solved_by_b_only: Likewise.
        settings: The settings that differ, each with A's and B's value.
    """

    model_config = pydantic.ConfigDict(frozen=True)

    a: str
    b: str
    pairs: int
    unscored: int
    only_in_a: int
    only_in_b: int
    both: int
    a_only: int
    b_only: int
    neither: int
    rate_a: float
    rate_b: float
    difference: float
    difference_interval: tuple[float, float]
    interval_method: Literal["newcombe", "bootstrap"]
    p_value: float
    solved_by_a_only: tuple[str, ...]
    solved_by_b_only: tuple[str, ...]
    settings: dict[str, tuple[Any, Any]]


def compare(a: Run | Path | str, b: Run | Path | str) -> Comparison:
    """Compares two runs by the tasks that both played.

    Args:
        a: A run or its folder.
        b: The other.

    Raises:
        UsageError: There is no run, or the runs share no task that both scored.
    """
    first, second = (run if isinstance(run, Run) else Run.load(run) for run in (a, b))
    episodes_a, episodes_b = _by_attempt(first), _by_attempt(second)
    common = [key for key in episodes_a if key in episodes_b]
    scored = {
        key: (bool(episodes_a[key].success), bool(episodes_b[key].success))
        for key in common
        if episodes_a[key].is_scored and episodes_b[key].is_scored
    }
    if not scored:
        raise _nothing_common(first, second, len(common))
    return Comparison(
        a=str(first.path or _UNNAMED),
        b=str(second.path or _UNNAMED),
        unscored=len(common) - len(scored),
        only_in_a=len(episodes_a) - len(common),
        only_in_b=len(episodes_b) - len(common),
        solved_by_a_only=_tasks(scored, (True, False)),
        solved_by_b_only=_tasks(scored, (False, True)),
        settings=differing(first.settings, second.settings),
        **_figures(scored),
    )


def newcombe_interval(
    both: float, a_only: float, b_only: float, neither: float
) -> tuple[float, float]:
    """The 95 % interval of a difference of paired rates, B's minus A's.

    Method 10 of Newcombe (1998), "Improved confidence intervals for the difference between
    binomial proportions based on paired data", Statistics in Medicine 17:2635-2650: Wilson's
    intervals of the two rates, joined with their correlation, which is corrected for
    continuity. The example is that of Altman et al. (2000), "Statistics with confidence".

    Examples:
        >>> low, high = newcombe_interval(both=14, a_only=0, b_only=5, neither=22)
        >>> round(low, 3), round(high, 3)
        (0.011, 0.226)
    """
    total = both + a_only + b_only + neither
    solved_a, solved_b = both + a_only, both + b_only
    low_a, high_a = _wilson(solved_a, total)
    low_b, high_b = _wilson(solved_b, total)
    rate_a, rate_b = solved_a / total, solved_b / total
    phi = _correlation(both, a_only, b_only, neither)

    def spread(below: float, above: float) -> float:
        # Of a correlation of 1 rounding may leave a little less than nothing.
        return math.sqrt(max(0.0, below**2 - 2 * phi * below * above + above**2))

    difference = rate_b - rate_a
    return (
        difference - spread(rate_b - low_b, high_a - rate_a),
        difference + spread(high_b - rate_b, rate_a - low_a),
    )


def sign_flip_p(differences: Iterable[int]) -> float:
    """How likely a sum this far from 0 is if each difference could as well be its opposite.

    The exact two-sided paired permutation test. Where every difference is -1, 0 or 1 it is
    the exact McNemar test: twice the tail of a binomial distribution, at most 1.

    Args:
        differences: For each task, how much oftener B solved it than A.

    Examples:
        >>> sign_flip_p([1] * 5 + [-1])   # 2 * (C(6, 0) + C(6, 1)) / 2**6
        0.21875
        >>> sign_flip_p([0, 0])
        1.0
    """
    sizes = [difference for difference in differences if difference]
    counts: dict[int, int] = {0: 1}
    for size in sizes:
        flipped: dict[int, int] = {}
        for total, count in counts.items():
            for moved in (total + size, total - size):
                flipped[moved] = flipped.get(moved, 0) + count
        counts = flipped
    observed = abs(sum(sizes))
    extreme = sum(count for total, count in counts.items() if abs(total) >= observed)
    return extreme / (1 << len(sizes))


def _figures(scored: Mapping[_Attempt, _Pair]) -> dict[str, Any]:
    pairs = list(scored.values())
    names = {(True, True): "both", (True, False): "a_only", (False, True): "b_only"}
    names[False, False] = "neither"
    cells = {name: pairs.count(pair) for pair, name in names.items()}
    by_task: dict[str, list[int]] = {}
    for (task_id, _), (solved_a, solved_b) in scored.items():
        by_task.setdefault(task_id, []).append(int(solved_b) - int(solved_a))
    rate_a, rate_b = (sum(pair[n] for pair in pairs) / len(pairs) for n in (0, 1))
    # Where every task came out alike there is nothing to resample.
    resampled = len(by_task) < len(pairs) and len({sum(d) / len(d) for d in by_task.values()}) > 1
    if resampled:
        interval = _bootstrap(list(by_task.values()))
    else:
        share = len(by_task) / len(pairs)  # several attempts at a task count as one
        interval = newcombe_interval(**{name: share * count for name, count in cells.items()})
    return {
        **cells,
        "pairs": len(pairs),
        "rate_a": rate_a,
        "rate_b": rate_b,
        "difference": rate_b - rate_a,
        "difference_interval": interval,
        "interval_method": "bootstrap" if resampled else "newcombe",
        "p_value": sign_flip_p(map(sum, by_task.values())),
    }


def _wilson(successes: float, total: float) -> tuple[float, float]:
    interval = wilson_interval(successes, total)
    return interval or (0.0, 1.0)


def _correlation(both: float, a_only: float, b_only: float, neither: float) -> float:
    margins = (both + a_only) * (b_only + neither) * (both + b_only) * (a_only + neither)
    if margins == 0:
        return 0.0
    excess = both * neither - a_only * b_only
    if excess > 0:
        excess = max(0.0, excess - (both + a_only + b_only + neither) / 2)
    return excess / math.sqrt(margins)


def _bootstrap(tasks: Sequence[Sequence[int]]) -> tuple[float, float]:
    """The percentile interval over resampled tasks: attempts at one task stay together."""
    sums = np.array([sum(differences) for differences in tasks])
    sizes = np.array([len(differences) for differences in tasks])
    generator = np.random.default_rng(0)  # so that the same runs give the same interval
    means = []
    for _ in range(_RESAMPLES):
        drawn = generator.integers(len(tasks), size=len(tasks))
        means.append(sums[drawn].sum() / sizes[drawn].sum())
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _by_attempt(run: Run) -> dict[_Attempt, Trajectory]:
    return {(episode.task_id, episode.attempt): episode for episode in run.trajectories}


def _tasks(scored: Mapping[_Attempt, _Pair], outcome: _Pair) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task_id for (task_id, _), pair in scored.items() if pair == outcome))


def _nothing_common(first: Run, second: Run, common: int) -> UsageError:
    names = " and ".join(str(run.path or _UNNAMED) for run in (first, second))
    if common:
        return UsageError(
            f"{names} share {common} episodes, of which none is scored in both: run them again, "
            "which retries what is unscored"
        )
    some = [next((t.task_id for t in run.trajectories), "none") for run in (first, second)]
    return UsageError(
        f"{names} have no task in common (the first are {some[0]!r} and {some[1]!r}): compare "
        "runs of the same tasks"
    )
