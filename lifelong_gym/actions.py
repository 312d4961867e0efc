"""Reading the one action in an agent's reply.

An environment lists the `Form`s that it understands; `read_action` finds the first one in
a reply, however the model dressed it up. What counts is written down as a table in
`docs/actions.md`, which is the test of this module.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lifelong_gym.conversation import tool_calls

PayloadReader: TypeAlias = Callable[[str, int, int], str | None]
"""Takes a text and a range; returns the payload that begins in the range, or None."""

_MARKS = r"[*_`]{0,3}"  # bold, italics, inline code
_LINE_START = rf"^[ \t]*(?:(?:[-*+>•]|\d+[.)]|\#{{1,6}})[ \t]+)*{_MARKS}"
_COLON = rf"{_MARKS}[ \t]*[:：]{_MARKS}[ \t]*{_MARKS}"
_OBSERVATION = re.compile(rf"{_LINE_START}Observations?{_COLON}", re.MULTILINE | re.IGNORECASE)
_TICKS = re.compile("`{3,}")
_THOUGHT = r"think|thinking|thought|thoughts|reasoning"
_TOKEN = re.compile(
    rf"(?P<ticks>`{{3,}})|(?P<open><(?:{_THOUGHT})>)|(?P<close></(?:{_THOUGHT})>)", re.IGNORECASE
)
_LONGEST_LABEL = 100  # characters that a label with its marks may run past a range
_MOST_CLOSINGS = 32  # tried before the first is taken: keeps a hostile reply from costing time


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent wants done.

    Attributes:
        name: The name of the form, such as `"Operation"`.
        payload: What goes with it: SQL, commands, an answer; empty where there is none.
    """

    name: str
    payload: str = ""


@dataclass(frozen=True, slots=True)
class Invalid:
    """A reply that holds no action.

    Attributes:
        reason: What came and what was expected, in words for the agent.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Form:
    """One form of action.

    Attributes:
        name: What `Action.name` will say.
        words: The marker, two parts around a colon: `("Action", "Operation")`.
        payload: Reads what must follow the marker.
    """

    name: str
    words: tuple[str, str]
    payload: PayloadReader

    @property
    def marker(self) -> str:
        """A regular expression for the marker, without what may stand before it."""
        before, after = (re.escape(word).replace(r"\ ", "[ \t]+") for word in self.words)
        return rf"{before}{_COLON}{after}(?!\w)"


def read_action(text: str, forms: Sequence[Form]) -> Action | None:
    r"""Finds the one action in a reply.

    Thinking sections are stripped. The first marker that begins a line and has its payload
    before the next marker wins; if none begins a line, the first anywhere that has its
    payload. What follows an observation that the agent invented is ignored.

    Args:
        text: The agent's whole reply.
        forms: What the environment understands.

    Returns:
        The action, or None if there is none.

    Examples:
        >>> forms = [Form("Operation", ("Action", "Operation"), fence("sql"))]
        >>> read_action("I look first.\n**Action: Operation**\n```SQL\nSELECT 1;\n```", forms)
        Action(name='Operation', payload='SELECT 1;')
    """
    text = strip_thinking(text.replace("\r\n", "\n"))
    at_line_start, anywhere = _markers(tuple(forms))
    return _first_whole(text, at_line_start, forms) or _first_whole(text, anywhere, forms)


@functools.lru_cache(maxsize=32)
def _markers(forms: tuple[Form, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    choice = "|".join(f"(?P<f{number}>{form.marker})" for number, form in enumerate(forms))
    flags = re.MULTILINE | re.IGNORECASE
    return re.compile(f"{_LINE_START}(?:{choice})", flags), re.compile(rf"\b(?:{choice})", flags)


def _first_whole(text: str, markers: re.Pattern[str], forms: Sequence[Form]) -> Action | None:
    found = list(markers.finditer(text))
    if not found:
        return None
    invented = _OBSERVATION.search(text, found[0].end())
    stop = invented.start() if invented else len(text)
    ends = [*(marker.start() for marker in found[1:]), len(text)]
    for marker, end in zip(found, ends, strict=True):
        if marker.start() > stop:
            return None
        form = forms[int((marker.lastgroup or "f0")[1:])]
        payload = form.payload(text, marker.end(), min(end, stop))
        if payload is not None:
            return Action(form.name, payload)
    return None


def strip_thinking(text: str) -> str:
    """`text` without its thinking sections.

    A section that is never closed runs to the end; one that was opened in the prompt, so
    that only its end is in the reply, begins the text. Tags inside a code fence are code,
    unless a closing tag stands alone on its line.

    Examples:
        >>> strip_thinking("<think>hm</think>Act: finish"), strip_thinking("hm</think>Go")
        ('Act: finish', 'Go')
    """
    kept: list[str] = []
    position = 0
    thinking = False
    fence_end = 0
    for token in _TOKEN.finditer(text):
        if thinking:
            if token["close"]:
                position, thinking = token.end(), False
        elif token.start() < fence_end and not (token["close"] and _stands_alone(text, token)):
            continue
        elif token["ticks"]:
            closings = _closings(text, token)
            fence_end = closings[0].end() if closings else 0
        elif token["close"]:
            kept.clear()
            position, fence_end = token.end(), 0
        else:
            kept.append(text[position : token.start()])
            thinking = True
    return "".join(kept) if thinking else "".join([*kept, text[position:]])


def _stands_alone(text: str, token: re.Match[str]) -> bool:
    before = text[text.rfind("\n", 0, token.start()) + 1 : token.start()]
    return not before.strip() and _ends_line(text, token.end())


def _ends_line(text: str, position: int) -> bool:
    end = text.find("\n", position)
    return not text[position : len(text) if end < 0 else end].strip()


@functools.lru_cache(maxsize=1)
def _line_ending_ticks(text: str) -> tuple[list[int], list[re.Match[str]]]:
    """Where runs of backticks end a line: the places at which a fence can close."""
    ticks = [run for run in _TICKS.finditer(text) if _ends_line(text, run.end())]
    return [run.start() for run in ticks], ticks


def _closings(text: str, opening: re.Match[str]) -> list[re.Match[str]]:
    """Where a fence could close: the first few runs of backticks as long as its own.

    They end their line, or stand on the line of the opening with any words behind them.
    """
    line_end = text.find("\n", opening.end())
    same_line = _TICKS.search(text, opening.end(), len(text) if line_end < 0 else line_end)
    starts, ticks = _line_ending_ticks(text)
    first = bisect.bisect_left(starts, opening.end())
    later = ticks[first : first + _MOST_CLOSINGS]
    candidates = (
        [same_line, *later]
        if same_line and same_line.start() not in starts[first : first + 1]
        else later
    )
    return [run for run in candidates if run and len(run[0]) >= len(opening[0])]


def fence(*tags: str, is_complete: Callable[[str], bool] = lambda payload: True) -> PayloadReader:
    """A payload in a code fence.

    Args:
        *tags: The info strings that count, read without case; a fence without one counts
            as well if its content begins on the next line.
        is_complete: Whether a payload may end where a closing fence stands: a fence inside
            a here-document or a quoted text is part of it.

    Returns:
        A reader of the first such fence that is closed and not blank.
    """
    known = {tag.lower() for tag in tags}

    def read(text: str, start: int, limit: int) -> str | None:
        for opening, closings in _fences(text, start, limit):
            begin = _content_start(text, opening.end(), known)
            if begin is None:
                continue
            payloads = [text[begin : closing.start()] for closing in closings]
            whole = next(filter(is_complete, payloads), payloads[0])
            if whole.strip():
                return whole.strip("\n").rstrip()
        return None

    return read


def _fences(
    text: str, start: int, limit: int
) -> Iterator[tuple[re.Match[str], list[re.Match[str]]]]:
    """Each opening fence in the range with the places where it could close."""
    position = start
    while (opening := _TICKS.search(text, position)) and opening.start() < limit:
        closings = _closings(text, opening)
        if not closings:
            return
        yield opening, closings
        position = closings[0].end()


def _content_start(text: str, position: int, known: set[str]) -> int | None:
    """Where the content of a fence begins; None if its info string is another's."""
    end = text.find("\n", position)
    line = text[position : len(text) if end < 0 else end]
    tag = re.match(r"[ \t]*([^\s`]*)[ \t]*", line)
    if tag is None or (tag[1] and tag[1].lower() not in known):
        return None
    return position + tag.end() if tag[1] or tag.end() == len(line) else None


def labelled(before: str) -> PayloadReader:
    """A payload behind a label and a colon, to the end of the reply.

    Args:
        before: The label, such as `"Final Answer"`; one that begins a line is preferred.
    """
    words = re.escape(before).replace(r"\ ", "[ \t]+")
    flags = re.MULTILINE | re.IGNORECASE
    places = (
        re.compile(rf"{_LINE_START}{words}{_COLON}", flags),
        re.compile(rf"\b{words}{_COLON}", flags),
    )

    def read(text: str, start: int, limit: int) -> str | None:
        for place in places:
            label = place.search(text, start, limit + _LONGEST_LABEL)
            if label and label.start() < limit:
                invented = _OBSERVATION.search(text, label.end())
                return text[label.end() : invented.start() if invented else len(text)].strip()
        return None

    return read


def nothing(text: str, start: int, limit: int) -> str | None:
    """The payload of a marker that stands for itself."""
    return ""


_HERE_DOCUMENT = re.compile(
    r"(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s<>|&;()'\"]+))"
)


def here_documents_end(script: str) -> bool:
    r"""Whether every here-document of a shell script has come to its end.

    Examples:
        >>> here_documents_end("cat <<EOF\n```"), here_documents_end("cat <<EOF\n```\nEOF")
        (False, True)
    """
    waiting: list[tuple[str, bool]] = []
    for line in script.split("\n"):
        if waiting:
            word, tabs = waiting[0]
            if (line.lstrip("\t") if tabs else line) == word:
                waiting.pop(0)
            continue
        waiting = [(m[2] or m[3] or m[4], bool(m[1])) for m in _HERE_DOCUMENT.finditer(line)]
    return not waiting


def read_tool_call(
    text: str, tools: Sequence[Mapping[str, Any]]
) -> Invalid | tuple[str, dict[str, Any]]:
    """Reads the first of an agent's tool calls and checks it against the schemas.

    Args:
        text: A JSON list of OpenAI tool calls.
        tools: The environment's tools; their properties are all of type string.

    Returns:
        The tool's name and its arguments, or why the text is no valid call.
    """
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    calls = tool_calls(text)
    if calls is None:
        return Invalid(
            "no tool call was found. Expected a JSON list of tool calls, one of "
            f"{', '.join(schemas)}."
        )
    name = calls[0]["function"]["name"]
    if name not in schemas:
        return Invalid(f"there is no tool {name!r}. Expected one of {', '.join(schemas)}.")
    try:
        arguments = json.loads(calls[0]["function"]["arguments"] or "{}")
    except (ValueError, RecursionError):
        return Invalid(f"the arguments of {name} are not JSON. Expected a JSON object.")
    problem = _argument_problem(arguments, schemas[name])
    return Invalid(f"{name}: {problem}") if problem else (name, arguments)


def _argument_problem(arguments: object, schema: Mapping[str, Any]) -> str | None:
    properties = schema["properties"]
    if not isinstance(arguments, dict):
        return f"the arguments are {type(arguments).__name__}. Expected a JSON object."
    for name in schema["required"]:
        if name not in arguments:
            return f"the argument {name!r} is missing. Expected {', '.join(properties)}."
    for name, value in arguments.items():
        if name not in properties:
            return f"there is no argument {name!r}. Expected {', '.join(properties) or 'none'}."
        if not isinstance(value, str):
            return f"the argument {name!r} is {type(value).__name__}. Expected a string."
    return None
