"""The documentation's table of what still differs from MySQL 8, made by asking the servers.

`LIFELONG_GYM_WRITE_TABLE=1 pytest tests/backends/database/test_engine_table.py` writes it.
"""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from lifelong_gym.backends.database import Column, QueryError, Table, open_database
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

PAGE = Path(__file__).parents[3] / "docs" / "database-backends.md"
START, END = "<!-- engines: start -->\n", "<!-- engines: end -->"
ENGINES = {"docker": "MySQL 9.7", "local": "MariaDB 10.11", "seekdb": "seekdb 1.4"}
SAME = "as MySQL 8"

FRUIT = Table(
    name="fruit",
    columns=(
        Column(name="id", type="INT PRIMARY KEY"),
        Column(name="name", type="VARCHAR(20)"),
        Column(name="price", type="INT"),
    ),
    rows=((1, "plum", 4), (2, "fig", 4), (3, "kiwi", 6), (4, "fig", None)),
)


class Probe(NamedTuple):
    """A question, the statements that ask it, and what MySQL 8 answers to the last of them."""

    about: str
    statements: tuple[str, ...]
    mysql: str


def probe(about, *statements, is_=None, error=None, says=None):
    answer = f"error {error}" if error else says if says else repr(list(is_))
    return Probe(about, statements, answer)


PROBES = [
    # Grouping and order
    probe(
        "groups come as they first appear",
        "SELECT name, COUNT(*) FROM fruit GROUP BY name",
        is_=[("plum", 1), ("fig", 2), ("kiwi", 1)],
    ),
    probe(
        "the same in a derived table",
        "SELECT * FROM (SELECT name, COUNT(*) FROM fruit GROUP BY name) g",
        is_=[("plum", 1), ("fig", 2), ("kiwi", 1)],
    ),
    probe("a bare column beside an aggregate", "SELECT id, COUNT(*) FROM fruit", error=1140),
    probe("a column that is not grouped", "SELECT name, id FROM fruit GROUP BY name", error=1055),
    probe(
        "a column that depends on the grouped key",
        "SELECT id, name FROM fruit GROUP BY id ORDER BY id LIMIT 1",
        is_=[(1, "plum")],
    ),
    probe(
        "`ANY_VALUE`",
        "SELECT name, ANY_VALUE(price) FROM fruit WHERE id = 1 GROUP BY name",
        is_=[("plum", 4)],
    ),
    probe(
        "an alias in `HAVING` without groups",
        "SELECT price * 2 AS p FROM fruit HAVING p > 8",
        is_=[(12,)],
    ),
    probe("an alias in `WHERE`", "SELECT price AS p FROM fruit WHERE p > 4", error=1054),
    probe("NULL sorts first", "SELECT id FROM fruit ORDER BY price, id LIMIT 1", is_=[(4,)]),
    probe(
        "`GROUPING`",
        "SELECT name, GROUPING(name) FROM fruit WHERE id = 1 GROUP BY name WITH ROLLUP",
        is_=[("plum", 0), (None, 1)],
    ),
    probe(
        "`GROUP_CONCAT` stops at 1,024 bytes",
        "SELECT LENGTH(GROUP_CONCAT(REPEAT(name, 200))) FROM fruit",
        is_=[(1024,)],
    ),
    # Comparing texts
    probe("case and accents do not count", "SELECT 'a' = 'A', 'e' = 'é'", is_=[(1, 1)]),
    probe("blanks at the end count", "SELECT 'a' = 'a '", is_=[(0,)]),
    probe("`ß` equals `ss`", "SELECT 'ß' = 'ss'", is_=[(1,)]),
    probe("emoji differ", "SELECT '😀' = '😁'", is_=[(0,)]),
    probe("`LIKE` ignores case", "SELECT COUNT(*) FROM fruit WHERE name LIKE 'F%'", is_=[(2,)]),
    probe("a table's name has its case", "SELECT 1 FROM FRUIT LIMIT 1", error=1146),
    # Numbers, types
    probe("a text is read as a number", "SELECT '3 figs' + 4", is_=[(7.0,)]),
    probe("division by zero in a SELECT", "SELECT 1 / 0", is_=[(None,)]),
    probe("division by zero in an UPDATE", "UPDATE fruit SET price = 1 / 0", error=1365),
    probe("`BIGINT` overflow", "SELECT 9223372036854775807 + 1", error=1690),
    probe("a value out of range", "UPDATE fruit SET price = 3000000000", error=1264),
    probe("a text that is too long", "UPDATE fruit SET name = REPEAT('x', 21)", error=1406),
    probe("an impossible date", "SELECT CAST('2024-02-30' AS DATE)", is_=[(None,)]),
    probe("`CAST(... AS INT)`", "SELECT CAST('1' AS INT)", error=1064),
    probe("`||` is OR", "SELECT 1 || 0", is_=[(1,)]),
    probe(
        "how an `INT` column is described",
        "SELECT column_type FROM information_schema.columns "
        "WHERE table_schema = 'task_database' AND column_name = 'price'",
        is_=[("int",)],
    ),
    probe(
        "how a `JSON` column is described",
        "CREATE TABLE j (a JSON)",
        "SELECT data_type FROM information_schema.columns "
        "WHERE table_schema = 'task_database' AND table_name = 'j'",
        is_=[("json",)],
    ),
    probe(
        "`->>` reads JSON",
        "CREATE TABLE j (a JSON)",
        'INSERT INTO j VALUES (\'{"b": "c"}\')',
        "SELECT a->>'$.b' FROM j",
        is_=[("c",)],
    ),
    # Queries
    probe(
        "`LIMIT` in a subquery of `IN`",
        "SELECT id FROM fruit WHERE id IN (SELECT id FROM fruit LIMIT 1)",
        error=1235,
    ),
    probe(
        "`FULL OUTER JOIN`",
        "SELECT COUNT(*) FROM fruit a FULL OUTER JOIN fruit b ON a.id = b.id",
        error=1064,
    ),
    probe(
        "`LATERAL`",
        "SELECT COUNT(*) FROM fruit a, LATERAL (SELECT a.price AS p) b",
        is_=[(4,)],
    ),
    probe("`TABLE t`", "TABLE fruit LIMIT 1", is_=[(1, "plum", 4)]),
    probe("`VALUES ROW(...)`", "VALUES ROW(1), ROW(2)", is_=[(1,), (2,)]),
    probe("`FETCH FIRST`", "SELECT id FROM fruit FETCH FIRST 1 ROWS ONLY", error=1064),
    probe("`INTERSECT`", "SELECT 1 INTERSECT SELECT 1", is_=[(1,)]),
    probe("`REGEXP`", "SELECT 'fig' REGEXP '^f.g$'", is_=[(1,)]),
    probe("`REGEXP_LIKE`", "SELECT REGEXP_LIKE('fig', '^f')", is_=[(1,)]),
    probe(
        "a window",
        "SELECT id, RANK() OVER (ORDER BY price) FROM fruit ORDER BY id LIMIT 2",
        is_=[(1, 2), (2, 2)],
    ),
    probe(
        "a recursion without end",
        "WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x + 1 FROM r) SELECT MAX(x) FROM r",
        error=3636,
    ),
    probe("`rank` is reserved", "SELECT 1 AS rank", error=1064),
    probe("`groups` is reserved", "CREATE TABLE groups (a INT)", error=1064),
    # Changes
    probe(
        "a DELETE that reads its own table",
        "DELETE FROM fruit WHERE price < (SELECT AVG(price) FROM fruit)",
        error=1093,
    ),
    probe(
        "the same through a derived table",
        "DELETE FROM fruit WHERE id IN (SELECT id FROM (SELECT id FROM fruit WHERE id < 4) x)",
        "SELECT COUNT(*) FROM fruit",
        is_=[(1,)],
    ),
    probe(
        "`DELETE FROM t AS a`",
        "DELETE FROM fruit AS f WHERE f.id > 1",
        "SELECT COUNT(*) FROM fruit",
        is_=[(1,)],
    ),
    probe(
        "`DELETE FROM t AS a ... LIMIT`",
        "DELETE FROM fruit AS f WHERE f.id > 1 LIMIT 1",
        "SELECT COUNT(*) FROM fruit",
        is_=[(3,)],
    ),
    probe(
        "`UPDATE ... ORDER BY ... LIMIT`",
        "UPDATE fruit SET price = 0 ORDER BY id DESC LIMIT 1",
        "SELECT id FROM fruit WHERE price = 0",
        is_=[(4,)],
    ),
    probe(
        "`INSERT ... AS new ON DUPLICATE KEY UPDATE`",
        "INSERT INTO fruit VALUES (1, 'pear', 9) AS n ON DUPLICATE KEY UPDATE price = n.price",
        "SELECT price FROM fruit WHERE id = 1",
        is_=[(9,)],
    ),
    probe("`INSERT ... RETURNING`", "INSERT INTO fruit (id) VALUES (9) RETURNING id", error=1064),
    probe("a duplicate key", "INSERT INTO fruit (id) VALUES (1)", error=1062),
    probe(
        "a violated `CHECK`",
        "CREATE TABLE c (a INT CHECK (a > 0))",
        "INSERT INTO c VALUES (0)",
        error=3819,
    ),
    probe(
        "temporary tables",
        "CREATE TEMPORARY TABLE x (a INT)",
        "SELECT COUNT(*) FROM x",
        is_=[(0,)],
    ),
    probe("procedures", "CREATE PROCEDURE p() SELECT 5", "CALL p()", is_=[(5,)]),
    probe(
        "triggers",
        "CREATE TRIGGER r BEFORE INSERT ON fruit FOR EACH ROW SET NEW.price = 7",
        "INSERT INTO fruit (id) VALUES (9)",
        "SELECT price FROM fruit WHERE id = 9",
        is_=[(7,)],
    ),
    # What servers say
    probe(
        "an unknown column",
        "SELECT nope FROM fruit",
        says="Unknown column 'nope' in 'field list'",
    ),
    probe(
        "a duplicate key, in words",
        "INSERT INTO fruit (id) VALUES (1)",
        says="Duplicate entry '1' for key 'fruit.PRIMARY'",
    ),
    probe(
        "a function that does not exist",
        "SELECT nope()",
        says="FUNCTION task_database.nope does not exist",
    ),
    probe("who the agent is", "SELECT CURRENT_USER()", is_=[("agent@localhost",)]),
    # Reproducibility
    probe("`NOW()` stands still", "SELECT CAST(NOW() AS CHAR)", is_=[("2025-01-01 00:00:00",)]),
    probe("`RAND()` repeats", "SELECT ROUND(RAND(), 4)", is_=[(0.0858,)]),
]


def answer(workspace, probe):
    """What a server says to the last statement, in the form of the table."""
    rows = ()
    for statement in probe.statements:
        try:
            rows = workspace.execute(statement).rows
        except QueryError as error:
            known = probe.mysql.startswith(("error", "["))
            return f"error {error.code}" if known else error.message
    return repr(list(rows))


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    """A server that the table has a column for."""
    opened = open_database(request.param)
    try:
        version = opened.version
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    if not version.startswith((ENGINES[request.param], "MySQL")):
        opened.close()
        pytest.skip(f"the table is about {ENGINES[request.param]}, this is {version}")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def answers(engine):
    found = {}
    for probe in PROBES:
        workspace = engine.create([FRUIT])
        given = answer(workspace, probe)
        workspace.close()
        is_random = "RAND" in probe.about and given != probe.mysql
        found[probe.about] = "differs every time" if is_random else given
    return found


def as_table(found_by_engine):
    """The rows of the page: the probes that at least one server answers otherwise."""
    lines = [
        f"| | MySQL 8 | {' | '.join(ENGINES.values())} |",
        f"|---|---|{'---|' * len(ENGINES)}",
    ]
    for probe in PROBES:
        cells = [found_by_engine[engine][probe.about] for engine in ENGINES]
        if any(cell != probe.mysql for cell in cells):
            shown = [SAME if cell == probe.mysql else f"`{cell}`" for cell in cells]
            lines.append(" | ".join(["| " + probe.about, f"`{probe.mysql}`", *shown]) + " |")
    return "\n".join(lines).replace("`||`", "`\\|\\|`") + "\n"


def written():
    """The table on the page: a probe's answer by each server, for the probes it lists."""
    text = PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {row[0]: dict(zip(("mysql", *ENGINES), row[1:], strict=True)) for row in rows}


@pytest.mark.skipif("LIFELONG_GYM_WRITE_TABLE" in os.environ, reason="the table is being written")
def test_the_page_says_what_this_server_does(engine, answers):
    page = written()
    column = "docker" if engine.version.startswith("MySQL") else engine.name
    for probe in PROBES:
        row = page.get(probe.about.replace("||", "\\|\\|"), {})
        cell = answers[probe.about]
        expected = SAME if cell == probe.mysql else f"`{cell}`"
        assert row.get(column, SAME) == expected, probe.about
        assert row.get("mysql", f"`{probe.mysql}`") == f"`{probe.mysql}`"


@pytest.mark.skipif("LIFELONG_GYM_WRITE_TABLE" not in os.environ, reason="only on demand")
def test_the_table_is_written(runtime):
    found = {}
    for name in ENGINES:
        opened = open_database(name)
        found[name] = answers.__wrapped__(opened)
        opened.close()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + START + as_table(found) + END + after, encoding="utf-8")
