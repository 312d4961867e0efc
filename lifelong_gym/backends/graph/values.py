"""In which order the values of an attribute stand, the same on every backend.

Numbers compare as numbers, dates as dates (a year or a month by the start of its period,
a time without a zone as UTC), anything else as text by code points. Where the values of an
attribute are of several kinds, numbers go before dates and dates before texts, and only
those of the first kind take part. An ill-typed literal takes no part, nor does NaN.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from lifelong_gym.backends.graph.contract import Deadline
from lifelong_gym.backends.graph.terms import LANG_STRING, STRING, XSD, Literal

Key: TypeAlias = "int | float | Decimal | Fraction | str"
"""What compares within one kind."""

NUMBER, DATE, TEXT = 1, 2, 3
"""The kinds, in the order in which they take part."""

_INTEGERS = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,2000}(?:\.[0-9]{0,2000})?|\.[0-9]{1,2000})")
_FLOAT = re.compile(r"[+-]?(?:INF|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_ZONE = r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?"
_YEAR = r"(?P<year>-?[0-9]{4,9})"
_DAY = rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})"
_CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]{1,30})?)"
_DATES = {
    XSD + "gYear": re.compile(_YEAR + _ZONE),
    XSD + "gYearMonth": re.compile(rf"{_YEAR}-(?P<month>[0-9]{{2}}){_ZONE}"),
    XSD + "date": re.compile(_DAY + _ZONE),
    XSD + "dateTime": re.compile(rf"{_DAY}T{_CLOCK}{_ZONE}"),
}
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EPOCH = 719_528  # what the sum below is on 1970-01-01
_DEADLINE_EVERY = 4096


def order_key(literal: Literal) -> tuple[int, Key] | None:
    """The kind of a value and what compares within it; None if it takes no part.

    Examples:
        >>> order_key(Literal("007", XSD + "integer"))
        (1, 7)
        >>> order_key(Literal("1970", XSD + "gYear"))
        (2, Fraction(0, 1))
        >>> order_key(Literal("tall", XSD + "integer")) is None
        True
    """
    text, datatype = literal.text, literal.datatype
    if datatype in (STRING, LANG_STRING):
        return TEXT, text
    if datatype in _DATES:
        instant = _instant(_DATES[datatype].fullmatch(text.strip()))
        return None if instant is None else (DATE, instant)
    number = _number(text.strip(), datatype)
    return None if number is None else (NUMBER, number)


def _number(text: str, datatype: str) -> Key | None:
    if datatype in _INTEGERS:
        return int(text) if _INTEGER.fullmatch(text) else None
    if datatype == XSD + "decimal":
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    if datatype not in (XSD + "double", XSD + "float") or not _FLOAT.fullmatch(text):
        return None
    return float(text) if datatype == XSD + "double" else _single(float(text))


def _single(number: float) -> float:
    """A double as a float of 32 bits, as a server may keep it."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _instant(found: re.Match[str] | None) -> Fraction | None:
    """Seconds from 1970-01-01 UTC to the start of the period, of any year."""
    if found is None:
        return None
    parts = found.groupdict()
    year, month, day = int(parts["year"]), *(int(parts.get(name) or 1) for name in ("month", "day"))
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] + (
        month == 2 and _is_leap(year)
    ):
        return None
    hour, minute = int(parts.get("hour") or 0), int(parts.get("minute") or 0)
    second = Fraction(parts.get("second") or 0)
    if hour > 24 or minute > 59 or second >= 60 or (hour == 24 and (minute or second)):
        return None
    clock = hour * 3600 + minute * 60 + second
    return _days(year, month, day) * 86_400 + clock - _offset_s(parts.get("zone"))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 in the proleptic Gregorian calendar, year 0 included."""
    before = year - 1
    days = 365 * year + before // 4 - before // 100 + before // 400
    days += sum(_MONTH_DAYS[: month - 1]) + (month > 2 and _is_leap(year)) + day
    return days - _EPOCH


def _offset_s(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    sign = -1 if str(zone)[0] == "-" else 1
    return sign * (int(str(zone)[1:3]) * 3600 + int(str(zone)[4:6]) * 60)


def extreme(
    pairs: Iterable[tuple[str, Literal]], *, largest: bool, deadline: Deadline
) -> frozenset[str]:
    """The entities with the largest or smallest value, all of them where several tie.

    Args:
        pairs: Entities and their values; an entity may have several.
        largest: Which end is wanted.
        deadline: When to stop.
    """
    kind, best, holders = TEXT + 1, None, set[str]()
    for count, (entity, literal) in enumerate(pairs):
        if count % _DEADLINE_EVERY == 0:
            deadline.check()
        if (key := order_key(literal)) is None or key[0] > kind:
            continue
        value: Key = key[1]
        if key[0] < kind or best is None or _is_beyond(value, best, largest):
            kind, best, holders = key[0], value, {entity}
        elif value == best:
            holders.add(entity)
    return frozenset(holders)


def _is_beyond(value: Key, best: Key, largest: bool) -> bool:
    return bool(value > best if largest else value < best)  # type: ignore[operator]
