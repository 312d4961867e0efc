"""What is told from the tokens of a statement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_gym.backends.database.contract import QueryError
from lifelong_gym.backends.database.names import literal
from lifelong_gym.backends.database.refusals import (
    refuse_limit_in_subquery,
    refuse_target_in_subquery,
)
from lifelong_gym.backends.database.rewrites import for_mariadb
from lifelong_gym.backends.database.sql import (
    count_statements,
    has_top_level_order_by,
    is_complete,
    ranked,
)

WORDS = ("SELECT", "a", ",", "t", "FROM", "(", ")", "ORDER", "BY", "1", "LIMIT", "UNION")
WORDS += ("DISTINCT", "GROUP", "DELETE", "AS", "'")
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("", 0),
        (" ;; ; ", 0),
        ("-- SELECT 1;", 0),
        ("/* a; b */ # c;", 0),
        ("SELECT 1", 1),
        ("SELECT 1;", 1),
        ("SELECT 1;;\n-- end; of it", 1),
        ("SELECT ';', \";\", `;`", 1),
        ("SELECT 'it''s; so'", 1),
        (r"SELECT 'it\'s; so'", 1),
        ("SELECT 1 -- a; b\n + 2", 1),
        ("SELECT 1 /* ; */ + 2", 1),
        ("SELECT 5--3", 1),
        ("CALL p('a;b')", 1),
        ("SELECT 1; SELECT 2", 2),
        ("SELECT 1;SELECT 2;SELECT 3;", 3),
        ("SELECT '\\\\'; DROP TABLE t", 2),
        ("SELECT 1 -- a\n; SELECT 2", 2),
        ("CALL p('a;b'); SELECT 1", 2),
        ("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)", 2),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", 1),
        ("CREATE DEFINER=`a`@`b` FUNCTION f() RETURNS INT BEGIN RETURN 1; END;", 1),
        ("create or replace trigger r before insert on t for each row begin set @a = 1; end", 1),
        ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO BEGIN DELETE FROM t; END", 1),
        ("SELECT 1; CREATE PROCEDURE p() BEGIN SELECT 1; END", 2),
        ("DROP PROCEDURE p; SELECT 1", 2),
        ("CREATE TABLE `procedure` (a INT); SELECT 1", 2),
        ("SELECT 'open; SELECT 2", 1),
    ],
)
def test_statements_are_counted(sql, count):
    assert count_statements(sql) == count


@given(TEXT)
def test_a_text_in_a_statement_never_counts(text):
    assert count_statements(f"SELECT {literal(text)}") == 1
    assert count_statements(f"SELECT {literal(text)}; SELECT 2;") == 2


@given(TEXT)
def test_any_text_can_be_asked_about(text):
    assert count_statements(text) >= 0
    assert is_complete(text) in {True, False}
    assert has_top_level_order_by(text) in {True, False}
    assert for_mariadb(text) == text or "GROUP" in text.upper() or "DELETE" in text.upper()
    ranked(text)


@given(st.lists(st.sampled_from(WORDS)))
def test_any_heap_of_words_can_be_asked_about(words):
    sql = " ".join(words)
    count_statements(sql)
    has_top_level_order_by(sql)
    for_mariadb(sql)
    ranked(sql)


@pytest.mark.parametrize(
    ("sql", "complete"),
    [
        ("", True),
        ("SELECT 'a'", True),
        ("SELECT 'it''s'", True),
        (r"SELECT 'it\'s'", True),
        ("SELECT x'zz'", True),
        ("SELECT 1 -- it's", True),
        ("SELECT 1 # it's", True),
        ("SELECT /* it's */ 1", True),
        ('SELECT "it\'s"', True),
        ("SELECT `it's`", True),
        ("SELECT 4 / 2 - -1", True),
        ("SELECT 5--'3'", True),
        ("SELECT 'a", False),
        ("SELECT 'a''", False),
        (r"SELECT 'a\'", False),
        ('SELECT "a', False),
        ("SELECT `a", False),
        ("SELECT 1 /* a", False),
        ("SELECT 1 /* a *", False),
    ],
)
def test_an_open_end_is_noticed(sql, complete):
    assert is_complete(sql) is complete


@given(TEXT)
def test_a_literal_is_complete_until_its_last_character(text):
    assert is_complete(literal(text))
    assert not is_complete(literal(text)[:-1])


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n  by a limit 3;", True),
        ("WITH c AS (SELECT 1) SELECT * FROM c ORDER BY 1", True),
        ("(SELECT a FROM t ORDER BY a)", True),
        ("(SELECT a FROM t) ORDER BY a", True),
        ("((SELECT a FROM t ORDER BY a LIMIT 1));", True),
        ("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", True),
        ("SELECT a FROM t GROUP /* x */ BY a ORDER /* y */ BY a", True),
        ("SELECT a FROM t", False),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) x", False),
        ("WITH c AS (SELECT a FROM t ORDER BY a) SELECT * FROM c", False),
        ("SELECT RANK() OVER (ORDER BY a) FROM t", False),
        ("SELECT GROUP_CONCAT(a ORDER BY a) FROM t", False),
        ("(SELECT a FROM t ORDER BY a LIMIT 1) UNION (SELECT 2)", False),
        ("SELECT 'ORDER BY a'", False),
        ("SELECT a FROM t -- ORDER BY a", False),
        ("SELECT `order by` FROM t", False),
        ("", False),
    ],
)
def test_a_top_level_order_is_noticed(sql, ordered):
    assert has_top_level_order_by(sql) is ordered


# What MariaDB gets ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "rewritten"),
    [
        ("SELECT a FROM t GROUP BY a", "SELECT a FROM t GROUP BY a ORDER BY NULL"),
        (
            "select a from t group by a limit 2;",
            "select a from t group by a ORDER BY NULL limit 2;",
        ),
        (
            "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1 -- end",
            "SELECT a FROM t GROUP BY a HAVING COUNT(*) > 1 ORDER BY NULL -- end",
        ),
        (
            "WITH c AS (SELECT 1 a) SELECT a FROM c GROUP BY a FOR UPDATE",
            "WITH c AS (SELECT 1 a) SELECT a FROM c GROUP BY a ORDER BY NULL FOR UPDATE",
        ),
        ("DELETE FROM t AS a WHERE a.id = 1", "DELETE a FROM t AS a WHERE a.id = 1"),
        ("delete from t x where x.id = 1", "delete x from t x where x.id = 1"),
        ("DELETE IGNORE FROM d.t AS `a b`", "DELETE IGNORE `a b` FROM d.t AS `a b`"),
    ],
)
def test_mariadb_gets_what_mysql_means(sql, rewritten):
    assert for_mariadb(sql) == rewritten


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM t GROUP BY a ORDER BY a",
        "SELECT a FROM t GROUP BY a WITH ROLLUP",
        "SELECT a FROM t GROUP BY a UNION SELECT 1",
        "SELECT * FROM (SELECT a FROM t GROUP BY a) x",
        "SELECT 'GROUP BY a'",
        "SELECT a FROM t GROUP BY 'open",
        "INSERT INTO u SELECT a FROM t GROUP BY a",
        "DELETE FROM t WHERE a = 1",
        "DELETE FROM t",
        "DELETE FROM d.t WHERE a = 1;",
        "DELETE FROM t AS a WHERE a.id = 1 LIMIT 1",
        "DELETE a FROM t AS a",
        "DELETE FROM t USING t JOIN u",
        "DELETE FROM t ORDER BY a LIMIT 1",
        "SELECT 'DELETE FROM t AS a'",
    ],
)
def test_mariadb_gets_the_rest_as_it_is(sql):
    assert for_mariadb(sql) == sql


@pytest.mark.parametrize(
    ("refuse", "sql", "refused"),
    [
        (refuse_limit_in_subquery, "SELECT 1 WHERE a IN (SELECT a FROM t LIMIT 2)", True),
        (refuse_limit_in_subquery, "SELECT 1 WHERE a NOT IN (SELECT a FROM t LIMIT 2)", True),
        (refuse_limit_in_subquery, "SELECT 1 WHERE a = ANY (SELECT a FROM t LIMIT 2)", True),
        (refuse_limit_in_subquery, "SELECT 1 WHERE a = (SELECT a FROM t LIMIT 1)", False),
        (refuse_limit_in_subquery, "SELECT 1 WHERE a IN ((SELECT a FROM t LIMIT 1), 2)", False),
        (refuse_limit_in_subquery, "SELECT 1 UNION ALL (SELECT 2 LIMIT 1)", False),
        (
            refuse_limit_in_subquery,
            "SELECT 1 WHERE a IN (SELECT a FROM (SELECT a FROM t LIMIT 2) x)",
            False,
        ),
        (refuse_target_in_subquery, "DELETE FROM t WHERE a < (SELECT AVG(a) FROM t)", True),
        (refuse_target_in_subquery, "UPDATE t SET a = (SELECT MAX(a) FROM t)", True),
        (refuse_target_in_subquery, "UPDATE t SET a = (SELECT MAX(a) FROM u)", False),
        (
            refuse_target_in_subquery,
            "DELETE FROM t WHERE a < (SELECT m FROM (SELECT AVG(a) m FROM t) x)",
            False,
        ),
        (
            refuse_target_in_subquery,
            "UPDATE t JOIN (SELECT MAX(a) m FROM t) x ON t.a = x.m SET a = 0",
            False,
        ),
    ],
)
def test_what_mysql_refuses_is_refused(refuse, sql, refused):
    try:
        refuse(sql)
    except QueryError:
        assert refused
    else:
        assert not refused
