"""S-expressions: read, written, refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.backends.graph.expressions import (
    And,
    Count,
    Entity,
    ExpressionError,
    Extreme,
    Join,
    parse,
)
from lifelong_gym.backends.graph.sparql import sparql_of

names = st.from_regex(r"[a-z_]{1,8}\.[a-z_]{1,8}", fullmatch=True).filter(
    lambda name: not name.startswith(("m.", "g."))
)
entities = st.from_regex(r"[mg]\.[0-9a-z_]{1,8}", fullmatch=True).map(Entity)
sets = st.recursive(
    entities,
    lambda inner: st.builds(Join, names, inner, st.booleans()) | st.builds(And, inner, inner),
    max_leaves=12,
)
expressions = (
    sets | st.builds(Count, sets) | st.builds(Extreme, sets, names, st.booleans())
)  # fmt: skip


@given(expressions)
def test_what_was_written_is_read_back(expression):
    assert parse(str(expression)) == expression


@given(expressions)
def test_every_expression_is_sparql(expression):
    ox = pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")

    ox.Store().query(sparql_of(expression))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a name, got 'the end'"),
        ("(JOIN (R r.to) m.a", "expected '\\)', got 'the end'"),
        ("(JOIN (R r.to) m.a))", "expected the end .* got '\\)'"),
        ("(JOIN (S r.to) m.a)", "expected \\(R relation\\) or a relation, got 'S'"),
        ("(JOIN () m.a)", "got '\\)'"),
        ("(le v.n 5)", "expected JOIN, AND or, outermost only, .* got 'le'"),
        ("(AND (COUNT m.a) m.b)", "outermost only"),
        ("(ARGMAX m.a (JOIN r.to v.n))", "expected a name, got '\\('"),
        ("(AND " * 200, "at most 100 deep"),
    ],
)
def test_what_is_no_expression_is_refused(text, message):
    with pytest.raises(ExpressionError, match=message):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_refused(text):
    try:
        parse(text)
    except ExpressionError:
        return
