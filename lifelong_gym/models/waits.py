"""How long an endpoint wants to be left alone."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping

_TRY_AGAIN = re.compile(
    r"(?:try again in|retry after|retry in|retryDelay\W+)\s*"
    r"((?:\d+(?:\.\d+)?\s*(?:hours?|h|minutes?|m(?!s)|seconds?|s|ms)\s*)+)",
    re.IGNORECASE,
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)", re.IGNORECASE)
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def told_in_headers(headers: Mapping[str, str]) -> float | None:
    """The wait in `Retry-After`, a number or a date, or in `retry-after-ms`; in seconds.

    Args:
        headers: The response's, names in lower case.
    """
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None or (seconds := _number(value)) is not None:
        return None if value is None else seconds
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - time.time())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def told_in_words(text: str) -> float | None:
    """The wait that a message names, in seconds.

    Examples:
        >>> told_in_words("Please try again in 1m2.5s.")
        62.5
    """
    if (found := _TRY_AGAIN.search(text)) is None:
        return None
    parts = _DURATION.findall(found[1])
    return sum(float(number) * _UNITS_S[unit.lower()] for number, unit in parts)
