"""From S-expressions to actions: the paper's construction, held against the published tasks."""

from __future__ import annotations

import pytest

from lifelong_gym.backends.graph.expressions import ExpressionError, parse
from lifelong_gym.backends.graph.ontology import read_ontology
from lifelong_gym.tasks import TaskSet
from lifelong_gym.tasks.programs import actions_of


@pytest.mark.parametrize("source", ["lifelongagentbench", "agentbench"])
def test_published_expressions_give_the_published_actions(data_folder, source):
    ontology = read_ontology(data_folder / "agentbench/knowledgegraph/ontology")
    tasks = TaskSet.load(f"{source}?path={data_folder / source}", "knowledge_graph")

    for task in tasks:
        expression = parse(task.expression)
        assert str(expression) == task.expression
        assert actions_of(expression, ontology.reverses) == task.actions


def test_a_join_against_its_direction_takes_the_relation_that_leads_back():
    actions = actions_of(parse("(JOIN r.to m.1)"), {"r.to": "r.from"})

    assert actions == ("get_relations(m.1)", "get_neighbors(m.1,r.from)")


def test_a_join_that_no_relation_leads_back_is_refused():
    with pytest.raises(ExpressionError, match="no relation leads back"):
        actions_of(parse("(JOIN r.to m.1)"))


@pytest.mark.parametrize("text", ["(AND t.a t.b)", "(COUNT t.a)"])
def test_a_type_alone_is_refused(text):
    with pytest.raises(ExpressionError, match="no action gives all entities of the type"):
        actions_of(parse(text))
