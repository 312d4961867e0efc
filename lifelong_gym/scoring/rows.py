"""Comparing rows strictly: by type, aware of NULL, in order only where order counts.

Two values are equal if they are the same text, the same number however it is written
(`1.50`, `Decimal('1.5')`, and the string `'1.5'` beside a number), or both NULL. Dates and
times are equal to the text that MySQL shows for them, bytes that are no text to their digits
behind `0x`. Floats may differ by one part in
10^9, which is the noise of summing in another order.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from lifelong_gym.core import Grading
from lifelong_gym.scoring.literals import LiteralError, read_literal

Row = tuple[Any, ...]

_FLOAT_NOISE = 1e-9
_FLOAT_ZERO = 1e-12
_MOST_LEFT = 500  # rows paired one by one, past those that pair by a key
_SHOWN = 5
_SHOWN_LENGTH = 300
_IN_WRONG_ORDER = 0.9


def read_rows(answer: str) -> list[Row]:
    """The rows that an agent submits.

    A list or a tuple of tuples is rows; a list of plain values is rows of one column; a
    tuple of plain values is one row; a plain value is one row of one column.

    Args:
        answer: What stands after `Final Answer:`.

    Raises:
        LiteralError: It begins with no literal and holds no list or tuple.

    Examples:
        >>> read_rows("[('a', 1), ('b', None)]"), read_rows("['x', 'y']"), read_rows("7")
        ([('a', 1), ('b', None)], [('x',), ('y',)], [(7,)])
    """
    value = read_literal(answer)
    if isinstance(value, list):
        return [_row(item) for item in value]
    if isinstance(value, tuple):
        if value and all(isinstance(item, list | tuple) for item in value):
            return [_row(item) for item in value]
        return [_row(value)] if value else []
    return [(value,)]


def _row(item: Any) -> Row:
    row = tuple(item) if isinstance(item, list | tuple) else (item,)
    if any(isinstance(value, list | tuple) for value in row):
        raise LiteralError("a row holds a list; rows are tuples of plain values")
    return row


def grade_rows(
    answer: str, expected: Sequence[Row], *, ties: Sequence[Hashable] | None = None
) -> Grading:
    """Judges an answer by the rows that are right.

    Args:
        answer: What stands after `Final Answer:`.
        expected: The right rows.
        ties: None if rows may come in any order. Otherwise one key for each expected row:
            the order of the keys counts, and rows under equal keys may change places.

    Returns:
        The verdict; the score is the F1 of the rows, or less where only the order is wrong.
    """
    try:
        rows = read_rows(answer)
    except LiteralError as error:
        return Grading(
            success=False,
            reason=f"the answer is not a list of rows: {error}",
            details={"rows": False},
        )
    missing, unexpected = difference(expected, rows)
    if missing or unexpected:
        return _different(expected, rows, missing, unexpected)
    if ties is not None and not _in_order(rows, expected, ties):
        reason = "the rows are right, but not in the order that was asked for"
        details = {"rows": True, "order": False, "expected": shown(expected)}
        return Grading(success=False, reason=reason, score=_IN_WRONG_ORDER, details=details)
    return Grading(success=True, reason="the rows are right", score=1.0, details={"rows": True})


def grade_values(answer: str, expected: Sequence[Row]) -> Grading:
    """Judges an answer by the values of all rows together, whatever rows they stand in."""
    try:
        rows = [(value,) for row in read_rows(answer) for value in row]
    except LiteralError as error:
        reason = f"the answer is not a list of values: {error}"
        return Grading(success=False, reason=reason, details={"rows": False})
    values = [(value,) for row in expected for value in row]
    missing, unexpected = difference(values, rows)
    if missing or unexpected:
        return _different(values, rows, missing, unexpected)
    return Grading(success=True, reason="the values are right", score=1.0, details={"rows": True})


def _different(
    expected: Sequence[Row], rows: Sequence[Row], missing: list[Row], unexpected: list[Row]
) -> Grading:
    common = len(expected) - len(missing)
    score = 2 * common / (len(expected) + len(rows))
    return Grading(
        success=False,
        reason=f"rows missing: {len(missing)} of {len(expected)}; "
        f"rows that are not right: {len(unexpected)} of {len(rows)}",
        score=min(score, _IN_WRONG_ORDER),
        details={"rows": False, "missing": shown(missing), "unexpected": shown(unexpected)},
    )


def _in_order(rows: Sequence[Row], expected: Sequence[Row], ties: Sequence[Hashable]) -> bool:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for position, key in enumerate(ties):
        groups[key].append(position)
    return all(
        difference([expected[i] for i in group], [rows[i] for i in group]) == ([], [])
        for group in groups.values()
    )


def difference(expected: Iterable[Row], rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of each side that have no partner on the other, as multisets.

    Examples:
        >>> difference([(1, "a"), (2, None)], [("1", "a"), (2, "NULL")])
        ([(2, None)], [(2, 'NULL')])
    """
    left, right = list(expected), list(rows)
    left, right = _unpaired(left, right, _exact_key)
    left, right = _unpaired(left, right, _loose_key)
    if len(left) > _MOST_LEFT or len(right) > _MOST_LEFT:
        return left, right
    return _unpaired(left, right, len)


def _unpaired(left: list[Row], right: list[Row], key: Any) -> tuple[list[Row], list[Row]]:
    """Pairs equal rows under the same key, first come first served."""
    waiting: dict[Hashable, list[Row]] = defaultdict(list)
    for row in right:
        waiting[key(row)].append(row)
    lonely = []
    for row in left:
        partners = waiting[key(row)]
        index = next((i for i in range(len(partners)) if equal_rows(row, partners[i])), None)
        if index is None:
            lonely.append(row)
        else:
            partners.pop(index)
    left_over = Counter(id(row) for partners in waiting.values() for row in partners)
    return lonely, [row for row in right if left_over[id(row)]]


def _exact_key(row: Row) -> Hashable:
    return tuple((type(value).__name__, value) for value in row)


def _loose_key(row: Row) -> Hashable:
    return tuple(map(_loose_value, row))


def _loose_value(value: Any) -> Hashable:
    value = plain(value)
    number = _as_number(value)
    return _hex(value) or value if number is None else f"{number:.6g}"


def equal_rows(left: Row, right: Row) -> bool:
    """Whether two rows have equal values in the same order."""
    return len(left) == len(right) and all(map(equal_values, left, right))


def equal_values(left: Any, right: Any) -> bool:
    """Whether two values are the same to a strict judge.

    Examples:
        >>> equal_values("5", 5), equal_values("5", "5.0"), equal_values(None, "None")
        (True, False, False)
    """
    left, right = plain(left), plain(right)
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, bytes) or isinstance(right, bytes):
        return bool(left == right) or _hex(left) == right or left == _hex(right)
    if left is None or right is None:
        return left is right
    numbers = _as_number(left), _as_number(right)
    if numbers[0] is None or numbers[1] is None:
        return bool(left == right)
    if numbers[0] == numbers[1]:
        return True
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(
            float(numbers[0]), float(numbers[1]), rel_tol=_FLOAT_NOISE, abs_tol=_FLOAT_ZERO
        )
    return False


def plain(value: Any) -> Any:
    """A value as None, a number, a text, or bytes that are no text."""
    if isinstance(value, datetime.timedelta):
        return time_text(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return bytes(value)
    return value


def time_text(value: datetime.timedelta) -> str:
    """A time as MySQL shows it: `-01:02:03`, `100:00:00.500000`."""
    sign = "-" if value < datetime.timedelta(0) else ""
    seconds, microseconds = divmod(abs(value) // datetime.timedelta(microseconds=1), 1_000_000)
    text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{microseconds:06}" if microseconds else text


def _hex(value: Any) -> str | None:
    """Bytes as JSON can hold them: `0xff00`."""
    return f"0x{value.hex()}" if isinstance(value, bytes) else None


def _as_number(value: Any) -> Decimal | None:
    """The number that a plain value is or spells."""
    if isinstance(value, bool | int | Decimal):
        return Decimal(value)
    if not isinstance(value, float | str) or (
        isinstance(value, str) and (not value.isascii() or value != value.strip())
    ):
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in str(value) else None


def shown(rows: Sequence[Row]) -> str:
    """A few rows for `info["grading"]`, cut to a readable length."""
    text = str([tuple(row) for row in rows[:_SHOWN]])
    text = text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."
    return text if len(rows) <= _SHOWN else f"{text} and {len(rows) - _SHOWN} more"
