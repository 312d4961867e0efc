"""Task references: the one string that says which tasks to play.

`source[:split][?key=value&...]`, or a path to a `.jsonl`, `.json` or `.parquet` file in the
place of the source. The same string serves Python, the command line and TOML.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

from lifelong_gym.errors import UsageError

SUFFIXES = (".jsonl", ".json", ".parquet")
"""How the path of a task file ends."""

COMMON_KEYS = ("skills", "limit")
"""What every source understands."""

FORM = "source[:split][?key=value&...] or a path to a .jsonl, .json or .parquet file"

# The path of a file may hold `?` itself, so its query starts only behind a suffix, and holds
# neither `?` nor `/`: both are percent-encoded in a value.
_FILE = re.compile(r"(?P<path>.*?\.(?:jsonl|json|parquet))(?:\?(?P<query>[^?/]*))?", re.DOTALL)
_NAMED = re.compile(r"(?P<source>[\w.-]+)(?::(?P<split>[^?]*))?(?:\?(?P<query>.*))?", re.DOTALL)
_DIGITS = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A task reference, taken apart.

    Attributes:
        text: The whole string.
        source: The source's name; `"file"` for a path.
        split: What stood behind the colon.
        path: The file, where the reference is a path.
        values: The decoded values behind the question mark.
    """

    text: str
    source: str
    split: str | None = None
    path: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def skills(self) -> tuple[str, ...] | None:
        """The skills to choose tasks by; None where any will do."""
        if "skills" not in self.values:
            return None
        names = tuple(name.strip() for name in self.values["skills"].split(","))
        if not all(names):
            raise UsageError(
                f"skills must be names with commas between them, got "
                f"{self.values['skills']!r} in {self.text!r}"
            )
        return names

    @property
    def limit(self) -> int | None:
        """How many tasks to take at most; None for all."""
        if (value := self.values.get("limit")) is None:
            return None
        if not _DIGITS.fullmatch(value) or int(value) < 1:
            raise UsageError(f"limit must be at least 1, got {value!r} in {self.text!r}")
        return int(value)


def parse(text: str, sources: Collection[str]) -> Reference:
    """Takes a reference apart.

    Args:
        text: The reference.
        sources: The names that are sources; anything else has to be a path.

    Raises:
        UsageError: The text is no reference; the message names the sources.

    Examples:
        >>> parse("builtin?skills=insert,update&limit=5", ["builtin"]).skills
        ('insert', 'update')
        >>> parse("runs/why?.jsonl?limit=5", ["builtin"]).path
        'runs/why?.jsonl'
    """
    if not isinstance(text, str):
        raise UsageError(f"a task reference is a str, {FORM}; got {type(text).__name__}")
    named = _NAMED.fullmatch(text)
    if named and named["source"] in sources:
        values = _values(named["query"] or "", text)
        return Reference(text, named["source"], named["split"], None, values)
    if file := _FILE.fullmatch(text):
        return Reference(text, "file", None, file["path"], _values(file["query"] or "", text))
    raise UsageError(
        f"no task source is called {text.partition('?')[0]!r}; a reference is {FORM}, "
        f"the sources are {', '.join(sorted(sources))}"
    )


def _values(query: str, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise UsageError(f"expected key=value behind the '?' of {text!r}, got {part!r}")
        if key in values:
            raise UsageError(f"{key} is given twice in {text!r}: give it once")
        try:
            values[key] = unquote(value, errors="strict")
        except UnicodeDecodeError as error:
            raise UsageError(f"{key}={value} in {text!r} is not percent-encoded UTF-8") from error
    return values


def encode(value: str) -> str:
    """`value` as it stands behind `key=` in a reference.

    Examples:
        >>> encode("/data/a & b?")
        '/data/a%20%26%20b%3F'
    """
    return quote(value, safe="/,:")


def resolve(text: str, base: Path, sources: Collection[str]) -> str:
    """`text` with its relative paths under `base`: what a reference in a file means.

    Args:
        text: A reference that may hold a path, or `path=`.
        base: The folder of the file that the reference stands in.
        sources: The names that are sources.

    Raises:
        UsageError: The text is no reference.
    """
    reference = parse(text, sources)
    if reference.path is not None:
        return str(base / located(reference.path)) + text[len(reference.path) :]
    if "path" not in reference.values:
        return text
    head = text.partition("?")[0]
    moved = {**reference.values, "path": str(base / located(reference.values["path"]))}
    return head + "?" + "&".join(f"{key}={encode(value)}" for key, value in moved.items())


def located(path: str) -> Path:
    """`path` with a leading `~/` expanded: no shell sees it inside a reference."""
    return Path(path).expanduser() if path.startswith("~/") else Path(path)
