"""A graph of any size for benchmarks: 20 types, 60 relations, Zipf-distributed degrees, hubs."""

from __future__ import annotations

import numpy as np

TYPES, RELATIONS, ATTRIBUTES = 20, 60, 10
HUB = "m.hub"
"""An entity with a relation to a tenth of a million triples' worth of entities."""

HUB_RELATION = "big.hub.members"


def write_graph(folder, triples, seed=0):
    """Writes `triples.tsv` and `attributes.tsv`, about `triples` lines together."""
    rng = np.random.default_rng(seed)
    entities = triples // 5
    bounds = _type_bounds(entities)
    hub = min(120_000, bounds[1])
    values = triples // 20
    edges = triples - entities - hub - values
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "triples.tsv").open("w") as file:
        for kind in range(TYPES):
            members = range(bounds[kind], bounds[kind + 1])
            file.writelines(f"m.{n}\ttype.object.type\tzipf.t{kind}\n" for n in members)
        file.writelines(f"{HUB}\t{HUB_RELATION}\tm.{n}\n" for n in range(hub))
        for relation, count in enumerate(_shares(edges, RELATIONS)):
            subjects, targets = _edges(rng, bounds, relation, count)
            name = f"zipf.t{relation % TYPES}.r{relation}"
            file.writelines(
                f"m.{s}\t{name}\tm.{t}\n"
                for s, t in zip(subjects.tolist(), targets.tolist(), strict=True)
            )
    with (folder / "attributes.tsv").open("w") as file:
        for attribute in range(ATTRIBUTES):
            count = values // ATTRIBUTES
            subjects = rng.choice(entities, count, replace=False)
            numbers = rng.integers(0, 1_000_000, count)
            file.writelines(
                f"m.{s}\tzipf.value.a{attribute}\t{n}\n"
                for s, n in zip(subjects.tolist(), numbers.tolist(), strict=True)
            )
    return folder


def _type_bounds(entities):
    """Where the entities of each type begin: the first type has three in five."""
    rest = [int(entities * 0.4 * part) for part in _harmonic(TYPES - 1)]
    return np.cumsum([0, entities - sum(rest), *rest])


def _harmonic(count):
    parts = 1 / np.arange(1, count + 1)
    return parts / parts.sum()


def _shares(total, count):
    """Relations are of different sizes: the largest has a dozen times what the smallest has."""
    parts = 1 / np.arange(5, count + 5)
    return (total * parts / parts.sum()).astype(int).tolist()


def _edges(rng, bounds, relation, count):
    """Distinct edges of a relation; its subjects are of one type, its objects of another."""
    subjects, targets = relation % TYPES, (relation * 7 + relation // TYPES) % TYPES
    found = np.empty((2, 0), np.int64)
    for _ in range(50):
        missing = count - found.shape[1]
        if missing <= 0:
            break
        steep = relation % 2  # which of the two ends has the hubs
        drawn = np.stack([
            _zipf(rng, *bounds[subjects : subjects + 2], missing * 2, is_steep=steep == 0),
            _zipf(rng, *bounds[targets : targets + 2], missing * 2, is_steep=steep == 1),
        ])  # fmt: skip
        found = np.unique(np.concatenate([found, drawn], axis=1), axis=1)
    return rng.permutation(found, axis=1)[:, :count]


def _zipf(rng, start, end, count, *, is_steep):
    """Members of a type, the first far more often than the last: the rank is log-uniform.

    Some are drawn evenly, so that small degrees are there as well.
    """
    size = end - start
    exponents = rng.random(count) ** (3 if is_steep else 1)
    ranks = np.minimum(size**exponents, size - 1).astype(np.int64)
    evenly = rng.random(count) < (0.2 if is_steep else 0.7)
    return start + np.where(evenly, rng.integers(0, size, count), ranks)
