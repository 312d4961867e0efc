"""Two hundred questions over FB15k-237: actions, SPARQL and plain Python agree."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import time
from collections import defaultdict

import pytest

from lifelong_gym.backends.graph import build_graph, open_graph
from lifelong_gym.backends.graph.expressions import And, Count, Entity, Extreme, Join, parse
from lifelong_gym.backends.graph.sparql import sparql_of
from lifelong_gym.core import Task
from lifelong_gym.envs.knowledge_graph import KnowledgeGraphEnv
from lifelong_gym.tasks import KnowledgeGraphTask
from lifelong_gym.tasks.programs import actions_of, skills_of

pytestmark = pytest.mark.slow
pytest.importorskip("pyoxigraph", reason="pip install pyoxigraph")

MOST = 2000  # entities of a set, so that plain SPARQL ends
QUESTIONS = 200


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


@pytest.fixture(scope="module")
def folder(data_folder):
    return data_folder / "kg" / "fb15k-237"


@pytest.fixture(scope="module")
def store(folder, tmp_path_factory):
    return build_graph(folder, tmp_path_factory.mktemp("fb15k") / "store").folder


class Plain:
    """The graph as dictionaries, read by this test alone."""

    def __init__(self, folder):
        self.edges = defaultdict(lambda: defaultdict(set))
        self.values = defaultdict(lambda: defaultdict(set))
        for part in ("train", "valid", "test"):
            for subject, relation, target in lines(folder / f"{part}.txt.gz"):
                s, r, t = (text[1:].replace("/", ".") for text in (subject, relation, target))
                self.edges[s][r].add(t)
        for subject, attribute, value in lines(folder / "numeric.tsv.gz"):
            self.values[subject][attribute].add(float(value))

    def means(self, expression):
        """Direct evaluation."""
        if isinstance(expression, Entity):
            return {expression.id}
        if isinstance(expression, Join):
            sources = self.means(expression.of)
            return {t for s in sources for t in self.edges.get(s, {}).get(expression.relation, ())}
        if isinstance(expression, And):
            return self.means(expression.left) & self.means(expression.right)
        if isinstance(expression, Count):
            return {str(len(self.means(expression.of)))}
        pairs = [
            (number, entity)
            for entity in self.means(expression.of)
            for number in self.values.get(entity, {}).get(expression.attribute, ())
        ]
        best = (max if expression.largest else min)((number for number, _ in pairs), default=None)
        return {entity for number, entity in pairs if number == best}


@pytest.fixture(scope="module")
def plain(folder):
    return Plain(folder)


def chain(plain, rng, starts, joins):
    expression = Entity(rng.choice(starts))
    for _ in range(joins):
        reached = sorted(plain.means(expression))
        relations = sorted({r for e in reached for r in plain.edges.get(e, ())})
        if not relations or len(reached) > MOST:
            return None
        expression = Join(rng.choice(relations), expression)
    return expression if len(plain.means(expression)) <= MOST else None


def meeting(plain, rng, starts):
    """An intersection of two chains that meet."""
    left = chain(plain, rng, starts, rng.choice((1, 2)))
    if left is None:
        return None
    relation = left.relation
    for start in rng.sample(starts, 300):
        right = Join(relation, Entity(start))
        if start != getattr(left.of, "id", None) and plain.means(left) & plain.means(right):
            return And(left, right)
    return None


def wrapped(plain, rng, expression, kind):
    if kind == "count":
        return Count(expression)
    if kind == "extreme":
        members = plain.means(expression)
        attributes = sorted({a for e in members for a in plain.values.get(e, ())})
        return attributes and Extreme(expression, rng.choice(attributes), rng.random() < 0.5)
    return expression


@pytest.fixture(scope="module")
def questions(plain):
    """A fifth each of one to three joins, intersections, counts and extremes."""
    rng = random.Random(15)
    starts = sorted(plain.edges)
    found = []
    while len(found) < QUESTIONS:
        kind = ("joins", "joins", "meeting", "count", "extreme")[len(found) % 5]
        if kind == "meeting" or (kind != "joins" and rng.random() < 0.4):
            expression = meeting(plain, rng, starts)
        else:
            expression = chain(plain, rng, starts, rng.choice((1, 2, 3)))
        expression = expression and wrapped(plain, rng, expression, kind)
        if expression:
            found.append(expression)
    return found


def test_direct_evaluation_actions_and_sparql_agree(plain, store, questions):
    graph = open_graph(str(store))
    tasks = [task(n, expression, plain) for n, expression in enumerate(questions)]
    env = KnowledgeGraphEnv(tasks, graph)
    sizes = []
    for expression, asked in zip(questions, env.task_set, strict=True):
        expected = plain.means(expression)
        sizes.append(len(expected))
        assert parse(str(expression)) == expression
        assert graph.select(sparql_of(expression)) == expected, expression
        assert played(env, asked)["success"], expression
    env.close()

    assert len(sizes) == QUESTIONS
    assert max(sizes) > 100
    assert {skill for t in tasks for skill in t.skills} >= {
        "intersection",
        "count",
        "argmax",
        "argmin",
    }


def task(number, expression, plain) -> Task:
    actions = actions_of(expression)
    ids = sorted(
        {a.partition("(")[2].rstrip(")") for a in actions if a.startswith("get_relations(m")}
    )
    return KnowledgeGraphTask(
        id=str(number),
        instruction=str(expression),
        skills=skills_of(actions),
        entities=[{"name": entity_id, "id": entity_id} for entity_id in ids],
        actions=actions,
        answer=sorted(plain.means(expression)),
    )


def played(env, asked):
    env.reset(options={"task_id": asked.id})
    reference = env.reference_actions(asked)
    action = next(reference)
    while True:
        observation, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            return info
        action = reference.send(observation)


def test_it_builds_in_half_a_minute_and_less_than_a_gigabyte(folder, tmp_path):
    code = (
        "import sys; from lifelong_gym.backends.graph import build_graph; "
        "print(build_graph(sys.argv[1], sys.argv[2]).triples); "
        "print([l for l in open('/proc/self/status') if l.startswith('VmHWM')][0].split()[1])"
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(tmp_path / "store")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    triples, kilobytes = map(int, done.stdout.split())

    assert triples == 353_904
    assert time.monotonic() - started < 30
    assert kilobytes < 1_000_000
