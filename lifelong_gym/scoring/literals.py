"""Reading the rows in an answer: literals, parsed and never evaluated as code.

What an agent submits is usually a copy of an observation, which is Python's `repr` of a
list of tuples. Every value that such an observation can hold is read back here, and the
plain or SQL forms that agents write as well.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any, NoReturn

_DEEPEST = 16
_MOST_STARTS = 64  # places tried in prose: keeps a hostile answer from costing time

_BLANKS = re.compile(r"\s*")
_STRING = re.compile(  # a doubled quote is one, as in SQL
    r"""(?P<prefix>[bBrRuU]{0,2})"""
    r"""(?:'(?P<single>(?:[^'\\]|\\.|'')*)'|"(?P<double>(?:[^"\\]|\\.|"")*)")""",
    re.DOTALL,
)
_DATE = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)(?:[ T](?P<time>\d\d:\d\d:\d\d(?:\.\d{1,6})?))?(?![\w-])"
)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?(?![\w.])")
_BRACKET = re.compile(r"(?<![\w.])[\[(]")  # not a call's
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ESCAPE = r"\\(\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)"
_SINGLE = re.compile(f"{_ESCAPE}|''", re.DOTALL)
_DOUBLE = re.compile(f'{_ESCAPE}|""', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_CONSTANTS: dict[str, Any] = {"none": None, "null": None, "true": True, "false": False}
_DRESSING = re.compile(r"[\s*_]*(?:`{1,3}(?:python|json|sql|text)?\s*)?", re.IGNORECASE)


class LiteralError(ValueError):
    """A text holds no literal, or an unfinished one."""


def read_literal(text: str) -> Any:
    """The first whole literal in `text`; what comes after it is ignored.

    A literal at the beginning may be of any kind. Behind prose, only a list or a tuple
    counts: a bare number or word there may be part of a sentence.

    Args:
        text: What stands after `Final Answer:`.

    Returns:
        None, a bool, an int, a float, a Decimal, a str, bytes, a date, a datetime, a
        timedelta, or lists and tuples of them.

    Raises:
        LiteralError: There is none.

    Examples:
        >>> read_literal("[('a', Decimal('1.5')), (NULL, datetime.date(2020, 2, 29))] I think")
        [('a', Decimal('1.5')), (None, datetime.date(2020, 2, 29))]
    """
    dressing = _DRESSING.match(text)
    reader = _Reader(text, dressing.end() if dressing else 0)
    try:
        return reader.value()
    except LiteralError as error:
        problem = error
    for _ in range(_MOST_STARTS):
        bracket = _BRACKET.search(text, reader.position)
        if bracket is None or reader.is_broken_list:
            break
        reader = _Reader(text, bracket.start())
        try:
            if isinstance(value := reader.value(), list | tuple):
                return value
        except LiteralError as error:
            problem = error
            reader.position = max(reader.position, bracket.end())
    raise problem


class _Reader:
    """A recursive descent over one literal; after an error, `position` is where it stands."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position
        self._start = position
        self._depth = 0
        self._read = 0

    @property
    def is_broken_list(self) -> bool:
        """Whether a list began and broke off behind its first item: an answer cut short."""
        return self._text.startswith("[", self._start) and self._read > 0

    def value(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise LiteralError(f"the literal is nested more than {_DEEPEST} deep")
        value = self._value()
        self._depth -= 1
        self._read += 1
        return value

    def _value(self) -> Any:
        character = self._peek()
        if character and character in "[(":
            return self._sequence()
        if match := self._take(_STRING):
            return self._strings(match)
        if match := self._take(_DATE):
            return _date(match)
        if match := self._take(_NUMBER):
            return _number(match[0])
        if match := self._take(_NAME):
            return self._named(match[0])
        self._fail()

    def _sequence(self) -> list[Any] | tuple[Any, ...]:
        opening = self._text[self.position]
        closing = {"[": "]", "(": ")"}[opening]
        self.position += 1
        items = []
        has_comma = False
        while self._peek() != closing:
            items.append(self.value())
            if self._peek() == ",":
                has_comma = True
                self.position += 1
            elif self._peek() != closing:
                self._fail()
        self.position += 1
        if opening == "[":
            return items
        return tuple(items) if has_comma or not items else items[0]

    def _strings(self, match: re.Match[str]) -> str | bytes:
        """A string, and those that follow it directly: Python joins them."""
        first = _string(match)
        if isinstance(first, bytes):
            return first
        parts = [first]
        while following := self._take(_STRING):
            part = _string(following)
            if isinstance(part, bytes):
                self._fail("text and bytes do not join")
            parts.append(part)
        return "".join(parts)

    def _named(self, name: str) -> Any:
        if name.lower() in _CONSTANTS:
            return _CONSTANTS[name.lower()]
        if self._peek() != "(":
            self._fail(f"{name!r} is no literal")
        arguments, keywords = self._call()
        try:
            return _construct(name.rpartition(".")[2].lower(), arguments, keywords)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise LiteralError(f"{name}(...) cannot be read: {error}") from None

    def _call(self) -> tuple[list[Any], dict[str, Any]]:
        self.position += 1
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        while self._peek() != ")":
            keyword = self._take(re.compile(r"(days|seconds|microseconds)\s*="))
            value = _scalar(self.value())
            if keyword:
                keywords[keyword[1]] = value
            else:
                arguments.append(value)
            if self._peek() == ",":
                self.position += 1
            elif self._peek() != ")":
                self._fail()
        self.position += 1
        return arguments, keywords

    def _peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        blanks = _BLANKS.match(self._text, self.position)
        self.position = blanks.end() if blanks else self.position
        return self._text[self.position : self.position + 1]

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._peek()
        match = pattern.match(self._text, self.position)
        if match:
            self.position = match.end()
        return match

    def _fail(self, why: str = "") -> NoReturn:
        where = self._text[self.position : self.position + 20]
        raise LiteralError(
            why or (f"no literal at {where!r}" if where else "the literal is unfinished")
        )


def _scalar(value: Any) -> Any:
    if isinstance(value, list | tuple):
        raise LiteralError("a constructor takes no list")
    return value


def _construct(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    if name == "decimal" and len(arguments) == 1 and not keywords:
        if isinstance(arguments[0], str) and not _NUMBER.fullmatch(arguments[0]):
            raise ValueError(f"{arguments[0]!r} is no number")
        return Decimal(str(arguments[0]))
    if name == "timedelta":
        return datetime.timedelta(*arguments, **keywords)
    types = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}
    if name not in types or keywords:
        raise ValueError("not a value that a database returns")
    return types[name](*arguments)


def _date(match: re.Match[str]) -> Any:
    try:
        date = datetime.date.fromisoformat(match["date"])
        if match["time"] is None:
            return date
        return datetime.datetime.combine(date, datetime.time.fromisoformat(match["time"]))
    except ValueError:
        return match[0]  # MySQL has dates that Python has not: 2020-00-00


def _number(text: str) -> int | float | Decimal:
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text) if len(text) < 1000 else Decimal(text)
    return float(text)


def _string(match: re.Match[str]) -> str | bytes:
    is_single = match["single"] is not None
    body, escape = (match["single"], _SINGLE) if is_single else (match["double"], _DOUBLE)
    prefix = match["prefix"].lower()
    text = body if "r" in prefix else escape.sub(_unescape, body)
    if "b" not in prefix:
        return text
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise LiteralError("bytes hold a character above \\xff") from None


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code is None:
        return match[0][0]
    if code[0] in "xuU" and len(code) > 1:
        point = int(code[1:], 16)
        return chr(point) if point < 0x110000 else match[0]
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPES.get(code, code if code in "\\'\"" else match[0])
