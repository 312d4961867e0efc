"""Judging sets of entities."""

from __future__ import annotations

import pytest

from lifelong_gym.scoring.answers import grade_set


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"m.1", "m.2"}, ["m.2", "m.1"]),
        ({"45"}, ["45"]),
        ({"New%20York"}, ["New York"]),
        (set(), []),
    ],
)
def test_the_right_set_is_right(answer, expected):
    grading = grade_set(answer, expected)

    assert grading.success
    assert (grading.score, grading.details["f1"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("answer", "expected", "precision", "recall", "f1"),
    [
        ({"m.1", "m.2"}, ["m.1"], 0.5, 1.0, 2 / 3),
        ({"m.1"}, ["m.1", "m.2", "m.3", "m.4"], 1.0, 0.25, 0.4),
        ({"m.9"}, ["m.1"], 0.0, 0.0, 0.0),
        (set(), ["m.1"], 0.0, 0.0, 0.0),
        ({"m.1"}, [], 0.0, 0.0, 0.0),
        ({"44"}, ["45"], 0.0, 0.0, 0.0),
    ],
)
def test_a_wrong_set_is_measured(answer, expected, precision, recall, f1):
    grading = grade_set(answer, expected)

    assert not grading.success
    assert grading.score < 1
    details = grading.details
    assert (details["precision"], details["recall"]) == (precision, recall)
    assert details["f1"] == pytest.approx(f1)


def test_almost_right_is_never_worth_as_much_as_right():
    ids = [f"m.{n}" for n in range(1000)]

    assert grade_set(set(ids[:-1]), ids).score == 0.9


def test_no_answer_is_wrong_even_where_nothing_is_right():
    grading = grade_set(None, [])

    assert not grading.success
    assert grading.details["f1"] == 0.0


def test_the_reason_names_a_few_ids():
    assert grade_set({"m.1"}, ["m.2"]).reason == "1 missing (m.2), 1 wrong (m.1)"


def test_ids_that_spell_numbers_are_ids():
    assert not grade_set({"7", "07"}, ["7"]).success
    assert not grade_set({"07"}, ["7"]).success
    assert grade_set({"7"}, ["7.0"], is_count=True).success
    assert grade_set({"45"}, ["45.0"], is_count=True).success
