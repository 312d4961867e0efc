"""What every graph promises, whatever holds it."""

from __future__ import annotations

import pickle

import pytest

from lifelong_gym.backends.graph import ActionTimeout, Deadline
from lifelong_gym.backends.graph.expressions import parse
from lifelong_gym.backends.graph.sparql import sparql_of

AT_ONCE = 0.0
X = "http://example.org/x#y"
OWN = "http://example.org/own"
PARTY = "m.caf\u00e9\U0001f389"


@pytest.fixture
def soon():
    return Deadline(30)


@pytest.fixture
def a(graph, soon):
    return graph.entity("m.a", soon)


@pytest.fixture
def bcd(graph, soon):
    """The set of m.b, m.c and m.d."""
    b, c = graph.entity("m.b", soon), graph.entity("m.c", soon)
    return b | c | graph.entity("m.d", soon)


def test_an_entity_is_a_set_of_one(graph, a):
    assert set(a) == {"m.a"}
    assert len(a) == 1
    assert "m.a" in a
    assert "m.b" not in a


def test_an_id_that_is_only_an_object_is_an_entity(graph, soon):
    assert set(graph.entity("m.e", soon)) == {"m.e"}


@pytest.mark.parametrize("entity_id", ["m.none", "", "> . ?s ?p ?o . <", 'm.a" }', "🎉", "a:b c"])
def test_an_id_that_is_nowhere_is_none(graph, entity_id, soon):
    assert graph.entity(entity_id, soon) is None


def test_relations_come_sorted_and_without_attributes(graph, a, soon):
    assert graph.relations(a, soon) == ["r.self", "r.to"]


def test_relations_of_a_set_are_those_of_any_member(graph, bcd, soon):
    assert graph.relations(bcd, soon) == [OWN, "r.mixed", "r.on"]


def test_types_names_and_ranges_are_no_relations_and_no_attributes(graph, soon):
    assert graph.relations(graph.entity("m.d", soon), soon) == []
    assert "label" not in "".join(graph.attributes(graph.entity("m.b", soon), soon))


def test_a_relation_leads_to_every_object_once(graph, a, soon):
    assert set(graph.neighbors(a, "r.to", soon)) == {"m.b", "m.c"}


def test_a_relation_may_lead_back_to_where_it_started(graph, a, soon):
    assert set(graph.neighbors(a, "r.self", soon)) == {"m.a"}


def test_a_step_of_a_set_is_the_union_of_its_members_steps(graph, a, soon):
    both = graph.neighbors(a, "r.to", soon)

    assert set(graph.neighbors(both, "r.on", soon)) == {"m.d", X}


def test_ids_of_other_namespaces_work_like_any(graph, soon):
    x = graph.entity(X, soon)

    assert graph.relations(x, soon) == ["r.back"]
    assert set(graph.neighbors(x, "r.back", soon)) == {"m.a"}


def test_ids_may_hold_any_letter(graph, soon):
    found = graph.neighbors(graph.entity("m.c", soon), OWN, soon)

    assert set(found) == {PARTY}
    assert set(graph.entity(PARTY, soon)) == {PARTY}


def test_blank_nodes_take_no_part(graph, a, soon):
    reached = graph.neighbors(graph.neighbors(a, "r.to", soon), "r.on", soon)

    assert "m.never" not in reached


def test_an_unknown_relation_leads_nowhere(graph, a, soon):
    assert len(graph.neighbors(a, "r.none", soon)) == 0
    assert len(graph.neighbors(a, "r.to> ?x . <r", soon)) == 0


def test_an_empty_set_has_neither_relations_nor_anything_else(graph, a, soon):
    nothing = graph.neighbors(a, "r.none", soon)

    assert graph.relations(nothing, soon) == []
    assert graph.attributes(nothing, soon) == []
    assert len(graph.neighbors(nothing, "r.to", soon)) == 0
    assert len(graph.extreme(nothing, "v.number", soon, largest=True)) == 0


def test_a_predicate_of_both_kinds_is_a_relation_and_an_attribute(graph, soon):
    b = graph.entity("m.b", soon)

    assert "r.mixed" in graph.relations(b, soon)
    assert "r.mixed" in graph.attributes(b, soon)
    assert set(graph.neighbors(b, "r.mixed", soon)) == {"m.e"}


def test_attributes_come_sorted(graph, soon):
    found = graph.attributes(graph.entity("m.c", soon), soon)

    assert found == ["v.big", "v.mixed", "v.number", "v.several", "v.text", "v.when"]


def test_sets_intersect(graph, a, bcd, soon):
    common = graph.neighbors(a, "r.to", soon) & bcd

    assert set(common) == {"m.b", "m.c"}
    assert graph.relations(common, soon) == [OWN, "r.mixed", "r.on"]


@pytest.mark.parametrize(
    ("attribute", "largest", "expected"),
    [
        ("v.number", True, {"m.b", "m.d"}),
        ("v.number", False, {"m.c"}),
        ("v.big", True, {"m.b"}),
        ("v.big", False, {"m.c"}),
        ("v.when", True, {"m.b", "m.c"}),
        ("v.when", False, {"m.d"}),
        ("v.mixed", True, {"m.b"}),
        ("v.mixed", False, {"m.b"}),
        ("v.text", True, {"m.d"}),
        ("v.text", False, {"m.c"}),
        ("v.several", True, {"m.b"}),
        ("v.several", False, {"m.b"}),
        ("v.none", True, set()),
    ],
)
def test_values_compare_by_type_and_ties_are_all_there(
    graph, bcd, soon, attribute, largest, expected
):
    assert set(graph.extreme(bcd, attribute, soon, largest=largest)) == expected


def test_a_declared_range_goes_before_the_types_of_the_objects(graph, soon):
    assert graph.range_of("r.on", soon) == "t.declared"


def test_a_range_is_told_by_the_types_that_all_objects_have(graph, soon):
    assert graph.range_of("r.to", soon) == "t.person"


@pytest.mark.parametrize("relation", ["r.back", "r.none", "v.number"])
def test_a_relation_whose_objects_have_no_type_has_no_range(graph, relation, soon):
    assert graph.range_of(relation, soon) is None


def test_every_action_keeps_its_deadline(graph, a):
    past = Deadline(AT_ONCE)

    for action in (
        lambda: graph.relations(a, past),
        lambda: graph.attributes(a, past),
        lambda: graph.neighbors(a, "r.to", past),
        lambda: graph.extreme(a, "v.number", past, largest=True),
    ):
        with pytest.raises(ActionTimeout, match="stopped after 0 s"):
            action()


@pytest.mark.parametrize(
    "expression",
    [
        "(JOIN (R r.to) m.a)",
        "(JOIN (R r.on) (JOIN (R r.to) m.a))",
        "(JOIN (R r.self) m.a)",
        "(AND (JOIN (R r.to) m.a) (JOIN r.on m.d))",
        "(AND t.singer (JOIN (R r.to) m.a))",
        "(COUNT (JOIN (R r.on) (JOIN (R r.to) m.a)))",
        "(ARGMAX (JOIN (R r.to) m.a) v.number)",
        "(ARGMIN (JOIN (R r.to) m.a) v.several)",
    ],
)
def test_sparql_says_the_same_as_the_actions(graph, expression):
    expected = {
        "(JOIN (R r.to) m.a)": {"m.b", "m.c"},
        "(JOIN (R r.on) (JOIN (R r.to) m.a))": {"m.d", X},
        "(JOIN (R r.self) m.a)": {"m.a"},
        "(AND (JOIN (R r.to) m.a) (JOIN r.on m.d))": {"m.b", "m.c"},
        "(AND t.singer (JOIN (R r.to) m.a))": {"m.c"},
        "(COUNT (JOIN (R r.on) (JOIN (R r.to) m.a)))": {"2"},
        "(ARGMAX (JOIN (R r.to) m.a) v.number)": {"m.b"},
        "(ARGMIN (JOIN (R r.to) m.a) v.several)": {"m.b"},
    }

    assert graph.select(sparql_of(parse(expression))) == expected[expression]


def test_the_version_says_what_served(graph):
    assert graph.name in ("embedded", "rdflib", "endpoint")
    assert graph.version


def test_a_graph_pickles_and_serves_again(graph, soon):
    again = pickle.loads(pickle.dumps(graph))

    assert graph.relations(again.entity("m.a", soon), soon) == ["r.self", "r.to"]
    again.close()


def test_closing_twice_is_fine_and_use_opens_it_again(graph, soon):
    graph.close()
    graph.close()

    assert graph.entity("m.a", soon) is not None
