"""TaskSet: an immutable sequence that knows where it came from."""

from __future__ import annotations

import pickle

import pytest

from lifelong_gym.core import Task
from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks import DatabaseTask, TaskSet

TABLES = ({"name": "t", "columns": [{"name": "a", "type": "INT"}], "rows": [[1]]},)


def task(task_id: str, *skills: str, **fields) -> DatabaseTask:
    given = {"instruction": "do", "sql": "DELETE FROM t", "tables": TABLES, **fields}
    return DatabaseTask(id=task_id, skills=skills, **given)


@pytest.fixture
def tasks() -> TaskSet[DatabaseTask]:
    three = [task("a", "insert"), task("b", "select", "update"), task("c", "select")]
    return TaskSet(three, domain="database", reference="mine.jsonl")


def test_it_is_a_sequence(tasks):
    assert len(tasks) == 3
    assert tasks[0].id == "a"
    assert tasks[-1].id == "c"
    assert [t.id for t in tasks] == ["a", "b", "c"]
    assert tasks[1] in tasks


def test_a_slice_is_a_task_set_of_the_same_origin(tasks):
    assert tasks[1:].ids == ("b", "c")
    assert tasks[1:].reference == "mine.jsonl"


def test_an_id_finds_its_task(tasks):
    assert tasks.by_id("b") is tasks[1]


def test_an_unknown_id_is_refused_with_some_that_exist(tasks):
    with pytest.raises(UsageError, match=r"no task has the id 'z'; mine\.jsonl has 3: a, b, c"):
        tasks.by_id("z")


def test_selecting_takes_tasks_with_any_of_the_skills(tasks):
    assert tasks.select(skills=["insert", "update"]).ids == ("a", "b")


def test_a_limit_counts_what_the_skills_left(tasks):
    assert tasks.select(skills=["select"], limit=1).ids == ("b",)
    assert tasks.select(limit=99) == tasks


def test_selecting_nothing_is_refused_with_the_skills_there_are(tasks):
    with pytest.raises(UsageError, match=r"any of the skills cut; its skills are insert, select"):
        tasks.select(skills=["cut"])


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"skills": "select"}])
def test_selecting_refuses_what_was_surely_not_meant(tasks, wrong):
    with pytest.raises(UsageError, match="must be"):
        tasks.select(**wrong)


def test_load_applies_skills_before_limit():
    tasks = TaskSet.load("builtin?skills=delete&limit=2", "database")

    assert len(tasks) == 2
    assert all("delete" in t.skills for t in tasks)
    assert tasks.reference == "builtin?skills=delete&limit=2"
    assert tasks.domain == "database"


def test_the_fingerprint_is_the_same_in_every_copy(tasks):
    again = TaskSet(list(tasks), domain="database", reference="elsewhere.jsonl")

    assert again.fingerprint == tasks.fingerprint


def test_the_fingerprint_tells_a_change_of_any_task(tasks):
    changed = [tasks[0], tasks[1], task("c", "select", sql="DELETE FROM t WHERE a = 1")]

    assert TaskSet(changed, domain="database").fingerprint != tasks.fingerprint


def test_the_fingerprint_tells_a_change_of_order(tasks):
    assert TaskSet(tasks[::-1], domain="database").fingerprint != tasks.fingerprint


def test_the_fingerprint_does_not_tell_where_tasks_were_loaded_from(tasks):
    moved = [t.model_copy(update={"source": "moved"}) for t in tasks]

    assert TaskSet(moved, domain="database").fingerprint == tasks.fingerprint


def test_sets_are_equal_by_their_tasks(tasks):
    same = TaskSet(list(tasks), domain="database")

    assert same == tasks
    assert hash(same) == hash(tasks)
    assert tasks[:2] != tasks
    assert tasks != list(tasks)


def test_it_pickles_without_what_it_has_cached(tasks):
    small = len(pickle.dumps(tasks))
    assert tasks.fingerprint
    assert tasks.by_id("a")

    assert len(pickle.dumps(tasks)) == small
    assert pickle.loads(pickle.dumps(tasks)) == tasks
    assert pickle.loads(pickle.dumps(tasks)).reference == "mine.jsonl"


def test_its_repr_says_what_it_is(tasks):
    assert repr(tasks) == "TaskSet('mine.jsonl', 'database', 3 tasks)"
    assert repr(tasks[:1]) == "TaskSet('mine.jsonl', 'database', 1 task)"


def test_it_cannot_be_changed(tasks):
    with pytest.raises(TypeError, match="does not support item assignment"):
        tasks[0] = tasks[1]
    with pytest.raises(AttributeError):
        tasks.reference = "other"


def test_a_repeated_id_is_refused():
    with pytest.raises(TaskError, match="tasks 0 and 1 have the same id 'a'"):
        TaskSet([task("a"), task("a")], domain="database")


def test_a_task_of_another_domain_is_refused():
    with pytest.raises(TaskError, match="a task of database is a DatabaseTask, got Task"):
        TaskSet([Task(id="a", instruction="do")], domain="database")


def test_a_table_name_given_twice_is_refused():
    with pytest.raises(ValueError, match="tables must have different names, got 't' 2 times"):
        task("a", tables=TABLES * 2)


def test_an_answer_of_uneven_rows_is_refused():
    with pytest.raises(ValueError, match="row 1 of answer has 2 values, row 0 1"):
        task("a", answer=[[1], [1, 2]])


def test_ten_thousand_tasks_are_no_trouble():
    tasks = TaskSet((task(str(n)) for n in range(10_000)), domain="database")

    assert tasks.by_id("9999").id == "9999"
    assert len(pickle.loads(pickle.dumps(tasks))) == 10_000
