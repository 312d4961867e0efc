"""Comparing two states of a database: tables, columns and rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lifelong_gym.backends.database.contract import Snapshot, TableState
from lifelong_gym.core import Grading
from lifelong_gym.scoring.rows import shown

_BEST_PARTIAL = 0.99


def grade_state(found: Snapshot, expected: Snapshot) -> Grading:
    """Judges a whole database by the one that the reference SQL leaves.

    Tables, their columns with types, keys and defaults, views, and the multiset of rows must
    be the same. Both
    snapshots come from the same server, so values are compared as they are.

    Args:
        found: What the agent left.
        expected: What is right.

    Returns:
        The verdict; the score is 0 for a wrong state, see `progress` for partial credit.
    """
    if cut := [name for name, table in [*found.items(), *expected.items()] if table.is_cut]:
        return _wrong(f"the table {cut[0]!r} is too large to be compared")
    if found == expected:
        return _right()
    for name in expected:
        if name not in found:
            return _wrong(f"the table {name!r} is gone")
    for name in found:
        if name not in expected:
            return _wrong(f"there is a table {name!r} that should not be")
    for name, table in expected.items():
        if (wrong := _grade_table(name, found[name], table)) is not None:
            return wrong
    return _right()


def _right() -> Grading:
    details = {"state": True}
    return Grading(success=True, reason="the database is right", score=1.0, details=details)


def _wrong(reason: str, **details: Any) -> Grading:
    return Grading(success=False, reason=reason, details={"state": False, **details})


def _grade_table(name: str, found: TableState, expected: TableState) -> Grading | None:
    if found.kind != expected.kind:
        return _wrong(f"{name!r} is a {found.kind.lower()}, not a {expected.kind.lower()}")
    if found.columns != expected.columns:
        return _wrong(
            f"the columns of {name!r} are not what they should be",
            expected=str(expected.columns),
            found=str(found.columns),
        )
    if found.definition != expected.definition:
        what = "the view" if found.kind == "VIEW" else "a key or an option of"
        return _wrong(
            f"{what} {name!r} is not what it should be",
            expected=expected.definition,
            found=found.definition,
        )
    missing = Counter(expected.rows) - Counter(found.rows)
    unexpected = Counter(found.rows) - Counter(expected.rows)
    if not missing and not unexpected:
        return None
    return _wrong(
        f"in {name!r}, rows missing: {missing.total()}; rows not right: {unexpected.total()}",
        missing=shown(list(missing.elements())),
        unexpected=shown(list(unexpected.elements())),
    )


def progress(initial: Snapshot, found: Snapshot, expected: Snapshot) -> float:
    """How much of the way from the initial to the right state was made, below 1.

    Args:
        initial: The state at the start of the task.
        found: What the agent left.
        expected: What is right.

    Returns:
        0 for a state no nearer than the initial one.
    """
    whole = _distance(initial, expected)
    if not whole:
        return 0.0
    return min(max(1 - _distance(found, expected) / whole, 0.0), _BEST_PARTIAL)


def _distance(left: Snapshot, right: Snapshot) -> int:
    """How many tables, columns and rows only one of two states has."""
    total = 0
    for name in left.keys() | right.keys():
        if name not in left or name not in right:
            total += 1 + len((left.get(name) or right[name]).rows)
            continue
        ours, theirs = left[name], right[name]
        total += len(set(ours.columns) ^ set(theirs.columns))
        rows, others = Counter(ours.rows), Counter(theirs.rows)
        total += (rows - others).total() + (others - rows).total()
    return total
