"""What an action on a knowledge graph costs, beside the same question in SPARQL on Virtuoso.

Run it with `python tests/benchmarks/bench_graph.py [TRIPLES] [VARIABLES] [FOLDER]`, by default
a million triples and 300 variables. It measures and asserts nothing. Without Virtuoso, or with
`TRIPLES` above two million, it measures this package alone.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from rich.console import Console
from rich.table import Table

from lifelong_gym.backends.graph import (
    ActionTimeout,
    Exploration,
    Start,
    build_graph,
    endpoint,
    open_graph,
)
from lifelong_gym.backends.graph.endpoint import EndpointGraph
from lifelong_gym.backends.graph.oxigraph import n_triples
from lifelong_gym.backends.graph.sources import find_source
from tests.backends.graph.servers import VIRTUOSO, virtuoso
from tests.benchmarks.graph_questions import LONG, agrees, draw_questions
from tests.benchmarks.zipf_graph import HUB, HUB_RELATION, write_graph

MOST_FOR_VIRTUOSO = 2_000_000
GIVEN_UP_S = 10.0

OPENED = (
    "ms to open and for a first action",
    "ms to open for SPARQL",
    "MB resident before",
    "MB after 2,000 walks",
    "MB with SPARQL",
)
OPEN = """
import sys, time
from lifelong_gym.backends.graph import open_graph, Deadline
def resident():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
before = resident()
started = time.perf_counter()
graph = open_graph(sys.argv[1])
graph.relations(graph.entity("m.1", Deadline(9)), Deadline(9))
opened = time.perf_counter() - started
import random
rng = random.Random(0)
for _ in range(2000):
    entity = graph.entity(f"m.{rng.randrange(int(sys.argv[2]))}", Deadline(9))
    for relation in graph.relations(entity, Deadline(9)) if entity else ():
        graph.attributes(graph.neighbors(entity, relation, Deadline(9)), Deadline(9))
worked = resident()
started = time.perf_counter()
graph.store
print(opened * 1000, (time.perf_counter() - started) * 1000, before, worked, resident())
"""


def once(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def percentiles(times):
    ordered = sorted(times)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1]


def ask(server, question, times):
    """The answer in SPARQL; None where the server takes too long, which counts as that long."""
    started = time.perf_counter()
    try:
        rows = server.select(question.sparql)
    except ActionTimeout:
        times.append(GIVEN_UP_S * 1000)
        return None
    spent = time.perf_counter() - started
    times.append(spent * 1000)
    # What Virtuoso cuts off at its time limit looks like any other answer.
    return rows if spent < GIVEN_UP_S else None


def measure(questions, console, url):
    """Times every question once here and, where there is a server, once there."""
    ours, theirs = defaultdict(list), defaultdict(list)
    wrong = slow = 0
    server = EndpointGraph(url) if url else None
    for question in questions:
        started = time.perf_counter()
        made = question.act()
        ours[question.action].append((time.perf_counter() - started) * 1000)
        if server is not None:
            rows = ask(server, question, theirs[question.action])
            slow += rows is None
            wrong += rows is not None and not agrees(question, made, rows)
    sizes = [question.size for question in questions]
    large = sum(size > 1000 for size in sizes) / len(sizes)
    console.print(
        f"{len(questions)} actions, {large:.0%} of them on more than 1,000 entities, at most "
        f"{max(sizes)}; different answers: {wrong}; given up by Virtuoso: {slow}"
    )
    grid = Table("milliseconds", "actions", "median", "p95", "max", "Virtuoso median", "p95", "max")
    for action in sorted(ours):
        _row(grid, action, ours[action], theirs[action])
    _row(grid, "all", [*chain(*ours.values())], [*chain(*theirs.values())])
    console.print(grid)


def _row(grid, name, ours, theirs):
    cells = [f"{value:.3f}" for value in percentiles(ours)]
    beside = [f"{value:.2f}" for value in percentiles(theirs)] if theirs else ["", "", ""]
    grid.add_row(name, str(len(ours)), *cells, *beside)


def measure_hub(graph, console):
    """The largest variable, and every action on it."""
    walk = Exploration(graph)
    hub = Start(HUB, HUB)
    walk.get_relations(hub, LONG)
    made = walk.get_neighbors(hub, HUB_RELATION, LONG)
    relations = walk.get_relations(made, LONG)
    attributes = walk.get_attributes(made, LONG)
    timed = {
        "make": once(lambda: walk.get_neighbors(hub, HUB_RELATION, LONG)),
        "get_relations": once(lambda: walk.get_relations(made, LONG)),
        "get_neighbors": max(
            once(lambda r=r: walk.get_neighbors(made, r, LONG)) for r in relations
        ),
        "get_attributes": once(lambda: walk.get_attributes(made, LONG)),
        "argmax": max(once(lambda a=a: walk.extreme("argmax", made, a, LONG)) for a in attributes),
        "intersection": once(lambda: walk.intersection(made, made)),
        "count": once(lambda: walk.count(made)),
    }
    rounded = {name: round(spent, 2) for name, spent in timed.items()}
    console.print(f"a variable of {made.size} entities, ms:", rounded)


def measure_opening(store, triples, console):
    """A process of its own that opens the store and walks about in it."""
    command = [sys.executable, "-c", OPEN, str(store), str(triples // 5)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = [round(float(figure), 1) for figure in done.stdout.split()]
    console.print(dict(zip(OPENED, figures, strict=True)))


def draw_starts(tsv):
    """Starts by their degree, as questions about well-known entities have it; the hub too."""
    with (tsv / "triples.tsv").open() as file:
        subjects = [line.split("\t", 1)[0] for n, line in enumerate(file) if n % 97 == 0]
    few = [subject for subject in subjects if subject != HUB]
    return random.Random(1).sample(few, min(5000, len(few))) + [HUB] * 50


def main(triples=1_000_000, variables=300, folder=None):
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(folder or scratch)
        tsv, store = root / "tsv", root / "store"
        if not tsv.exists():
            write_graph(tsv, triples)
        if not store.exists():
            started = time.perf_counter()
            built = build_graph(tsv, store)
            console.print(built, f"built in {time.perf_counter() - started:.1f} s")
        measure_opening(store, triples, console)
        graph = open_graph(str(store))
        measure_hub(graph, console)
        questions = draw_questions(graph, draw_starts(tsv), variables)
        if VIRTUOSO is None or triples > MOST_FOR_VIRTUOSO:
            measure(questions, console, None)
            return
        dump = Path(scratch) / "graph.nt"
        with dump.open("w") as file:
            file.writelines(map(n_triples, find_source(tsv).triples()))
        data = Path(scratch) / "virtuoso"
        with virtuoso(data, dump, buffers=170_000, most_rows=10_000_000) as url:
            measure(questions, console, f"{url}&timeout={GIVEN_UP_S * 1000:.0f}")


if __name__ == "__main__":
    endpoint._PATIENCE_S = GIVEN_UP_S + 5
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
