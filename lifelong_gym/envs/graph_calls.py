"""Reading `name(argument, argument)`: what an agent wants done to a graph.

An argument is a name of one of the task's entities, the longest that fits, so that names
with commas, parentheses, quotes and `#` work; else a variable; else whatever stands before
the next comma or the closing parenthesis.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

_NAME = re.compile(r"[*_`]{0,3}(\w+)[ \t]*\(")
_SUBMITTED = re.compile(r"(?:var(?:iable)?\s*)?[#＃]\s*[^\s,;*`_)]*", re.IGNORECASE)
_VARIABLE = re.compile(r"(?:var(?:iable)?\s*)?#\s*([0-9]{1,9})", re.IGNORECASE)
_VARIABLE_LIKE = re.compile(r"(?:var(?:iable)?\s*)?[#＃]", re.IGNORECASE)
_END = re.compile(r"\s*([,)])")
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_LONGEST = 4000  # characters of a call that are read


def call_payload(text: str, start: int, limit: int) -> str | None:
    """The payload of `Action:`, a name and what stands in and behind its parentheses."""
    found = _NAME.match(text, start, limit)
    return text[start:limit] if found and ")" in text[found.end() : limit] else None


def variable_payload(text: str, start: int, limit: int) -> str | None:
    """The payload of `Final Answer:`, whatever begins like a variable: `#0`, `#-1`."""
    found = _SUBMITTED.match(text, start, limit)
    return found[0].rstrip(".!?") if found else None


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was written.

    Attributes:
        name: What is called.
        arguments: The arguments, blanks and quotes around them apart.
        is_closed: Whether its closing parenthesis was found.
    """

    name: str
    arguments: tuple[str, ...]
    is_closed: bool = True

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(clipped, self.arguments))})"


def read_call(text: str, names: Mapping[str, str]) -> Call:
    """The call that `text` begins with.

    Args:
        text: Begins with a name and a parenthesis.
        names: The names of the task's entities.

    Examples:
        >>> read_call("get_relations(Paris, Texas (film))", {"Paris, Texas (film)": "m.1"})
        Call(name='get_relations', arguments=('Paris, Texas (film)',), is_closed=True)
        >>> read_call("intersection( #0 ,#1 ) as said", {}).arguments
        ('#0', '#1')
    """
    found = _NAME.match(text)
    if not found:
        raise ValueError("the reader of actions finds a name")
    text = text[: found.end() + _LONGEST]
    # The question's list shows names as Python writes them: `O\'Hara "Jr."` is one, too.
    spelled = {repr(name)[1:-1]: name for name in names} | {name: name for name in names}
    longest_first = sorted(spelled.items(), key=lambda pair: len(pair[0]), reverse=True)
    arguments: list[str] = []
    position, is_closed = found.end(), False
    while not is_closed:
        position += len(text[position:]) - len(text[position:].lstrip())
        argument, position = _argument(text, position, longest_first)
        end = _END.match(text, position)
        arguments.append(argument)
        if end is None:
            break
        position, is_closed = end.end(), end[1] == ")"
    if arguments == [""]:
        arguments = []
    return Call(found[1], tuple(arguments), is_closed)


def _argument(text: str, position: int, names: list[tuple[str, str]]) -> tuple[str, int]:
    """The argument that begins at a position, and where it ends."""
    for spelling, name in names:
        for before, after in (("", ""), *_QUOTES.items()):
            written = f"{before}{spelling}{after}"
            if text.startswith(written, position) and _END.match(text, position + len(written)):
                return name, position + len(written)
    end = _plain_end(text, position)
    return _unquoted(text[position:end].strip()), end


def _plain_end(text: str, position: int) -> int:
    """Where an argument that is no name ends: at a comma or at the parenthesis that closes."""
    depth = 0
    for place in range(position, len(text)):
        character = text[place]
        if depth == 0 and character in ",)":
            return place
        depth += (character == "(") - (character == ")")
    return len(text)


def plain_argument(argument: str, names: Container[str]) -> str:
    """An argument of a tool call without blanks and quotes around it, unless it is a name."""
    return argument if argument in names else _unquoted(argument.strip())


def _unquoted(argument: str) -> str:
    if len(argument) > 1 and _QUOTES.get(argument[0]) == argument[-1]:
        return argument[1:-1].strip()
    return argument


def variable_number(argument: str) -> int | None:
    """The number of the variable that an argument names; None if it names none.

    Examples:
        >>> variable_number("#0"), variable_number("Variable #12"), variable_number("C#")
        (0, 12, None)
    """
    found = _VARIABLE.fullmatch(argument.strip())
    return int(found[1]) if found else None


def looks_like_variable(argument: str) -> bool:
    """Whether an argument was meant as a variable, though it may name none: `#-1`, `#０`."""
    return _VARIABLE_LIKE.match(argument.strip()) is not None


def clipped(text: str) -> str:
    """A text of an agent as observations repeat it: on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}..."
