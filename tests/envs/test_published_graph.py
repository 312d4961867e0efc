"""The published tasks on a real graph: the oracle on every backend, and why the rest cannot be."""

from __future__ import annotations

import json

import gymnasium as gym
import pytest

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.backends.graph import build_graph
from lifelong_gym.backends.graph.oxigraph import n_triples
from lifelong_gym.backends.graph.sources import find_source
from lifelong_gym.baselines import IdleAgent, OracleAgent
from tests.backends.graph.servers import ISQL, VIRTUOSO, Server, virtuoso

pytestmark = [pytest.mark.slow]
pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")
pytest.importorskip("rdflib", reason="pip install rdflib")


@pytest.fixture(scope="module")
def mini(data_folder):
    return data_folder / "kg" / "freebase-mini"


@pytest.fixture(scope="module")
def answerable(mini):
    return {f"knowledge_graph/{n}" for n in json.loads((mini / "answerable.json").read_text())}


@pytest.fixture(scope="module")
def play(data_folder):
    """Plays all 200 tasks: id to observations, and the ids that succeeded."""

    def play(graph, agent=OracleAgent):
        env = gym.make(
            "lifelong_gym/KnowledgeGraph-v0",
            tasks=f"lifelongagentbench?path={data_folder / 'lifelongagentbench'}",
            graph=str(graph),
            ontology=str(data_folder / "agentbench/knowledgegraph/ontology"),
        )
        stack = agent(env)
        seen, solved = {}, set()
        for task in env.unwrapped.task_set:
            observation, _ = stack.reset(options={"task_id": task.id})
            seen[task.id] = [observation]
            is_over = False
            while not is_over:
                observation, _, terminated, truncated, info = stack.step(None)
                seen[task.id].append(observation)
                is_over = terminated or truncated
            solved |= {task.id} if info["success"] else set()
        stack.close()
        return seen, solved

    return play


@pytest.fixture(scope="module")
def built(mini, tmp_path_factory):
    return build_graph(mini, tmp_path_factory.mktemp("store") / "mini").folder


@pytest.fixture(scope="module")
def reference_play(play, built):
    return play(built)


def test_the_oracle_solves_every_answerable_task_and_no_other(reference_play, answerable):
    assert len(answerable) == 176
    assert reference_play[1] == answerable


def test_doing_nothing_solves_none(play, built):
    assert play(built, IdleAgent)[1] == set()


def test_the_other_tasks_cannot_be_answered_because_a_relation_is_not_in_the_graph(
    reference_play, answerable, mini
):
    lines = (mini / "triples.tsv").read_text().splitlines()
    outgoing = {tuple(line.split("\t")[:2]) for line in lines}
    others = {
        task_id: seen for task_id, seen in reference_play[0].items() if task_id not in answerable
    }

    assert len(others) == 24
    for seen in others.values():
        refused = [text for text in seen if "is not a relation of" in text]
        assert refused, seen
    assert ("m.0hhjk", "architecture.museum.type_of_museum") not in outgoing


@pytest.mark.parametrize("prefix", ["", "rdflib+"])
def test_files_in_memory_show_the_same_observations(play, mini, reference_play, prefix):
    assert play(f"{prefix}{mini}") == reference_play


def test_an_oxigraph_endpoint_shows_the_same_observations(play, mini, reference_play):
    from lifelong_gym.backends.graph.oxigraph import fill

    server = Server(fill(find_source(mini).triples()))
    try:
        assert play(server.url) == reference_play
    finally:
        server.stop()


@pytest.mark.skipif(
    VIRTUOSO is None or ISQL is None, reason="no Virtuoso: apt-get install virtuoso-opensource"
)
def test_a_virtuoso_endpoint_shows_the_same_observations(play, mini, reference_play, tmp_path):
    dump = tmp_path / "mini.nt"
    dump.write_text("".join(map(n_triples, find_source(mini).triples())))
    with virtuoso(tmp_path / "virtuoso", dump) as url:
        assert play(url) == reference_play
