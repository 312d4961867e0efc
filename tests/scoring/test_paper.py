"""The paper's rules, weaknesses included: published numbers rest on them."""

import hashlib

import pytest

from lifelong_gym.scoring.paper import grade_paper_rows, grade_paper_state, table_checksum


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[('a', 1), ('b', 2)]", [("a", 1), ("b", 2)]),
        ("[(\"a\", Decimal('1.50'))]", [("a", 1.5)]),
        ("(a, 1.0000001)", [("a", 1)]),
        ("a, '-55'", [("a", -55)]),
        ("7", [(7,)]),
        ("[('o'clock',)]", [("o'clock",)]),
        ("[]", []),
        ("There are no rows.", []),
        ("[(Decimal('1'), 'x')]", [(1, "x")]),
    ],
)
def test_what_the_paper_accepts(answer, expected):
    assert grade_paper_rows(answer, expected).success


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[('b', 2), ('a', 1)]", [("a", 1), ("b", 2)]),
        ("[('a,b', 1)]", [("a,b", 1)]),
        ("[('a (b)', 1)]", [("a (b)", 1)]),
        ("[('a', 1)", [("a", 1), ("b", 2)]),
        ("[('a', 'one')]", [("a", 1)]),
        ("[('a',)]", [("a", 1)]),
        ("[(None,)]", [(None,)]),
        ("(a, 1", [("a", 1)]),
        ("", [("a", 1)]),
    ],
)
def test_what_the_paper_refuses(answer, expected):
    assert not grade_paper_rows(answer, expected).success


def test_the_checksum_is_cut_after_1024_bytes():
    hashes = sorted(hashlib.md5(str(n).encode()).hexdigest()[:5] for n in range(300))
    joined = ",".join(hashes)[:1024]

    assert table_checksum(str(n) for n in range(300)) == hashlib.md5(joined.encode()).hexdigest()


def test_an_empty_table_is_none():
    assert table_checksum([]) == "None"


def test_a_table_that_is_gone_is_not_right():
    grading = grade_paper_state(None, "None")

    assert not grading.success
    assert grading.reason == "the table is gone"
