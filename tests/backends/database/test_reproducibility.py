"""Nothing of a single run shows, and everything that can stands still."""

import datetime

import pytest

from lifelong_gym.backends.database import AGENT_SCHEMA, Column, QueryError, Table

ONE = Table(name="t", columns=(Column(name="a", type="INT"),), rows=((1,),))


def said(workspace, statement):
    try:
        return workspace.execute(statement).rows
    except QueryError as error:
        return error.message


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT DATABASE(), USER(), CURRENT_USER()",
        "SHOW DATABASES",
        "SHOW GRANTS",
        "SHOW TABLES",
        "SHOW CREATE TABLE t",
        "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2 LIMIT 0",
        "SELECT * FROM nope",
        "CREATE DATABASE nope",
        "SELECT nope()",
        "INSERT INTO t VALUES ('x')",
        "SELECT * FROM mysql.user",
        "SELECT NOW(6), CURDATE(), UNIX_TIMESTAMP(), UTC_TIMESTAMP()",
        "SELECT RAND(7)",
    ],
)
def test_two_workspaces_say_the_same(database, statement):
    answers = []
    for _ in range(2):
        workspace = database.create([ONE])
        answers.append(said(workspace, statement))
        workspace.close()

    assert answers[0] == answers[1]
    assert "lifelonggym" not in repr(answers)


def test_the_clock_stands_still(workspace):
    now = datetime.datetime(2025, 1, 1)

    assert workspace.execute("SELECT NOW()").rows == ((now,),)
    assert workspace.execute("SELECT CURRENT_TIMESTAMP(), UNIX_TIMESTAMP()").rows == (
        (now, 1_735_689_600),
    )


def test_random_numbers_repeat(database):
    if database.name == "seekdb":
        pytest.skip("seekdb's RAND() cannot be seeded")
    draws = set()
    for _ in range(2):
        workspace = database.create([ONE])
        draws.add(workspace.execute("SELECT RAND(), RAND()").rows)
        workspace.close()

    assert len(draws) == 1


@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT a FROM {AGENT_SCHEMA}.t",
        f"SELECT `{AGENT_SCHEMA}`.t.a FROM `{AGENT_SCHEMA}`.`t`",
        f"SELECT 1 FROM information_schema.tables WHERE table_schema = '{AGENT_SCHEMA}'",
        f'SELECT 1 FROM dual WHERE DATABASE() = "{AGENT_SCHEMA}"',
    ],
)
def test_the_agents_name_for_its_database_works(database, statement):
    workspace = database.create([ONE])
    try:
        assert workspace.execute(statement).rows == ((1,),)
    finally:
        workspace.close()


def test_the_name_within_other_texts_is_left_alone(workspace):
    text = f"not {AGENT_SCHEMA}, really"

    assert workspace.execute(f"SELECT '{text}', '{AGENT_SCHEMA}'").rows == ((text, AGENT_SCHEMA),)


def test_use_goes_back_to_the_own_database(workspace):
    workspace.execute("USE information_schema")
    workspace.execute(f"USE {AGENT_SCHEMA}")

    assert workspace.execute("SELECT COUNT(*) FROM people").rows == ((3,),)
