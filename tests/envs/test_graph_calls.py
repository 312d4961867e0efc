"""Reading calls: names of every kind, and what is no name."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.envs.graph_calls import read_call, variable_number

names = st.text(min_size=1, max_size=40).map(str.strip).filter(bool)


@given(names)
def test_any_name_is_read_back(name):
    assert read_call(f"get_relations({name})", {name: "m.1"}).arguments == (name,)
    assert read_call(f"get_neighbors( {name} ,\n r.to )", {name: "m.1"}).arguments == (name, "r.to")


@given(names)
def test_a_name_is_read_as_the_question_s_list_shows_it(name):
    assert read_call(f"get_relations({name!r})", {name: "m.1"}).arguments == (name,)


@given(st.text(max_size=60))
def test_any_arguments_are_read_without_a_crash(text):
    call = read_call(f"f({text}", {"a, b": "m.1", "c)": "m.2"})

    assert call.name == "f"
    assert len(str(call)) < 20_000


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("f(#0)", ("#0",)),
        ("f(#0,#1)", ("#0", "#1")),
        ("f( #0 ,  r.to )", ("#0", "r.to")),
        ("f(\"#0\", 'r.to')", ("#0", "r.to")),
        ("f(some (thing), x)", ("some (thing)", "x")),
        ("f()", ()),
        ("f( )", ()),
        ("f(,)", ("", "")),
        ("f(x) and g(y)", ("x",)),
        ("**f(x)**", ("x",)),
    ],
)
def test_arguments_end_at_commas_and_the_parenthesis_that_closes(text, arguments):
    assert read_call(text, {}).arguments == arguments


def test_the_longest_name_wins():
    known = {"Tea": "m.1", "Tea, Toast": "m.2", "Tea, Toast (and Rain)": "m.3"}

    for name in known:
        assert read_call(f"f({name})", known).arguments == (name,)


def test_a_name_that_only_begins_like_the_argument_is_not_meant():
    assert read_call("f(Teapot)", {"Tea": "m.1"}).arguments == ("Teapot",)


@pytest.mark.parametrize(
    ("text", "number"),
    [("#0", 0), (" #12 ", 12), ("# 3", 3), ("Variable #4", 4), ("var #5", 5), ("VAR#6", 6),
     ("#-1", None), ("#\uff10", None), ("#", None), ("0", None), ("C#", None), ("#1.5", None),
     ("#" + "9" * 50, None)],
)  # fmt: skip
def test_a_variable_is_a_number_sign_and_digits(text, number):
    assert variable_number(text) == number


def test_a_hostile_call_costs_nothing():
    known = {"a" * length: f"m.{length}" for length in range(1, 50)}
    started = time.perf_counter()
    read_call("f(" + "(" * 1_000_000, known)
    read_call("f(" + "a," * 1_000_000, known)

    assert time.perf_counter() - started < 1
