"""What an agent cannot reach, and what it leaves behind without effect."""

import pytest

from lifelong_gym.backends.database import AGENT_SCHEMA, Column, QueryError, Table

ONE = Table(name="t", columns=(Column(name="a", type="INT"),), rows=((1,),))


@pytest.fixture
def other(database):
    made = database.create([ONE])
    yield made
    made.close()


def refuses(workspace, statement):
    try:
        workspace.execute(statement)
    except QueryError:
        return True
    return False


def needs(workspace, statement):
    """Runs a statement that some servers do not have."""
    try:
        return workspace.execute(statement)
    except QueryError as error:
        pytest.skip(f"this server has no such statement: {error.message}")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM mysql.user",
        "CREATE DATABASE another",
        "CREATE USER somebody",
        f"GRANT ALL ON {AGENT_SCHEMA}.* TO somebody",
        "SET GLOBAL max_connections = 1",
        "SELECT 'x' INTO OUTFILE '/tmp/lifelong_gym_outfile'",
        "SELECT 'x' INTO DUMPFILE '/tmp/lifelong_gym_outfile'",
        "LOAD DATA INFILE '/etc/hostname' INTO TABLE people",
        "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE people",
        "SHUTDOWN",
        "CREATE FUNCTION sys_exec RETURNS INT SONAME 'udf.so'",
        "DROP DATABASE mysql",
        "XA START 'a'",
    ],
)
def test_what_belongs_to_the_server_is_refused(workspace, statement):
    assert refuses(workspace, statement)


def test_files_of_the_machine_cannot_be_read(workspace):
    statement = "SELECT LOAD_FILE('/etc/hostname')"

    assert refuses(workspace, statement) or workspace.execute(statement).rows == ((None,),)


def test_other_workspaces_cannot_be_seen(workspace, other):
    schemas = {row[0].lower() for row in workspace.execute("SHOW DATABASES").rows}

    assert schemas - {"performance_schema"} == {AGENT_SCHEMA, "information_schema"}


def test_other_workspaces_cannot_be_touched(workspace, other):
    real = other._names.database

    assert refuses(workspace, f"SELECT * FROM `{real}`.t")
    assert refuses(workspace, f"INSERT INTO `{real}`.t VALUES (2)")
    assert refuses(workspace, f"DROP DATABASE `{real}`")
    assert other.snapshot()["t"].rows == ((1,),)


def test_a_changed_session_ends_with_its_workspace(database, workspace):
    workspace.execute("SET sql_mode = ''")
    workspace.execute("SET @seen = 1")
    fresh = database.create([ONE])
    try:
        assert fresh.execute("SELECT @seen").rows == ((None,),)
        assert "STRICT" in fresh.execute("SELECT @@sql_mode").rows[0][0]
    finally:
        fresh.close()


def test_a_temporary_table_does_not_hide_the_real_one_from_a_judge(workspace):
    needs(workspace, "CREATE TEMPORARY TABLE people (id INT)")
    workspace.execute("INSERT INTO people VALUES (99)")

    assert len(workspace.snapshot()["people"].rows) == 3
    assert len(workspace.joined_rows("people")) == 3


def test_an_open_transaction_is_rolled_back(workspace):
    workspace.execute("START TRANSACTION")
    workspace.execute("DELETE FROM people")

    assert len(workspace.snapshot()["people"].rows) == 3


def test_without_autocommit_nothing_is_kept(workspace):
    workspace.execute("SET autocommit = 0")
    workspace.execute("DELETE FROM people")

    assert len(workspace.snapshot()["people"].rows) == 3


def test_locks_do_not_stop_a_judge(workspace):
    workspace.execute("LOCK TABLES people WRITE")

    assert len(workspace.snapshot()["people"].rows) == 3


def test_locks_do_not_stop_the_removal(database):
    workspace = database.create([ONE])
    workspace.execute("LOCK TABLES t WRITE")
    workspace.close()


@pytest.mark.slow
def test_a_prepared_xa_transaction_does_not_stop_the_removal(database):
    workspace = database.create([ONE])
    try:
        for statement in (
            "XA START 'z'",
            "INSERT INTO t VALUES (2)",
            "XA END 'z'",
            "XA PREPARE 'z'",
        ):
            quoted = statement.replace("'", "''")
            needs(workspace, f"EXECUTE IMMEDIATE '{quoted}'")
        assert workspace.snapshot()["t"].rows == ((1,),)
    finally:
        workspace.close()


def test_a_connection_that_kills_itself_costs_one_statement(workspace):
    assert refuses(workspace, "KILL CONNECTION_ID()") or refuses(workspace, "SELECT 1")

    assert workspace.execute("SELECT COUNT(*) FROM people").rows == ((3,),)


def test_another_character_set_does_not_break_the_connection(workspace):
    workspace.execute("UPDATE people SET name = 'é' WHERE id = 1")
    needs(workspace, "SET NAMES latin1")
    refuses(workspace, "SELECT name FROM people WHERE id = 1")

    workspace.execute("SELECT 1")
    assert "é" in {row[1] for row in workspace.snapshot()["people"].rows}


def test_a_changed_password_does_not_break_the_workspace(workspace):
    refuses(workspace, "SET PASSWORD = ''")
    refuses(workspace, "KILL CONNECTION_ID()")
    refuses(workspace, "SELECT 1")

    assert len(workspace.snapshot()["people"].rows) == 3


def test_a_database_made_anew_is_the_agents_own(workspace):
    workspace.execute(f"DROP DATABASE {AGENT_SCHEMA}")
    needs(workspace, f"CREATE DATABASE {AGENT_SCHEMA}")
    workspace.execute(f"CREATE TABLE {AGENT_SCHEMA}.t (a INT)")

    assert list(workspace.snapshot()) == ["t"]


@pytest.mark.slow
def test_hundreds_of_tables_can_be_read_and_removed(database):
    workspace = database.create([ONE])
    for number in range(300 if database.name != "seekdb" else 30):
        workspace.execute(f"CREATE TABLE t{number} (a INT)")
    assert len(workspace.snapshot()) > 30
    workspace.close()
