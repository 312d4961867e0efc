"""Any text goes in and comes out as it is."""

import datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifelong_gym.backends.database import AGENT_SCHEMA, Column, QueryError, Table
from lifelong_gym.backends.database.names import literal

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SETTINGS = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def table(kind, *values):
    columns = (Column(name="a", type=kind),)
    return Table(name="t", columns=columns, rows=tuple((value,) for value in values))


@given(texts=st.lists(TEXT, min_size=1, max_size=20))
@settings(SETTINGS, max_examples=15)
def test_texts_of_rows_survive(database, texts):
    workspace = database.create([table("TEXT", *texts)])
    rows = workspace.execute("SELECT a FROM t").rows
    state = workspace.snapshot()["t"].rows
    workspace.close()

    assert sorted(rows) == sorted(state) == sorted((text,) for text in texts)


@given(text=TEXT)
@SETTINGS
def test_texts_of_statements_survive(workspace, text):
    assert workspace.execute(f"SELECT {literal(text)}").rows == ((text,),)


@given(text=TEXT)
@SETTINGS
def test_any_text_may_be_sent(workspace, text):
    said = ""
    try:
        workspace.execute(text)
    except QueryError as error:
        said = error.message

    assert "lifelonggym" not in said


@given(text=TEXT.filter(lambda text: "\0" not in text))
@SETTINGS
def test_texts_of_errors_survive(workspace, text):
    with pytest.raises(QueryError) as caught:
        workspace.execute(f"SELECT * FROM {AGENT_SCHEMA}.`x{text[:10].replace('`', '').strip()}`")

    assert "lifelonggym" not in caught.value.message


@given(value=st.integers(-(2**63), 2**63 - 1))
@SETTINGS
def test_integers_survive(workspace, value):
    assert workspace.execute(f"SELECT {literal(value)}").rows == ((value,),)


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(SETTINGS, max_examples=10)
def test_floats_survive(database, values):
    # A DOUBLE knows neither -0.0 nor, on every server, the numbers next to zero.
    values = [value if abs(value) > 1e-300 else 0.0 for value in values]
    workspace = database.create([table("DOUBLE", *values)])
    state = workspace.snapshot()["t"].rows
    workspace.close()

    assert sorted(state) == sorted((value,) for value in values)


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        ("DECIMAL(10,2)", "3.10", Decimal("3.10")),
        ("DECIMAL(10,2)", 3.1, Decimal("3.10")),
        ("DATE", "2024-02-29", datetime.date(2024, 2, 29)),
        ("DATETIME", "2024-02-29 01:02:03", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("TIMESTAMP", "2024-02-29 01:02:03", datetime.datetime(2024, 2, 29, 1, 2, 3)),
        ("TIME", "-25:00:01", datetime.timedelta(hours=-25, seconds=-1)),
        ("YEAR", 2024, 2024),
        ("VARBINARY(9)", "ab", b"ab"),
        ("ENUM('x','y')", "y", "y"),
        ("SET('x','y')", "x,y", "x,y"),
        ("TINYINT(1)", True, 1),
        ("BIGINT UNSIGNED", 2**64 - 1, 2**64 - 1),
        ("CHAR(3)", "abc", "abc"),
        ("INT", "12", 12),
        ("TEXT", 12, "12"),
        ("TEXT", True, "1"),
        ("JSON", '{"a": 1}', '{"a": 1}'),
    ],
)
def test_values_of_every_type_are_loaded(database, kind, value, read):
    workspace = database.create([table(kind, value, None)])
    state = workspace.snapshot()["t"].rows
    workspace.close()

    assert sorted(state, key=repr) == sorted([(read,), (None,)], key=repr)
