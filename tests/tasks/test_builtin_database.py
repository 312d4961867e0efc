"""The builtin database tasks: that their labels, instructions and answers are sound."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import pytest
import sqlglot
from sqlglot import exp

from lifelong_gym.backends.database.contract import Database
from lifelong_gym.errors import BackendUnavailableError
from lifelong_gym.tasks import DATABASE_SKILLS, DatabaseTask, TaskSet

TASKS = TaskSet.load("builtin", "database")
QUESTIONS = [task for task in TASKS if task.is_question]
CHANGES = [task for task in TASKS if not task.is_question]


def by_id(task: DatabaseTask) -> str:
    return task.id


def skills_of(sql: str) -> set[str]:
    """The skills that a statement uses, as the published tasks label them."""
    root = sqlglot.parse_one(sql, read="mysql")
    main = root.expression if isinstance(root, exp.Insert) else root
    kinds = {exp.Insert: "insert", exp.Update: "update", exp.Delete: "delete"}
    found = {name for kind, name in kinds.items() if isinstance(root, kind)}
    found |= {"select"} if root.find(exp.Select) else set()
    found |= {"column_alias"} if any(isinstance(e, exp.Alias) for e in main.expressions) else set()
    named = root.find_all(exp.Table, exp.Subquery)
    found |= {"table_alias"} if any(source.alias for source in named) else set()
    return found | subqueries(root, main) | clauses(main)


def subqueries(root: exp.Expr, main: exp.Expr) -> set[str]:
    inner = [select for select in root.find_all(exp.Select) if select is not main]
    outermost = [s for s in inner if (up := s.find_ancestor(exp.Select)) is None or up is main]
    found = {"subquery_nested"} if len(outermost) < len(inner) else set()
    found |= {"subquery_multiple"} if len(outermost) > 1 else set()
    return found | ({"subquery_single"} if len(inner) == 1 else set())


def clauses(main: exp.Expr) -> set[str]:
    found = set()
    if where := main.args.get("where"):
        count, connectors = conditions(where.this)
        forms = ("single_condition", "multiple_conditions", "nested_conditions")
        found.add("where_" + forms[0 if count == 1 else len(connectors)])
    if group := main.args.get("group"):
        many = len(group.expressions) > 1
        found.add("group_by_" + ("multiple_columns" if many else "single_column"))
    if having := main.args.get("having"):
        many = conditions(having.this)[0] > 1
        form = "multiple_conditions" if many else "single_condition"
        found.add(f"having_{form}_with_aggregate")
        if any(
            part.find(exp.AggFunc) for part in having.find_all(exp.Add, exp.Sub, exp.Mul, exp.Div)
        ):
            found.add("having_aggregate_calculation")
    if order := main.args.get("order"):
        ways = [bool(key.args.get("desc")) for key in order.expressions]
        many = "same_direction" if len(set(ways)) == 1 else "different_directions"
        found.add("order_by_" + ("single_column" if len(ways) == 1 else f"multiple_columns_{many}"))
    if main.args.get("limit"):
        found.add("limit_and_offset" if main.args.get("offset") else "limit_only")
    return found


def conditions(node: exp.Expr) -> tuple[int, set[type]]:
    """How many conditions a clause has, and by what they are joined."""
    node = node.unnest()
    if not isinstance(node, exp.And | exp.Or):
        return 1, set()
    (left, left_joins), (right, right_joins) = conditions(node.left), conditions(node.right)
    return left + right, {type(node)} | left_joins | right_joins


def plain(value: object) -> object:
    """A server's value as a task writes it."""
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, date | datetime) else value


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    backends = pytest.importorskip("lifelong_gym.backends.database")
    if not hasattr(backends, "open_database"):
        pytest.skip("lifelong_gym.backends.database has no open_database yet")
    try:
        found = backends.open_database("auto")
        assert found.version
    except BackendUnavailableError as error:
        pytest.skip(f"no database starts here: {error}")
    with contextlib.closing(found):
        yield found


def rows_of(database: Database, task: DatabaseTask, *, backwards: bool = False):
    tables = task.tables
    if backwards:
        tables = [table.model_copy(update={"rows": table.rows[::-1]}) for table in tables]
    with contextlib.closing(database.create(tables)) as workspace:
        rows = [tuple(map(plain, row)) for row in workspace.execute(task.sql).rows]
    return rows if "ORDER BY" in task.sql else sorted(rows)


def state_after(database: Database, task: DatabaseTask, *statements: str):
    with contextlib.closing(database.create(task.tables)) as workspace:
        for statement in statements:
            workspace.execute(statement)
        return {name: Counter(state.rows) for name, state in workspace.snapshot().items()}


def test_there_are_about_thirty():
    assert 32 <= len(TASKS) <= 40


def test_questions_and_changes_are_both_common():
    assert len(QUESTIONS) >= 10
    assert len(CHANGES) >= 10


def test_every_skill_is_practised():
    assert {skill for task in TASKS for skill in task.skills} == set(DATABASE_SKILLS)


def test_most_skills_are_practised_several_times():
    counts = Counter(skill for task in TASKS for skill in task.skills)

    assert sum(count >= 3 for count in counts.values()) >= 18


@pytest.mark.parametrize("task", TASKS, ids=by_id)
def test_labels_are_what_the_reference_uses(task):
    assert set(task.skills) == skills_of(task.sql)


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_no_question_has_an_empty_answer(task):
    assert task.answer


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_a_question_says_whether_order_counts(task):
    assert ("in any order" in task.instruction) == ("ORDER BY" not in task.sql)
    assert ("ORDER BY" in task.sql) <= ("first" in task.instruction or "A to Z" in task.instruction)


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_a_question_names_the_columns_that_it_wants_called_otherwise(task):
    select = sqlglot.parse_one(task.sql, read="mysql")
    aliases = [part.alias for part in select.expressions if isinstance(part, exp.Alias)]

    assert all(f"call it {alias}" in task.instruction for alias in aliases)


@pytest.mark.parametrize("task", TASKS, ids=by_id)
def test_tables_are_small_and_keyed(task):
    for table in task.tables:
        assert 2 <= len(table.rows) <= 25
        assert "PRIMARY KEY" in table.columns[0].type


def test_column_types_go_beyond_numbers_and_text():
    types = {column.type.split()[0].split("(")[0] for task in TASKS for table in task.tables
             for column in table.columns}  # fmt: skip

    assert types >= {"INT", "VARCHAR", "DECIMAL", "DATE", "DATETIME", "BOOLEAN", "TEXT"}


@pytest.mark.parametrize("task", TASKS, ids=by_id)
def test_references_do_not_depend_on_time_or_chance(task):
    assert not any(word in task.sql.upper() for word in ("NOW(", "RAND(", "CURDATE", "UUID"))


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_references_satisfy_only_full_group_by(task):
    select = sqlglot.parse_one(task.sql, read="mysql")
    grouped = select.args["group"].expressions if select.args.get("group") else select.expressions

    assert all(part in grouped or part.find(exp.AggFunc) for part in select.expressions)


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_an_answer_is_what_the_reference_gives(database, task):
    answer = list(task.answer) if "ORDER BY" in task.sql else sorted(task.answer)

    assert rows_of(database, task) == answer


@pytest.mark.parametrize("task", QUESTIONS, ids=by_id)
def test_an_answer_does_not_depend_on_the_order_of_the_rows(database, task):
    assert rows_of(database, task) == rows_of(database, task, backwards=True)


@pytest.mark.parametrize("task", CHANGES, ids=by_id)
def test_a_change_changes_something(database, task):
    assert state_after(database, task) != state_after(database, task, task.sql)
