"""The order of values: by type, exact, the same everywhere."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.backends.graph import Deadline
from lifelong_gym.backends.graph.terms import XSD, Literal, typed
from lifelong_gym.backends.graph.values import DATE, NUMBER, TEXT, extreme, order_key

SOON = Deadline(86_400)


def literal(text, datatype):
    return Literal(text, XSD + datatype)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("tall", "integer"),
        ("1.5", "integer"),
        ("1e3", "decimal"),
        ("١٢", "integer"),
        ("", "double"),
        ("NaN", "double"),
        ("2001-02-29", "date"),
        ("2001-13-01", "date"),
        ("2001-00-01", "date"),
        ("2001-01-01T25:00:00", "dateTime"),
        ("2001-01-01T24:00:01", "dateTime"),
        ("yes", "gYear"),
        ("--02-29", "gMonthDay"),
        ("12:00:00", "time"),
        ("true", "boolean"),
        ("9" * 5000, "integer"),
    ],
)
def test_what_is_ill_typed_or_has_no_order_takes_no_part(text, datatype):
    assert order_key(literal(text, datatype)) is None


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (literal("9", "integer"), literal("10", "integer")),
        (literal("9007199254740992", "integer"), literal("9007199254740992.5", "decimal")),
        (literal("-INF", "double"), literal("-1e308", "double")),
        (literal("1e308", "double"), literal("INF", "float")),
        (literal("2001", "gYear"), literal("2001-01-02", "date")),
        (literal("2001-02", "gYearMonth"), literal("2001-02-01T00:00:01", "dateTime")),
        (literal("-0044-03-15", "date"), literal("0001", "gYear")),
        (literal("2001-01-01T00:00:00+02:00", "dateTime"), literal("2001", "gYear")),
        (Literal("Zoe"), Literal("abc")),
    ],
    ids=str,
)
def test_values_of_one_kind_are_in_order(smaller, larger):
    (kind, less), (same_kind, more) = order_key(smaller), order_key(larger)

    assert kind == same_kind
    assert less < more


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (literal("10", "integer"), literal("1.0E1", "double")),
        (literal("0.1", "float"), literal("0.10", "float")),
        (literal("2001", "gYear"), literal("2001-01-01", "date")),
        (literal("2001-01", "gYearMonth"), literal("2000-12-31T24:00:00Z", "dateTime")),
    ],
    ids=str,
)
def test_values_that_mean_the_same_are_equal(one, other):
    assert order_key(one) == order_key(other)


@given(st.dates(), st.dates())
def test_dates_are_in_the_order_of_the_calendar(one, other):
    first, second = (order_key(literal(d.isoformat(), "date"))[1] for d in (one, other))

    assert first - second == (one - other).days * 86_400


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_instants_are_seconds_since_1970(moment):
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    microseconds = (moment - epoch) // datetime.timedelta(microseconds=1)

    assert order_key(literal(moment.isoformat(), "dateTime"))[1] * 1_000_000 == microseconds


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers()), min_size=1))
def test_the_extreme_is_every_holder_of_the_largest_number(pairs):
    largest = max(number for _, number in pairs)
    found = extreme(
        ((name, literal(str(number), "integer")) for name, number in pairs),
        largest=True,
        deadline=SOON,
    )

    assert found == {name for name, number in pairs if number == largest}


@pytest.mark.parametrize(
    ("text", "kind"),
    [("12", NUMBER), ("-1.5", NUMBER), ("1e5", NUMBER), ("1969-07-20", DATE), ("1969-07", DATE),
     ("2001-01-01T10:00:00Z", DATE), ("1e", TEXT), ("12 km", TEXT), ("", TEXT)],
)  # fmt: skip
def test_a_value_of_a_tsv_file_is_typed_by_how_it_parses(text, kind):
    assert order_key(typed(text))[0] == kind
