"""How long a statement may run and how much it may return."""

import contextlib
import resource
import time

import pytest

from lifelong_gym.backends.database import QueryError

STOPPED = "The statement ran longer than 1 s and was stopped."
NAMES = [f"b{number}" for number in range(24)]
ENDLESS = (
    f"SELECT SUM({' + '.join(f'{name}.id' for name in NAMES)}) "
    f"FROM {', '.join(f'people {name}' for name in NAMES)}"
)


@pytest.fixture
def three_digits(workspace):
    """A workspace whose table `n` holds 0 to 999."""
    workspace.execute("CREATE TABLE n (a INT)")
    workspace.execute("INSERT INTO n VALUES " + ", ".join(f"({n})" for n in range(1000)))
    return workspace


def test_a_statement_that_sleeps_is_stopped(workspace):
    started = time.monotonic()
    try:
        result = workspace.execute("SELECT SLEEP(30)").rows
    except QueryError as error:
        result = error.message

    assert result in (STOPPED, ((1,),))  # MySQL's SLEEP returns 1 when it is stopped
    assert time.monotonic() - started < 5


def test_a_statement_that_computes_for_ever_is_stopped(workspace):
    with pytest.raises(QueryError) as caught:
        workspace.execute(ENDLESS)

    assert caught.value.message == STOPPED
    assert workspace.execute("SELECT COUNT(*) FROM people").rows == ((3,),)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unlimited",
    [
        "SET max_statement_time = 0",
        "SET ob_query_timeout = 100000000",
        "SET max_execution_time = 0",
    ],
)
def test_an_agent_cannot_lift_its_limit(workspace, unlimited):
    try:
        workspace.execute(unlimited)
    except QueryError as error:
        pytest.skip(f"not a setting of this server: {error.message}")
    with pytest.raises(QueryError) as caught:
        workspace.execute(ENDLESS)

    assert caught.value.message == STOPPED
    assert len(workspace.snapshot()["people"].rows) == 3


def test_rows_past_the_bound_are_left_out(three_digits):
    result = three_digits.execute("SELECT a FROM n", max_bytes=100)

    assert result.is_cut
    assert 100 <= sum(len(repr(row)) for row in result.rows) < 120


def test_rows_that_just_fit_are_not_cut(workspace):
    result = workspace.execute("SELECT id FROM people", max_bytes=13)

    assert (len(result.rows), result.is_cut) == (3, False)


def test_a_session_survives_a_cut(three_digits):
    three_digits.execute("SET @kept = 5")
    for _ in range(5):
        assert three_digits.execute("SELECT x.a FROM n x, n y, n z", max_bytes=1000).is_cut
        assert three_digits.execute("SELECT @kept").rows == ((5,),)


@pytest.mark.slow
def test_a_huge_result_is_never_held_in_memory(three_digits):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = three_digits.execute("SELECT REPEAT('x', 10000) FROM n x, n y, n z", max_bytes=1 << 20)

    assert result.is_cut
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_a_recursion_without_end_ends(workspace):
    statement = (
        "WITH RECURSIVE r AS (SELECT 1 x UNION ALL SELECT x + 1 FROM r) SELECT MAX(x) FROM r"
    )
    started = time.monotonic()
    with contextlib.suppress(QueryError):
        workspace.execute(statement)

    assert time.monotonic() - started < 5


def test_a_table_too_large_for_a_judge_is_marked(database):
    from lifelong_gym.backends.database import snapshots

    workspace = database.create([])
    try:
        workspace.execute("CREATE TABLE big (a TEXT)")
        workspace.execute("INSERT INTO big VALUES (REPEAT('x', 1000))")
        for _ in range(6):
            workspace.execute("INSERT INTO big SELECT a FROM big")
        state = snapshots.read(workspace._judge, workspace._names, most_bytes=10_000)
        assert state["big"].is_cut
        assert len(state["big"].rows) == 10
        assert len(workspace.snapshot()["big"].rows) == 64
    finally:
        workspace.close()


def test_a_procedure_that_returns_nothing_for_ever_is_stopped(workspace):
    loop = "WHILE TRUE DO SELECT id FROM people WHERE FALSE; END WHILE"
    try:
        workspace.execute(f"CREATE PROCEDURE p() BEGIN {loop}; END")
        workspace.execute("SET max_statement_time = 0")
    except QueryError as error:
        pytest.skip(f"not for this server: {error.message}")
    with pytest.raises(QueryError) as caught:
        workspace.execute("CALL p()")

    assert caught.value.message == STOPPED
    assert workspace.execute("SELECT 1").rows == ((1,),)


def test_columns_that_take_for_ever_do_not_hold_a_judge_up(database):
    workspace = database.create([])
    try:
        costly = "LENGTH(REPEAT(MD5(a), 1500000))"
        try:
            workspace.execute(f"CREATE TABLE t (a INT, b INT AS ({costly}) VIRTUAL)")
        except QueryError as error:
            pytest.skip(f"this server has no such column: {error.message}")
        with contextlib.suppress(QueryError):
            workspace.execute("INSERT INTO t (a) VALUES " + ", ".join(["(1)"] * 3000))
        started = time.monotonic()
        workspace.snapshot()
        assert time.monotonic() - started < 20
    finally:
        workspace.close()


def test_all_result_sets_of_a_procedure_are_read(workspace):
    try:
        workspace.execute("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END")
    except QueryError as error:
        pytest.skip(f"this server has no procedures: {error.message}")

    assert workspace.execute("CALL p()").rows == ((1,), (2,))
    assert workspace.execute("SELECT 3").rows == ((3,),)
