"""`ranked`: the same rows, and a last column by which they tie."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifelong_gym.backends.database import Column, Table
from lifelong_gym.backends.database.sql import ranked

MARKS = Table(
    name="marks",
    columns=(
        Column(name="who", type="TEXT"),
        Column(name="mark", type="INT"),
        Column(name="day", type="DATE"),
    ),
    rows=(
        ("ada", 1, "2024-01-01"),
        ("Ada", 2, "2024-01-01"),
        ("Bob", 2, None),
        ("Éva", 3, "2024-01-02"),
        ("eva", None, "2024-01-03"),
    ),
)

SOUND = [
    "SELECT who FROM marks ORDER BY who",
    "SELECT who AS w, mark FROM marks ORDER BY w DESC, 2",
    "SELECT * FROM marks ORDER BY mark DESC",
    "SELECT marks.* FROM marks ORDER BY marks.day, marks.mark",
    "SELECT DISTINCT mark FROM marks ORDER BY mark",
    "SELECT mark, COUNT(*) AS n FROM marks GROUP BY mark HAVING n > 0 ORDER BY n DESC, mark",
    "SELECT mark + 1 FROM marks ORDER BY mark * -1",
    "SELECT who FROM marks ORDER BY LENGTH(who), who LIMIT 3",
    "SELECT who FROM marks ORDER BY who LIMIT 1, 3;",
    "SELECT who FROM marks WHERE who REGEXP 'a' ORDER BY mark -- the end",
    "SELECT who FROM marks UNION SELECT day FROM marks ORDER BY who",
    "(SELECT who FROM marks ORDER BY who LIMIT 4)",
    "(SELECT who, mark FROM marks) ORDER BY 2 DESC LIMIT 2",
    "WITH c AS (SELECT who, mark FROM marks) SELECT who FROM c ORDER BY mark",
    "SELECT who, RANK() OVER (ORDER BY mark) AS r FROM marks ORDER BY r, who",
    "SELECT CASE WHEN mark > 1 THEN 'high' ELSE 'low' END AS k FROM marks ORDER BY k",
    "SELECT a.who FROM marks a JOIN marks b ON a.mark = b.mark ORDER BY b.who",
]


@pytest.fixture(scope="module")
def marks(database):
    made = database.create([MARKS])
    yield made
    made.close()


@pytest.mark.parametrize("sql", SOUND)
def test_the_rows_are_the_same_and_ranks_rise(marks, sql):
    rows = marks.execute(ranked(sql)).rows
    ranks = [row[-1] for row in rows]

    assert sorted(map(repr, (row[:-1] for row in rows))) == sorted(
        map(repr, marks.execute(sql).rows)
    )
    assert ranks == sorted(ranks)


def test_texts_that_the_collation_holds_equal_tie(marks):
    rows = marks.execute(ranked("SELECT who FROM marks ORDER BY who")).rows

    assert [rank for _, rank in rows] == [1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT who FROM marks",
        "SELECT who FROM (SELECT who FROM marks ORDER BY who) x",
        "SELECT who FROM marks ORDER BY RAND()",
        "SELECT mark, COUNT(*) FROM marks GROUP BY mark WITH ROLLUP ORDER BY mark",
        "SELECT who AS w FROM marks ORDER BY LENGTH(w)",
        "SELECT * FROM marks ORDER BY 1",
        "SELECT DISTINCT who FROM marks ORDER BY mark",
        "SELECT who FROM marks ORDER BY who FOR UPDATE",
        "SELECT who FROM marks ORDER BY who; SELECT 2",
        "SELECT who FROM marks ORDER BY",
        "SELECT who INTO @a FROM marks ORDER BY who LIMIT 1",
        "UPDATE marks SET mark = 1 ORDER BY who",
        "SELECT 'open",
        "",
    ],
)
def test_where_it_would_not_be_sure_there_is_none(sql):
    assert ranked(sql) is None


@given(
    keys=st.lists(
        st.sampled_from(["who", "w", "mark", "2", "day DESC", "marks.who", "mark + 1 DESC"]),
        min_size=1,
    ),
    limit=st.sampled_from(["", " LIMIT 2", " LIMIT 2 OFFSET 1"]),
)
@settings(max_examples=30, deadline=None)
def test_any_keys_keep_the_order(marks, keys, limit):
    sql = f"SELECT who AS w, mark FROM marks ORDER BY {', '.join(keys)}{limit}"
    ranks = [row[-1] for row in marks.execute(ranked(sql)).rows]

    assert ranks == sorted(ranks)
