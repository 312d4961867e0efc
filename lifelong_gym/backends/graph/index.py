"""The index of the embedded store: a graph as sorted arrays, in memory or mapped from files.

Entities and literals are numbers. The edges of an entity lie together, grouped by their
predicate, so that a step of a hundred thousand entities is a few operations on arrays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifelong_gym.backends.graph.arrays import Numbers, Positions, chunks, distinct, spans
from lifelong_gym.backends.graph.contract import Deadline
from lifelong_gym.backends.graph.terms import Literal

_META = "index.json"
FORMAT = 1
"""The version of the files: raised when old ones would be read wrongly."""


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Many texts in one block of bytes.

    Attributes:
        block: Their UTF-8 bytes, one after the other.
        starts: Where each begins, and where the last ends.
    """

    block: NDArray[np.uint8]
    starts: Positions

    def __len__(self) -> int:
        return len(self.starts) - 1

    def raw(self, number: int) -> bytes:
        """The bytes of one text."""
        return self.block[self.starts[number] : self.starts[number + 1]].tobytes()

    def find(self, text: str) -> int | None:
        """The number of a text, where the texts are sorted by their bytes."""
        wanted, low, high = text.encode(), 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.raw(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self) and self.raw(low) == wanted else None


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Edges from entities to numbers, grouped by subject and predicate.

    Attributes:
        first: For each entity where its groups begin, and where the last ends.
        predicate: The predicate of each group; rising within an entity.
        start: Where the targets of each group begin, and where the last ends.
        target: The targets, rising within a group.
    """

    first: Positions
    predicate: Numbers
    start: Positions
    target: Numbers

    def groups(self, subjects: Numbers) -> Positions:
        """The groups of some entities, in the order of the entities."""
        return spans(self.first[subjects], self.first[subjects + 1])

    def predicates(self, subjects: Numbers, deadline: Deadline, limit: int) -> Numbers:
        """The predicates of any of these entities."""
        found = []
        for chunk in chunks(subjects):
            deadline.check()
            found.append(distinct([self.predicate[self.groups(chunk)]], limit))
        return distinct(found, limit)

    def targets(
        self, subjects: Numbers, predicate: int, deadline: Deadline
    ) -> Iterator[tuple[Numbers, Numbers]]:
        """Sources and targets of the edges from these entities, in pieces."""
        for chunk in chunks(subjects):
            deadline.check()
            groups = self.groups(chunk)
            counts = self.first[chunk + 1] - self.first[chunk]
            chosen = self.predicate[groups] == predicate
            groups, sources = groups[chosen], np.repeat(chunk, counts)[chosen]
            starts, ends = self.start[groups], self.start[groups + 1]
            yield np.repeat(sources, ends - starts), self.target[spans(starts, ends)]


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A whole graph.

    Attributes:
        ids: The ids of the entities, sorted.
        relations: Edges to entities.
        values: Edges to literals.
        literals: Lexical form, datatype and language of each literal, NUL between them.
        kinds: The kind of each literal as `values` has it; 0 takes no part.
        keys: The order key of each literal, rounded to a float.
        predicates: The predicates by number, sorted.
        ranges: Relation to the type that it leads to.
        triples: How many triples there are.
    """

    ids: Texts
    relations: Edges
    values: Edges
    literals: Texts
    kinds: NDArray[np.uint8]
    keys: NDArray[np.float64]
    predicates: tuple[str, ...]
    ranges: dict[str, str]
    triples: int

    def literal(self, number: int) -> Literal:
        """A literal."""
        text, datatype, language = self.literals.raw(number).decode().rsplit("\0", 2)
        return Literal(text, datatype, language)

    def entity_id(self, number: int) -> str:
        """The id of an entity."""
        return self.ids.raw(number).decode()

    def save(self, folder: Path) -> None:
        """Writes the arrays and what describes them into `folder`."""
        for name, array in _arrays(self):
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        meta = {
            "format": FORMAT,
            "triples": self.triples,
            "predicates": self.predicates,
            "ranges": self.ranges,
        }
        (folder / _META).write_text(json.dumps(meta, ensure_ascii=False), encoding="utf-8")


def _arrays(index: Index) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in ("ids", "relations", "values", "literals"):
        part = getattr(index, name)
        yield from ((f"{name}.{field.name}", getattr(part, field.name)) for field in fields(part))
    yield "kinds", index.kinds
    yield "keys", index.keys


def is_saved(folder: Path) -> bool:
    """Whether `folder` holds an index."""
    return (folder / _META).is_file()


def load(folder: Path) -> Index:
    """The index that `folder` holds, mapped: opening costs milliseconds whatever its size.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file is damaged or of another format.
    """
    meta = json.loads((folder / _META).read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"format {meta['format']!r}, expected {FORMAT}")

    def array(name: str) -> NDArray[Any]:
        # A plain array over the mapping: memmap's own indexing costs ten times as much.
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))

    def texts(name: str) -> Texts:
        return Texts(array(f"{name}.block"), array(f"{name}.starts"))

    def edges(name: str) -> Edges:
        return Edges(*(array(f"{name}.{field.name}") for field in fields(Edges)))

    return Index(
        ids=texts("ids"),
        relations=edges("relations"),
        values=edges("values"),
        literals=texts("literals"),
        kinds=array("kinds"),
        keys=array("keys"),
        predicates=tuple(meta["predicates"]),
        ranges=meta["ranges"],
        triples=meta["triples"],
    )
