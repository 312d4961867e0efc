"""Code fences in a reply, and where the code in them ends."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

PayloadReader: TypeAlias = Callable[[str, int, int], str | None]
"""Takes a text and a range; returns the payload that begins in the range, or None."""

_TICKS = re.compile("`{3,}")
_ATTRIBUTES = re.compile(r"(?:\{[^`]*\}|(?:[\w-]+=(?:\"[^\"`]*\"|[^\s\"`;]+)[ \t]*)+)")
_LONGEST_FENCE = 16
_MOST_CLOSINGS = 32  # tried before the first is taken: keeps a hostile reply from costing time


@functools.lru_cache(maxsize=1)
def _line_ending_ticks(text: str) -> tuple[list[int], list[re.Match[str]]]:
    """Where runs of backticks end a line: the places at which a fence can close."""
    ticks = [run for run in _TICKS.finditer(text) if ends_line(text, run.end())]
    return [run.start() for run in ticks], ticks


def closings_of(text: str, opening: re.Match[str]) -> list[re.Match[str]]:
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
                return _unindented(whole, _indent(text, opening)).strip("\n").rstrip()
        return None

    return read


def _fences(
    text: str, start: int, limit: int
) -> Iterator[tuple[re.Match[str], list[re.Match[str]]]]:
    """Each opening fence in the range with the places where it could close."""
    position = start
    # A run of backticks that begins in the range may end behind it.
    while (opening := _TICKS.search(text, position, limit + _LONGEST_FENCE)) and (
        opening.start() < limit
    ):
        closings = closings_of(text, opening)
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
    if _ATTRIBUTES.fullmatch(line, tag.end()):
        return position + len(line)
    return position + tag.end() if tag[1] or tag.end() == len(line) else None


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


def _indent(text: str, opening: re.Match[str]) -> int:
    """How far an opening fence is indented, in blanks; 0 where it does not begin its line."""
    before = text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    return 0 if before.strip(" ") else len(before)


def _unindented(content: str, indent: int) -> str:
    """Removes the fence's own indentation from each line, as Markdown does."""
    return re.sub(rf"^ {{1,{indent}}}", "", content, flags=re.MULTILINE) if indent else content


def ends_line(text: str, position: int) -> bool:
    """Whether nothing but blanks stands between `position` and the end of its line."""
    end = text.find("\n", position)
    return not text[position : len(text) if end < 0 else end].strip()
