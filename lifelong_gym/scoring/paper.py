"""The paper's own rules for its own data, so that published numbers can be compared.

They read an answer as text: rows between parentheses, values between commas, in the order
given. They are weak where `scoring.rows` and `scoring.tables` are strict: a name that holds
a comma or a parenthesis can never be right, any prose is right where no row is expected,
and a NULL hides in the checksum of a table. Source: LifelongAgentBench, database task.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from lifelong_gym.core import Grading
from lifelong_gym.scoring.rows import Row, shown

_TOLERANCE = 1e-6
_HASH_LENGTH = 5
_GROUP_CONCAT_MAX_BYTES = 1024
"""MySQL's default `group_concat_max_len`, at which the published checksums were cut."""

_NUMBER_CHARACTERS = frozenset("0123456789.-")
_DECIMAL = re.compile(r"Decimal\(([\"']?)(.*?)[\"']?\)")


class _UnreadableError(ValueError):
    """The parentheses of an answer do not pair up."""


def grade_paper_rows(answer: str, expected: Sequence[Row]) -> Grading:
    """Judges an answer as the paper's validator does."""
    success = _is_right(answer, expected)
    reason = "the answer is right" if success else "the answer differs"
    details = {"rows": success} if success else {"rows": False, "expected": shown(expected)}
    return Grading(success=success, reason=reason, score=float(success), details=details)


def _is_right(answer: str, expected: Sequence[Row]) -> bool:
    try:
        rows = list(_row_texts(answer))
    except _UnreadableError:
        return False
    if not rows and len(expected) <= 1:
        return not expected or _matches(answer, expected[0])
    return len(rows) == len(expected) and all(map(_matches, rows, expected))


def _row_texts(answer: str) -> Iterator[str]:
    """What stands between each pair of parentheses, those of `Decimal(...)` left alone."""
    start: int | None = None
    in_decimal = False
    for index, character in enumerate(answer):
        if character == "(" and answer.endswith("Decimal", 0, index):
            if in_decimal:
                raise _UnreadableError
            in_decimal = True
        elif character == "(":
            start = index + 1
        elif character == ")" and in_decimal:
            in_decimal = False
        elif character == ")":
            if start is None:
                raise _UnreadableError
            yield answer[start:index]
            start = None
    if start is not None:
        raise _UnreadableError


def _matches(text: str, expected: Row) -> bool:
    values = [value for value in (part.strip() for part in text.split(",")) if value]
    return len(values) == len(expected) and all(map(_value_matches, values, expected))


def _value_matches(text: str, expected: object) -> bool:
    if isinstance(expected, int | float):
        number = _number(text)
        return number is not None and math.isclose(
            number, expected, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE
        )
    return isinstance(expected, str) and _unquoted(text, expected) == expected


def _number(text: str) -> float | None:
    if decimal := _DECIMAL.fullmatch(text):
        text = decimal[2]
    inside = [index for index, c in enumerate(text) if c in _NUMBER_CHARACTERS]
    try:
        return float(text[inside[0] : inside[-1] + 1]) if inside else None
    except ValueError:
        return None


def _unquoted(text: str, expected: str) -> str:
    """`text` without one quote at either end, if the expected text has none there."""
    if not 0 < len(text) - len(expected) <= 2:
        return text
    if text[0] in "'\"" and not expected.startswith(text[0]):
        text = text[1:]
    if text and text[-1] in "'\"" and not expected.endswith(text[-1]):
        text = text[:-1]
    return text


def grade_paper_state(joined_rows: Iterable[str] | None, md5: str) -> Grading:
    """Judges a final table by its checksum.

    Args:
        joined_rows: `CONCAT_WS(',', ...)` of every row; None if the table is gone.
        md5: The checksum of the right table.
    """
    found = None if joined_rows is None else table_checksum(joined_rows)
    if found == md5:
        return Grading(success=True, reason="the checksum is right", score=1.0)
    what = "the table is gone" if joined_rows is None else "the checksum differs"
    details = {"expected": md5, "found": str(found)}
    return Grading(success=False, reason=what, details=details)


def table_checksum(joined_rows: Iterable[str]) -> str:
    """`MD5(GROUP_CONCAT(rowhash ORDER BY rowhash))`, as MySQL's functions compute it.

    Each row hash is the first five characters of the MD5 of the row's joined values. MySQL
    cuts the concatenation at 1024 bytes, which is after 170 rows and a half. A table without
    rows is `"None"`: the original reads MySQL's NULL so.

    Examples:
        >>> table_checksum(["1,a", "2,b"])
        'ddb71cb1d2fd01252d2d3e7ccc5fad77'
    """
    hashes = sorted(hashlib.md5(row.encode()).hexdigest()[:_HASH_LENGTH] for row in joined_rows)
    if not hashes:
        return "None"
    joined = ",".join(hashes)[:_GROUP_CONCAT_MAX_BYTES]
    return hashlib.md5(joined.encode()).hexdigest()
