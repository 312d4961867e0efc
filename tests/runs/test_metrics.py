"""Metrics, computed by hand."""

import pytest

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.metrics import Tokens, Window, measure, pass_at_k, wilson_interval
from lifelong_gym.trajectory import Trajectory, Turn

_TURN = Turn(action="a", observation="o", reward=0.0)


def episode(success, *, task="t", skills=(), turns=1, status=None, usage=None):
    known = {True: "completed", False: "turn_limit", None: "environment_error"}
    return Trajectory(
        task_id=task,
        domain="scripted",
        skills=skills,
        turns=(_TURN,) * turns,
        status=status or known[success],
        success=success,
        usage=usage or {},
    )


def test_success_rate_is_over_scored_episodes():
    metrics = measure([episode(True), episode(False), episode(False), episode(None)])

    assert (metrics.tasks, metrics.scored, metrics.unscored, metrics.successes) == (4, 3, 1, 1)
    assert metrics.success_rate == 1 / 3


def test_rates_are_none_where_nothing_is_scored():
    metrics = measure([episode(None, skills=("a",))])

    assert metrics.success_rate is None
    assert metrics.success_interval is None
    assert metrics.mean_turns is None
    assert metrics.by_skill["a"].success_rate is None


def test_empty_run_has_metrics():
    assert (measure([]).tasks, measure([]).over_time) == (0, ())


@pytest.mark.parametrize(
    ("successes", "scored", "low", "high"),
    [
        # z = 1.959964, z^2 = 3.841459. 8 of 10: centre (0.8 + 0.192073) / 1.384146 = 0.716740,
        # spread 1.959964 * sqrt(0.016 + 0.009604) / 1.384146 = 0.226577.
        (8, 10, 0.490163, 0.943317),
        # 0 of 10: from 0 to z^2 / (10 + z^2) = 3.841459 / 13.841459.
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        # 1 of 2: centre 0.5, spread z * sqrt(1 / 8 + z^2 / 16) / (1 + z^2 / 2) = 0.405469.
        (1, 2, 0.094531, 0.905469),
    ],
)
def test_interval_is_wilsons(successes, scored, low, high):
    assert wilson_interval(successes, scored) == pytest.approx((low, high), abs=1e-6)


def test_episode_counts_in_each_of_its_skills():
    metrics = measure(
        [
            episode(True, skills=("a", "b")),
            episode(False, skills=("b",)),
            episode(None, skills=("b",)),
        ]
    )

    assert list(metrics.by_skill) == ["a", "b"]
    assert metrics.by_skill["a"].success_rate == 1.0
    assert metrics.by_skill["b"].model_dump() == {"tasks": 3, "scored": 2, "success_rate": 0.5}


def test_statuses_are_counted():
    metrics = measure([episode(True), episode(None), episode(False), episode(True)])

    assert metrics.by_status == {"completed": 2, "environment_error": 1, "turn_limit": 1}


def test_mean_turns_leaves_unscored_episodes_out():
    metrics = measure([episode(True, turns=1), episode(False, turns=4), episode(None, turns=9)])

    assert metrics.mean_turns == 2.5


def test_tokens_count_unscored_episodes_too():
    usage = {"calls": 1, "prompt_tokens": 10, "completion_tokens": 3}
    metrics = measure([episode(True, usage=usage), episode(None, usage=usage)])

    assert metrics.tokens == Tokens(prompt=20, completion=6)


@pytest.mark.parametrize(
    ("attempts", "successes", "k", "chance"),
    [
        (5, 2, 1, 0.4),
        (5, 2, 2, 0.7),  # 1 - C(3, 2) / C(5, 2) = 1 - 3 / 10
        (5, 2, 4, 1.0),  # four of five cannot all be among the three failures
        (3, 0, 3, 0.0),
    ],
)
def test_pass_at_k_is_unbiased(attempts, successes, k, chance):
    assert pass_at_k(attempts, successes, k) == pytest.approx(chance)


def test_pass_at_more_than_was_attempted_is_refused():
    with pytest.raises(UsageError, match="k must be from 1 to the 2 attempts, got 3"):
        pass_at_k(2, 1, 3)


def test_pass_at_is_averaged_over_tasks_with_enough_scored_attempts():
    metrics = measure(
        [
            *[episode(success, task="a") for success in (True, False, False)],
            *[episode(success, task="b") for success in (True, True, None)],
        ]
    )

    # k=1: (1/3 + 1) / 2; k=2: (1 - C(2,2)/C(3,2) + 1) / 2; k=3: task a alone.
    assert metrics.pass_at == pytest.approx({1: 2 / 3, 2: 5 / 6, 3: 1.0})


def test_single_attempts_have_no_pass_at():
    assert measure([episode(True, task="a"), episode(False, task="b")]).pass_at == {}


def test_success_over_time_is_windowed_and_cumulative():
    metrics = measure([episode(s) for s in (False, True, True, None, None)], window=2)

    assert metrics.over_time == (
        Window(first=0, last=1, scored=2, success_rate=0.5, cumulative_success_rate=0.5),
        Window(first=2, last=3, scored=1, success_rate=1.0, cumulative_success_rate=2 / 3),
        Window(first=4, last=4, scored=0, success_rate=None, cumulative_success_rate=2 / 3),
    )


def test_curve_has_ten_points_by_default():
    assert len(measure([episode(True)] * 95).over_time) == 10


def test_window_below_one_is_refused():
    with pytest.raises(UsageError, match="window must be at least 1, got 0"):
        measure([], window=0)
