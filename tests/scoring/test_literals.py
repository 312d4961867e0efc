"""Literals: what an answer may hold, and what is no answer."""

import contextlib
import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.scoring.literals import LiteralError, read_literal

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False, places=30),
    st.dates(),
    st.datetimes().map(lambda moment: moment.replace(fold=0)),
    st.timedeltas(),
)


@given(st.lists(st.tuples(VALUES, VALUES)))
def test_whatever_an_observation_holds_is_read_back(rows):
    assert read_literal(str(rows)) == rows


@given(st.lists(st.tuples(VALUES, VALUES)), st.text())
def test_what_comes_after_the_literal_is_ignored(rows, text):
    assert read_literal(f"{rows}\n{text}") == rows


@given(st.text())
def test_any_text_is_a_literal_or_refused(text):
    with contextlib.suppress(LiteralError):
        assert isinstance(repr(read_literal(text)), str)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ("()", ()),
        ("(1)", 1),
        ("(1,)", (1,)),
        ("[(1, 'a'),]", [(1, "a")]),
        ("[(1,\n  'a'\n)]", [(1, "a")]),
        ("[(NULL, null, None, TRUE)]", [(None, None, None, True)]),
        ("Decimal('1.50')", Decimal("1.50")),
        ("decimal.Decimal(2)", Decimal(2)),
        ("datetime.date(2020, 2, 29)", datetime.date(2020, 2, 29)),
        ("date(2020, 2, 29)", datetime.date(2020, 2, 29)),
        ("2020-02-29", datetime.date(2020, 2, 29)),
        ("2020-02-29 12:30:00", datetime.datetime(2020, 2, 29, 12, 30)),
        ("2020-00-00", "2020-00-00"),
        ("datetime.timedelta(seconds=5)", datetime.timedelta(seconds=5)),
        ("datetime.timedelta(days=-1, seconds=5)", datetime.timedelta(days=-1, seconds=5)),
        ('"it\'s"', "it's"),
        ("'it''s'", "it's"),
        ("['', 'a']", ["", "a"]),
        (r"'tab\t\x41\u00e9\N'", "tab\tA\u00e9\\N"),
        ("'a' \"b\"", "ab"),
        (r"b'\xff'", b"\xff"),
        ("-1.5e3", -1500.0),
        ("+7", 7),
        ("**[(1,)]**", [(1,)]),
        ("```python\n[(1,)]\n```", [(1,)]),
        ("The rows are: [(1,)]", [(1,)]),
        ("See (above), so [(1,)] it is", [(1,)]),
        ("7 rows", 7),
        ("(2 rows) [(1,), (2,)]", [(1,), (2,)]),
    ],
)
def test_the_forms_that_agents_write(text, value):
    assert read_literal(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "nothing",
        "[(1,)",
        "[1 2]",
        "so [(1, 'a'), (2",
        "'open",
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "Decimal('sNaN')",
        "datetime.date(2020, 13, 45)",
        "1.2.3",
        "7up",
        "there are 7 rows",
        "{'a': 1}",
        "[" * 200,
    ],
)
def test_what_is_no_literal_is_refused(text):
    with pytest.raises(LiteralError):
        read_literal(text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["[", "(", "[1,", "('", "Decimal(", "[(", "b'", "''", "'a' "])
def test_hostile_answers_are_read_in_time(piece):
    with contextlib.suppress(LiteralError):
        assert read_literal(piece * 100_000) is not None
