"""Building an index from triples."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lifelong_gym.backends.graph.arrays import Numbers, chunks, distinct, spans
from lifelong_gym.backends.graph.contract import narrowest
from lifelong_gym.backends.graph.index import Edges, Index, Texts
from lifelong_gym.backends.graph.sources import Triple
from lifelong_gym.backends.graph.terms import (
    RANGE_PREDICATES,
    SCHEMA_PREDICATES,
    TYPE_PREDICATES,
    Literal,
)
from lifelong_gym.backends.graph.values import DATE, NUMBER, order_key

_Columns: TypeAlias = "tuple[array[int], array[int], array[int]]"


class IndexBuilder:
    """Takes triples, in any order and any number of times each, and makes an index of them."""

    _ids: dict[str, int]
    _predicates: dict[str, int]
    _literals: dict[Literal, int]
    _relations: _Columns
    _values: _Columns

    def __init__(self) -> None:
        self._empty()

    def _empty(self) -> None:
        self._ids, self._predicates, self._literals = {}, {}, {}
        self._relations = (array("i"), array("i"), array("i"))
        self._values = (array("i"), array("i"), array("i"))

    def add(self, triples: Iterable[Triple]) -> None:
        """Adds triples; ids are as `terms.normal_id` has them."""
        ids, predicates, literals = self._ids, self._predicates, self._literals
        to_entity = tuple(column.append for column in self._relations)
        to_value = tuple(column.append for column in self._values)
        for subject, predicate, target in triples:
            if isinstance(target, str):
                append, number = to_entity, ids.setdefault(target, len(ids))
            else:
                append, number = to_value, literals.setdefault(target, len(literals))
            append[0](ids.setdefault(subject, len(ids)))
            append[1](predicates.setdefault(predicate, len(predicates)))
            append[2](number)

    def finish(self) -> Index:
        """The index of what was added; the builder is empty afterwards."""
        names, rank = _sorted(self._ids)
        predicates, predicate_rank = _sorted(self._predicates)
        same = np.arange(len(self._literals), dtype=np.int32)
        relations = _edges(self._relations, rank, predicate_rank, rank)
        values = _edges(self._values, rank, predicate_rank, same)
        literals, kinds, keys = _literal_table(list(self._literals))
        index = Index(
            ids=_texts([name.encode() for name in names]),
            relations=relations,
            values=values,
            literals=literals,
            kinds=kinds,
            keys=keys,
            predicates=tuple(predicates),
            ranges={},
            triples=len(relations.target) + len(values.target),
        )
        self._empty()
        index.ranges.update(_ranges(index))
        return index


def _sorted(numbers: dict[str, int]) -> tuple[list[str], Numbers]:
    """The names in the order of their code points, and the new number of each old one."""
    names = sorted(numbers)
    rank = np.empty(len(names), np.int32)
    rank[[numbers[name] for name in names]] = np.arange(len(names), dtype=np.int32)
    return names, rank


def _texts(parts: Sequence[bytes]) -> Texts:
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return Texts(np.frombuffer(b"".join(parts), np.uint8), starts)


def _edges(
    columns: _Columns,
    subject_rank: Numbers,
    predicate_rank: Numbers,
    target_rank: Numbers,
) -> Edges:
    raw = [np.frombuffer(column, np.int32) for column in columns]
    subject, predicate = subject_rank[raw[0]], predicate_rank[raw[1]]
    target = target_rank[raw[2]]
    order = np.lexsort((target, predicate, subject))
    subject, predicate, target = subject[order], predicate[order], target[order]
    same_group = (subject[1:] == subject[:-1]) & (predicate[1:] == predicate[:-1])
    is_new = np.ones(len(subject), bool)
    is_new[1:] = ~(same_group & (target[1:] == target[:-1]))
    opens = np.ones(len(subject), bool)
    opens[1:] = ~same_group
    subject, predicate, target, opens = (
        subject[is_new],
        predicate[is_new],
        target[is_new],
        opens[is_new],
    )
    start = np.append(np.flatnonzero(opens), len(target)).astype(np.int64)
    per_subject = np.bincount(subject[opens], minlength=len(subject_rank))
    first = np.zeros(len(subject_rank) + 1, np.int64)
    np.cumsum(per_subject, out=first[1:])
    return Edges(first, predicate[opens], start, target)


def _literal_table(
    literals: list[Literal],
) -> tuple[Texts, NDArray[np.uint8], NDArray[np.float64]]:
    kinds = np.zeros(len(literals), np.uint8)
    keys = np.zeros(len(literals), np.float64)
    for number, literal in enumerate(literals):
        if (key := order_key(literal)) is not None:
            kinds[number] = key[0]
            if key[0] in (NUMBER, DATE):
                keys[number] = rounded(key[1])
    return _texts(["\0".join(literal).encode() for literal in literals]), kinds, keys


def rounded(key: object) -> float:
    """A number as the nearest float: never out of order, though it may tie."""
    try:
        return float(key)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if key > 0 else float("-inf")  # type: ignore[operator]


def _ranges(index: Index) -> dict[str, str]:
    """Declared ranges, and those that the types of the objects tell."""
    numbers = {name: number for number, name in enumerate(index.predicates)}
    ranges = _declared(index, [numbers[p] for p in RANGE_PREDICATES if p in numbers])
    types = [numbers[name] for name in TYPE_PREDICATES if name in numbers]
    if types:
        typed = _TypeTable(index, types)
        for name, number in numbers.items():
            if name not in ranges and name not in SCHEMA_PREDICATES:
                found = typed.of_objects(number)
                ranges.update({name: found} if found is not None else {})
    return ranges


def _declared(index: Index, predicates: list[int]) -> dict[str, str]:
    ranges: dict[str, str] = {}
    for predicate in predicates:
        for group in np.flatnonzero(index.relations.predicate == predicate):
            subject = int(np.searchsorted(index.relations.first, group, side="right")) - 1
            targets = index.relations.target[
                index.relations.start[group] : index.relations.start[group + 1]
            ]
            name = min(map(index.entity_id, targets.tolist()))
            relation = index.entity_id(subject)
            ranges[relation] = min(name, ranges.get(relation, name))
    return ranges


class _TypeTable:
    """Which types entities have, for telling the ranges of relations."""

    def __init__(self, index: Index, predicates: list[int]) -> None:
        self._index = index
        edges = index.relations
        groups = np.flatnonzero(np.isin(edges.predicate, predicates))
        subjects = np.searchsorted(edges.first, groups, side="right").astype(np.int32) - 1
        lengths = edges.start[groups + 1] - edges.start[groups]
        pairs = np.stack(
            [
                np.repeat(subjects, lengths),
                edges.target[spans(edges.start[groups], edges.start[groups + 1])],
            ]
        )
        subject, self._type = np.unique(pairs, axis=1) if pairs.size else pairs
        self._first = np.searchsorted(subject, np.arange(len(index.ids) + 1)).astype(np.int64)
        self._sizes = np.bincount(self._type, minlength=len(index.ids))

    def of_objects(self, predicate: int) -> str | None:
        edges = self._index.relations
        groups = np.flatnonzero(edges.predicate == predicate)
        targets = distinct(
            [
                edges.target[spans(edges.start[part], edges.start[part + 1])]
                for part in chunks(groups.astype(np.int32))
            ],
            len(self._index.ids),
        )
        typed = targets[self._first[targets] < self._first[targets + 1]]
        types = self._type[spans(self._first[typed], self._first[typed + 1])]
        counted = np.bincount(types, minlength=1)
        name = self._index.entity_id
        counts = {int(number): int(counted[number]) for number in np.flatnonzero(counted)}
        return narrowest(
            {name(number): count for number, count in counts.items()},
            len(typed),
            {name(number): int(self._sizes[number]) for number in counts},
        )
