"""What every database does, whichever server stands behind it."""

import pytest

from lifelong_gym.backends.database import (
    AGENT_SCHEMA,
    Column,
    Database,
    QueryError,
    Table,
    Workspace,
)
from lifelong_gym.errors import BackendError

ROWS = {(1, "Ada", 1.5), (2, "Bob", None), (3, None, 2.25)}


def table(*rows, name="t", **types):
    columns = tuple(Column(name=name, type=kind) for name, kind in types.items())
    return Table(name=name, columns=columns, rows=rows)


# Statements -----------------------------------------------------------------------------


def test_a_query_gives_its_rows(workspace):
    result = workspace.execute("SELECT name FROM people WHERE id < 3 ORDER BY id")

    assert result.rows == (("Ada",), ("Bob",))
    assert not result.is_cut


def test_a_change_gives_no_rows_and_stays(workspace):
    assert workspace.execute("UPDATE people SET score = 4 WHERE id = 2").rows == ()
    assert workspace.execute("SELECT score FROM people WHERE id = 2").rows == ((4.0,),)


def test_percent_signs_and_newlines_mean_themselves(workspace):
    statement = "SELECT name -- 100% %s\nFROM people\nWHERE name LIKE '%d%'"

    assert workspace.execute(statement).rows == (("Ada",),)


@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("SELECT * FROM nope", 1146, f"Table '{AGENT_SCHEMA}.nope' doesn't exist"),
        ("SELECT nope FROM people", 1054, "Unknown column 'nope'"),
        ("SELEC 1", 1064, "You have an error in your SQL syntax"),
        ("SELECT (SELECT id FROM people)", 1242, "Subquery returns more than 1 row"),
        ("INSERT INTO people VALUES (1)", 1136, "Column count doesn't match value count"),
        ("INSERT INTO people (id) VALUES ('abc')", 1366, "Incorrect integer value"),
        ("UPDATE people SET id = 3000000000", 1264, "Out of range value for column 'id'"),
        ("CREATE TABLE people (id INT)", 1050, "Table 'people' already exists"),
    ],
)
def test_a_refusal_is_the_servers_own_text(workspace, statement, code, message):
    with pytest.raises(QueryError) as caught:
        workspace.execute(statement)

    assert (caught.value.code, caught.value.message[: len(message)]) == (code, message)


def test_a_refused_statement_leaves_the_session_as_it_was(workspace):
    workspace.execute("SET @kept = 7")
    with pytest.raises(QueryError):
        workspace.execute("SELECT * FROM nope")

    assert workspace.execute("SELECT @kept").rows == ((7,),)


@pytest.mark.parametrize("statement", ["", "-- nothing", ";"])
def test_an_empty_statement_is_refused(workspace, statement):
    with pytest.raises(QueryError):
        workspace.execute(statement)


def test_the_second_of_two_statements_never_runs(workspace):
    with pytest.raises(QueryError, match="DELETE FROM people' at line 1"):
        workspace.execute("SELECT 1; DELETE FROM people")

    assert set(workspace.snapshot()["people"].rows) == ROWS


def test_a_transaction_spans_statements(workspace):
    workspace.execute("START TRANSACTION")
    workspace.execute("DELETE FROM people")
    workspace.execute("ROLLBACK")

    assert workspace.execute("SELECT COUNT(*) FROM people").rows == ((3,),)


# Rows of a task -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "back\\slash",
        'it\'s "quoted" `so`',
        "100% %s %(a)s",
        "line\nbreak\r\ttab",
        "emoji 😀 é 漢",
        "nul \0 end",
        "\x1a",
        "",
        " ",
        "-- no comment",
        "a; b",
        "\\' OR 1=1",
    ],
)
def test_texts_survive_being_loaded(database, text):
    workspace = database.create([table((text,), a="TEXT")])
    try:
        assert workspace.snapshot()["t"].rows == ((text,),)
    finally:
        workspace.close()


def test_values_keep_their_types(database):
    values = (None, True, -5, 2**62, 0.1, 1e300, "2024-02-29")
    kinds = {"a": "INT", "b": "BOOLEAN", "c": "INT", "d": "BIGINT", "e": "DOUBLE", "f": "DOUBLE"}
    workspace = database.create([table(values, **kinds, g="DATE")])
    try:
        row = workspace.execute("SELECT a, b, c, d, e, f, CAST(g AS CHAR) FROM t").rows[0]
        assert row == (None, 1, -5, 2**62, 0.1, 1e300, "2024-02-29")
    finally:
        workspace.close()


@pytest.mark.parametrize("name", ["a`b", "order", "two words", "ünïcode", "100%", "quote'd"])
def test_any_name_does_for_tables_and_columns(database, name):
    workspace = database.create([table((1,), name=name, **{name: "INT"})])
    try:
        quoted = "`" + name.replace("`", "``") + "`"
        assert workspace.execute(f"SELECT {quoted} FROM {quoted}").rows == ((1,),)
        assert workspace.snapshot()[name].columns[0][0] == name
    finally:
        workspace.close()


def test_more_rows_than_a_packet_holds_are_loaded(database):
    rows = tuple((number, "x" * 5000) for number in range(1000))
    workspace = database.create([table(*rows, a="INT", b="TEXT")])
    try:
        assert workspace.execute("SELECT COUNT(*), MAX(a) FROM t").rows == ((1000, 999),)
    finally:
        workspace.close()


@pytest.mark.parametrize(
    "wrong",
    [
        table(("text",), name="wrong", a="INT"),
        table(name="wrong", a="NO SUCH TYPE"),
        table(name="wrong", a="INT); DROP TABLE t; --"),
    ],
    ids=["row", "type", "injection"],
)
def test_a_table_that_the_server_refuses_is_named(database, wrong):
    with pytest.raises(BackendError, match="'wrong'"):
        database.create([table(a="INT"), wrong])


def test_a_database_outlives_a_refused_table(database):
    with pytest.raises(BackendError):
        database.create([table(a="NO SUCH TYPE")])

    database.create([table(a="INT")]).close()


# Snapshots ------------------------------------------------------------------------------


def test_a_snapshot_holds_columns_and_rows(workspace):
    state = workspace.snapshot()

    assert list(state) == ["people"]
    assert [name for name, *_ in state["people"].columns] == ["id", "name", "score"]
    assert state["people"].columns[1][1].split()[0] == "text"
    assert set(state["people"].rows) == ROWS
    assert state["people"].kind == "BASE TABLE"


def test_equal_workspaces_have_equal_snapshots(database):
    first, second = database.create([table((1,), a="INT")]), database.create([table((1,), a="INT")])
    try:
        assert first.snapshot() == second.snapshot()
    finally:
        first.close()
        second.close()


def test_statements_may_follow_a_snapshot(workspace):
    workspace.snapshot()

    assert workspace.execute("SELECT COUNT(*) FROM people").rows == ((3,),)


def test_a_new_table_and_a_changed_column_show(workspace):
    workspace.execute("CREATE TABLE extra (a INT)")
    workspace.execute("ALTER TABLE people ADD COLUMN more VARCHAR(20)")
    state = workspace.snapshot()

    assert state["extra"].rows == ()
    assert [column[0] for column in state["extra"].columns] == ["a"]
    assert state["people"].columns[-1][0] == "more"
    assert state["people"].columns[-1][1].startswith("varchar(20)")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE people MODIFY name VARCHAR(50) NOT NULL DEFAULT 'x'",
        "ALTER TABLE people ALTER COLUMN id SET DEFAULT 7",
        "CREATE INDEX by_id ON people (id)",
    ],
)
def test_null_defaults_and_keys_show(workspace, change):
    before = workspace.snapshot()
    workspace.execute("UPDATE people SET name = '' WHERE name IS NULL")
    workspace.execute(change)

    after = workspace.snapshot()["people"]
    before = before["people"]
    assert (after.columns, after.definition) != (before.columns, before.definition)


def test_what_a_view_selects_shows_under_the_agents_names(workspace):
    workspace.execute("CREATE VIEW v AS SELECT id FROM people WHERE id > 1")
    definition = workspace.snapshot()["v"].definition

    assert "1" in definition
    assert "lifelonggym" not in definition


def test_a_snapshot_has_the_agents_names(workspace):
    workspace.execute("CREATE TABLE task_database (a TEXT)")
    workspace.execute("INSERT INTO task_database VALUES (DATABASE()), ('task_database')")

    assert workspace.snapshot()["task_database"].rows == (("task_database",), ("task_database",))


def test_a_view_is_listed_and_not_run(workspace):
    workspace.execute("CREATE VIEW slow AS SELECT SLEEP(30) AS a FROM people")

    state = workspace.snapshot()["slow"]
    assert (state.kind, state.rows) == ("VIEW", ())


def test_a_view_in_the_place_of_a_table_is_not_run(workspace):
    workspace.execute("DROP TABLE people")
    workspace.execute("CREATE VIEW people AS SELECT SLEEP(30) AS a")

    assert workspace.snapshot()["people"].kind == "VIEW"


def test_a_broken_view_does_not_hide_the_tables(workspace):
    workspace.execute("CREATE TABLE below (a INT)")
    workspace.execute("CREATE VIEW broken AS SELECT a FROM below")
    workspace.execute("DROP TABLE below")

    assert set(workspace.snapshot()["people"].rows) == ROWS


def test_a_dropped_table_is_gone(workspace):
    workspace.execute("DROP TABLE people")

    assert workspace.snapshot() == {}


def test_a_dropped_database_is_an_empty_snapshot(workspace):
    workspace.execute(f"DROP DATABASE {AGENT_SCHEMA}")

    assert workspace.snapshot() == {}
    assert workspace.joined_rows("people") is None


def test_joined_rows_leave_out_nulls(workspace):
    assert sorted(workspace.joined_rows("people")) == ["1,Ada,1.5", "2,Bob", "3,2.25"]
    assert workspace.joined_rows("nope") is None


# Life cycle -----------------------------------------------------------------------------


def test_closing_twice_is_fine(database):
    workspace = database.create([table(a="INT")])
    workspace.close()
    workspace.close()


def test_a_closed_workspace_says_so(database):
    workspace = database.create([table(a="INT")])
    workspace.close()

    with pytest.raises(BackendError, match="closed"):
        workspace.execute("SELECT 1")


def test_the_version_names_the_product(database: Database, workspace: Workspace):
    product, _, number = database.version.partition(" ")

    assert product in {"MariaDB", "MySQL", "seekdb"}
    assert number[0].isdigit()
