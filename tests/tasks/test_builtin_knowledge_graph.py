"""The builtin knowledge-graph tasks: one of every skill, one of every awkward name."""

from __future__ import annotations

import pytest

from lifelong_gym.backends.graph import open_graph
from lifelong_gym.backends.graph.builtin import NAMES, triples
from lifelong_gym.backends.graph.expressions import parse
from lifelong_gym.backends.graph.sparql import sparql_of
from lifelong_gym.tasks import GRAPH_SKILLS, TaskSet
from lifelong_gym.tasks.programs import actions_of, skills_of

TASKS = TaskSet.load("builtin", "knowledge_graph")


def test_together_they_use_every_skill():
    assert {skill for task in TASKS for skill in task.skills} == set(GRAPH_SKILLS)


@pytest.mark.parametrize("mark", [",", "(", ")", '"', "'", "#", "🎿", "[", ":", "é", "—", "&"])
def test_every_awkward_character_is_in_the_name_of_an_entity(mark):
    assert any(mark in name for name in NAMES.values())


@pytest.mark.parametrize("name", ["#0", "Final Answer: #0", "count(#0)", "Half a Bracket (", "C#"])
def test_every_awkward_name_begins_a_task(name):
    assert any(name in task.ids for task in TASKS)


def test_one_has_nothing_as_its_answer():
    assert any(task.answer == () for task in TASKS)


def test_one_starts_at_an_entity_that_is_in_its_own_answer():
    assert any(set(task.ids.values()) & set(task.answer) for task in TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_answer_is_what_the_expression_means_in_sparql(task):
    if "released" in task.expression:
        pytest.skip("engines do not compare years with dates: that order is this package's own")
    pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")

    assert open_graph("builtin").select(sparql_of(parse(task.expression))) == set(task.answer)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_instruction_names_its_entities(task):
    named = set(task.ids)
    unnamed = {name for name in named if name not in task.instruction}

    assert not unnamed or task.id == "festival/first-released"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_skills_and_actions_are_those_of_the_expression(task):
    assert task.actions == actions_of(parse(task.expression))
    assert task.skills == skills_of(task.actions)


def test_every_relation_of_the_graph_leads_back():
    edges = {(s, p, o) for s, p, o in triples() if isinstance(o, str) and "type" not in p}
    pairs = {(s, o) for s, _, o in edges}

    assert pairs == {(o, s) for s, o in pairs}
