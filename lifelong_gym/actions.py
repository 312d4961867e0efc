"""Reading the one action in an agent's reply.

An environment lists the `Form`s that it understands; `read_action` finds the first one in
a reply, however the model dressed it up. What counts is written down as a table in
`docs/actions.md`, which is the test of this module.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from lifelong_gym.fences import PayloadReader, closings_of, ends_line

_MARKS = r"[*_`]{0,3}"  # bold, italics, inline code
_LINE_START = rf"^[ \t]*(?:(?:[-*+>•]|\d+[.)]|\#{{1,6}})[ \t]+)*{_MARKS}"
_COLON = rf"{_MARKS}[ \t]*[:：]{_MARKS}[ \t]*{_MARKS}"
_OBSERVATION = re.compile(rf"{_LINE_START}Observations?{_COLON}", re.MULTILINE | re.IGNORECASE)
_THOUGHT = r"think|thinking|thought|thoughts|reasoning"
_TOKEN = re.compile(
    rf"(?P<ticks>`{{3,}})|(?P<open><(?:{_THOUGHT})>)|(?P<close></(?:{_THOUGHT})>)", re.IGNORECASE
)
_LONGEST_LABEL = 100  # characters that a label with its marks may run past a range


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
        words: The marker, two parts around a colon: `("Action", "Operation")`; the second
            is empty where anything may follow, and the payload says whether it fits.
        payload: Reads what must follow the marker.
    """

    name: str
    words: tuple[str, str]
    payload: PayloadReader

    @property
    def marker(self) -> str:
        """A regular expression for the marker, without what may stand before it."""
        before, after = (re.escape(word).replace(r"\ ", "[ \t]+") for word in self.words)
        return rf"{before}{_COLON}{after}" + (r"(?![^\W_])" if after else "")


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
        >>> from lifelong_gym.fences import fence
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
    that only its end is in the reply, begins the text. An opening tag begins its line; a tag
    beside a quotation mark is part of a value. Tags inside a code fence are code, unless a
    closing tag stands alone on its line.

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
            closings = closings_of(text, token)
            fence_end = closings[0].end() if closings else 0
        elif token["close"]:
            if not _is_quoted(text, token):
                kept.clear()
                position, fence_end = token.end(), 0
        elif _begins_line(text, token):
            kept.append(text[position : token.start()])
            thinking = True
    return "".join(kept) if thinking else "".join([*kept, text[position:]])


def _stands_alone(text: str, token: re.Match[str]) -> bool:
    return _begins_line(text, token) and ends_line(text, token.end())


def _begins_line(text: str, token: re.Match[str]) -> bool:
    return not text[text.rfind("\n", 0, token.start()) + 1 : token.start()].strip()


def _is_quoted(text: str, token: re.Match[str]) -> bool:
    beside = text[max(token.start() - 1, 0) : token.start()] + text[token.end() : token.end() + 1]
    return "'" in beside or '"' in beside


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
