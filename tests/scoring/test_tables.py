"""Comparing states of a database."""

import pytest

from lifelong_gym.backends.database.contract import TableState
from lifelong_gym.scoring.tables import grade_state, progress

COLUMNS = (("id", "int(11)"), ("name", "text"))
ROWS = ((1, "a"), (2, None), (2, None))
RIGHT = {"t": TableState(COLUMNS, ROWS)}


def test_the_same_state_in_another_order_is_right():
    assert grade_state({"t": TableState(COLUMNS, ROWS[::-1])}, RIGHT).success


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({}, "'t' is gone"),
        ({**RIGHT, "u": RIGHT["t"]}, "'u' that should not be"),
        ({"t": TableState(COLUMNS[:1], ROWS)}, "the columns of 't'"),
        ({"t": TableState((COLUMNS[0], ("name", "varchar(9)")), ROWS)}, "the columns of 't'"),
        ({"t": TableState(COLUMNS, ROWS[:2])}, "in 't', rows missing: 1; rows not right: 0"),
        ({"t": TableState(COLUMNS, (*ROWS[:2], (2, "None")))}, "rows not right: 1"),
        ({"t": TableState(COLUMNS, (), kind="VIEW")}, "is a view"),
        ({"t": TableState(COLUMNS, ROWS, is_cut=True)}, "too large to be compared"),
    ],
)
def test_a_wrong_state_is_explained(found, reason):
    grading = grade_state(found, RIGHT)

    assert not grading.success
    assert reason in grading.reason


def test_progress_counts_from_the_initial_state():
    initial = {"t": TableState(COLUMNS, ((1, "x"), (2, "x"), (3, "x"), (4, "x")))}
    right = {"t": TableState(COLUMNS, ((1, "y"), (2, "y"), (3, "x"), (4, "x")))}
    half = {"t": TableState(COLUMNS, ((1, "y"), (2, "x"), (3, "x"), (4, "x")))}

    assert progress(initial, initial, right) == 0
    assert progress(initial, half, right) == 0.5
    assert progress(initial, {}, right) == 0
    assert progress(initial, right, right) < 1
