"""Arithmetic on sorted arrays of numbers: what every action of the embedded store is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int32]
Positions: TypeAlias = NDArray[np.int64]

_CHUNK = 16_384  # entities between two looks at the clock
_FLAGS_PAY = 32  # a bitmap of all is cheaper than sorting more than one part in so many


def chunks(numbers: Numbers) -> Iterator[Numbers]:
    """Pieces of an array, each of which costs milliseconds at most."""
    for start in range(0, len(numbers), _CHUNK):
        yield numbers[start : start + _CHUNK]


def spans(starts: Positions, ends: Positions) -> Positions:
    """All positions of several ranges, one range after the other.

    Examples:
        >>> spans(np.array([5, 9]), np.array([7, 12])).tolist()
        [5, 6, 9, 10, 11]
    """
    if len(starts) == 1:
        return np.arange(starts[0], ends[0], dtype=np.int64)
    lengths = ends - starts
    total = int(lengths.sum())
    shifts = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    return shifts + np.arange(total, dtype=np.int64)


def distinct(parts: list[Numbers], limit: int) -> Numbers:
    """The numbers below `limit` that are in any of the parts, sorted.

    Examples:
        >>> distinct([np.array([3, 1], np.int32), np.array([1], np.int32)], 5).tolist()
        [1, 3]
    """
    if sum(map(len, parts)) * _FLAGS_PAY < limit:
        together = np.concatenate(parts) if parts else np.empty(0, np.int32)
        return np.unique(together)
    flags = np.zeros(limit, dtype=bool)
    for part in parts:
        flags[part] = True
    return np.flatnonzero(flags).astype(np.int32)
