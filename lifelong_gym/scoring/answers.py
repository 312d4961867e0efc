"""Judging a set of entities: it has to be exactly the right one."""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from lifelong_gym.backends.graph.terms import normal_id
from lifelong_gym.core import Grading

_NUMBER = re.compile(r"[+-]?[0-9]{1,100}(?:\.0*)?")
_SHOWN = 5
_MOST_PARTIAL = 0.9
"""What a wrong answer is worth at most to `Grading.score`: 1 is for a right one."""


def grade_set(
    answer: AbstractSet[str] | None, expected: Collection[str], *, is_count: bool = False
) -> Grading:
    """Judges the set that an agent submitted.

    Args:
        answer: Its ids, or one number; None if nothing was submitted.
        expected: The right ids, or one number.
        is_count: Whether the answer is a number: an entity whose id spells one is none.

    Returns:
        The verdict, with `f1`, `precision` and `recall`; two empty sets are equal.

    Examples:
        >>> grade_set({"m.1", "m.2"}, ["m.1"]).details["precision"]
        0.5
    """
    plain = _number if is_count else normal_id
    right = {plain(item.strip()) for item in expected}
    if answer is None:
        details = {"f1": 0.0, "precision": 0.0, "recall": 0.0, "expected": len(right)}
        return Grading(success=False, reason="no answer was submitted", details=details)
    given = {plain(item.strip()) for item in answer}
    common = len(given & right)
    measures = _measures(common, len(given), len(right))
    details = {**measures, "submitted": len(given), "expected": len(right)}
    if given == right:
        return Grading(
            success=True, reason="the answer is the right set", score=1.0, details=details
        )
    reason = f"{_some(right - given, 'missing')}, {_some(given - right, 'wrong')}"
    score = min(measures["f1"], _MOST_PARTIAL)
    return Grading(success=False, reason=reason, score=score, details=details)


def _number(text: str) -> str:
    """A number without its zeros; what is none, as it stands."""
    return str(int(text.partition(".")[0])) if _NUMBER.fullmatch(text) else f"entity {text}"


def _measures(common: int, given: int, right: int) -> dict[str, float]:
    precision = common / given if given else float(not right)
    recall = common / right if right else float(not given)
    both = precision + recall
    return {
        "f1": 2 * precision * recall / both if both else 0.0,
        "precision": precision,
        "recall": recall,
    }


def _some(ids: AbstractSet[str], what: str) -> str:
    shown = ", ".join(sorted(ids)[:_SHOWN])
    more = ", ..." if len(ids) > _SHOWN else ""
    return f"{len(ids)} {what}" + (f" ({shown}{more})" if ids else "")
