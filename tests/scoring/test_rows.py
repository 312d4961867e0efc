"""Strict comparison of rows."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.scoring.literals import LiteralError
from lifelong_gym.scoring.rows import (
    difference,
    equal_values,
    grade_rows,
    grade_values,
    read_rows,
    time_text,
)

TEXTS = st.text(max_size=5)
CELLS = st.one_of(st.none(), st.integers(), TEXTS, st.decimals(allow_nan=False, places=2))
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=8)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (5, 5.0),
        (5, "5"),
        ("5.0", 5),
        (Decimal("1.50"), 1.5),
        ("1.5", Decimal("1.50")),
        (True, 1),
        (None, None),
        (0.1 + 0.2, 0.3),
        (0.1 + 0.2, Decimal("0.3")),
        (datetime.date(2020, 2, 29), "2020-02-29"),
        (datetime.datetime(2020, 2, 29, 1, 2, 3), "2020-02-29 01:02:03"),
        (datetime.timedelta(hours=100), "100:00:00"),
        (b"abc", "abc"),
        (b"\xff\x00", "0xff00"),
        (5.5e-17, 0),
        (10**30, Decimal(10) ** 30),
        ("1e3", 1000),
        ("", ""),
    ],
)
def test_values_that_are_equal(left, right):
    assert equal_values(left, right)
    assert equal_values(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (None, "None"),
        (None, "NULL"),
        (None, ""),
        (None, 0),
        ("a", "A"),
        ("a", "a "),
        ("007", "7"),
        (5, "five"),
        (5, "5 apples"),
        (2**53, 2**53 + 1),
        (Decimal("83.3333"), 83.33),
        (1, 1.0001),
        (0, ""),
        (b"\xff", "\xff"),
        (1, "1_"),
        (1, " 1 "),
        (11, "1_1"),
        (1, "١"),
        (float("inf"), "inf"),
    ],
)
def test_values_that_differ(left, right):
    assert not equal_values(left, right)
    assert not equal_values(right, left)


def test_a_shifted_null_is_seen():
    assert difference([(None, "a")], [("a", None)]) == ([(None, "a")], [("a", None)])


def test_a_comma_in_a_value_is_not_a_border():
    assert difference([("a,b", "c")], [("a", "b,c")]) != ([], [])


@given(ROWS, st.randoms())
def test_the_same_rows_in_any_order_do_not_differ(rows, random):
    shuffled = random.sample(rows, len(rows))

    assert difference(rows, shuffled) == ([], [])


@given(ROWS, st.tuples(CELLS, CELLS))
def test_one_row_more_is_the_whole_difference(rows, row):
    missing, unexpected = difference([*rows, row], rows)

    assert len(missing) == 1
    assert unexpected == []


def test_many_numbers_written_as_text_are_paired_quickly():
    rows = [(number, str(number)) for number in range(20_000)]

    assert difference(rows, [(str(a), int(b)) for a, b in reversed(rows)]) == ([], [])


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        ("[]", []),
        ("[(1, 2), (3, 4)]", [(1, 2), (3, 4)]),
        ("[[1, 2], [3, 4]]", [(1, 2), (3, 4)]),
        ("((1, 2), (3, 4))", [(1, 2), (3, 4)]),
        ("(1, 2)", [(1, 2)]),
        ("[1, 2]", [(1,), (2,)]),
        ("7", [(7,)]),
        ("None", [(None,)]),
    ],
)
def test_the_forms_of_rows(answer, rows):
    assert read_rows(answer) == rows


def test_rows_within_rows_are_refused():
    with pytest.raises(LiteralError, match="a row holds a list"):
        read_rows("[(1, (2, 3))]")


EXPECTED = [("a", 1), ("b", 2), ("c", 2)]


def test_right_rows_in_another_order_pass_where_order_is_free():
    assert grade_rows("[('c', 2), ('b', 2), ('a', 1)]", EXPECTED).success


def test_right_rows_in_another_order_fail_where_order_counts():
    grading = grade_rows("[('c', 2), ('a', 1), ('b', 2)]", EXPECTED, ties=[1, 2, 2])

    assert not grading.success
    assert "not in the order" in grading.reason
    assert 0 < grading.score < 1


def test_rows_that_tie_may_change_places():
    assert grade_rows("[('a', 1), ('c', 2), ('b', 2)]", EXPECTED, ties=[1, 2, 2]).success


def test_a_difference_is_explained():
    grading = grade_rows("[('a', 1), ('b', 2), ('x', 9)]", EXPECTED)

    assert not grading.success
    assert grading.details["missing"] == "[('c', 2)]"
    assert grading.details["unexpected"] == "[('x', 9)]"
    assert grading.score == pytest.approx(2 / 3)


def test_prose_is_never_right_where_no_row_is_expected():
    assert grade_rows("[]", []).success
    assert not grade_rows("There are no such rows.", []).success


def test_a_duplicated_row_is_not_right():
    assert not grade_rows("[('a', 1), ('a', 1)]", [("a", 1)]).success


def test_values_may_stand_in_any_rows():
    assert grade_values("[('x', 'y')]", [("y",), ("x",)]).success
    assert grade_values("['x', 'y']", [("y",), ("x",)]).success
    assert not grade_values("['x']", [("y",), ("x",)]).success


def test_times_are_shown_as_mysql_shows_them():
    assert time_text(datetime.timedelta(hours=-1, minutes=-2)) == "-01:02:00"
    assert time_text(datetime.timedelta(seconds=1, microseconds=500_000)) == "00:00:01.500000"
