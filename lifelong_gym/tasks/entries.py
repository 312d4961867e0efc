"""Entries: what the files of a task set hold, before it is known what it means.

Every reader here gives entries, each with the place that it came from, so that whatever is
found wrong with one later can be named by file, entry and field.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pydantic

from lifelong_gym.core import Task
from lifelong_gym.errors import MissingExtraError, TaskError

_ModelT = TypeVar("_ModelT", bound=pydantic.BaseModel)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a file.

    Attributes:
        file: The file it stands in.
        place: Where in the file, for people: `"line 3"`, `"entry '17'"`.
        key: Its key where the file is a mapping, else how many entries stand before it.
        fields: What it holds.
    """

    file: Path
    place: str
    key: str
    fields: Mapping[str, Any]

    def refuse(self, problem: str, field: str | None = None) -> NoReturn:
        """Raises the error that names file, entry and field."""
        at_field = f", field {field}" if field else ""
        raise TaskError(f"{self.file}, {self.place}{at_field}: {problem}")

    def read_as(self, model: type[_ModelT], fields: Mapping[str, Any] | None = None) -> _ModelT:
        """The entry as `model`.

        Args:
            model: What to make of it.
            fields: What to make it from, where that is not the entry as it stands.

        Raises:
            TaskError: It does not fit; the message names the first field that does not.
        """
        try:
            return model.model_validate(self.fields if fields is None else fields)
        except pydantic.ValidationError as error:
            first, *others = error.errors(include_url=False)
            more = f" (and {len(others)} more)" if others else ""
            field = ".".join(str(part) for part in first["loc"]) or None
            self.refuse(first["msg"].removeprefix("Value error, ") + _given(first) + more, field)


def _given(error: Any) -> str:
    if error["type"] in ("missing", "value_error"):
        return ""
    shown = repr(error["input"])
    return f", got {shown if len(shown) <= 60 else shown[:60] + '...'}"


def read_entries(path: Path) -> list[Entry]:
    """The entries of a `.jsonl`, `.json` or `.parquet` file, in the file's order.

    Raises:
        TaskError: The file cannot be read, or holds something else.
        MissingExtraError: A `.parquet` file, and pyarrow is not installed.
    """
    if path.is_dir():
        raise TaskError(f"{path} is a folder, expected a file")
    if path.suffix == ".parquet":
        return _parquet_entries(path)
    text = _text(path)
    return list(_line_entries(path, text) if path.suffix == ".jsonl" else _json_entries(path, text))


def check_ids(entries: Sequence[Entry], tasks: Sequence[Task]) -> None:
    """Refuses a second task of the same id; `tasks` are those of `entries`, in order.

    Raises:
        TaskError: Names both entries.
    """
    seen: dict[str, Entry] = {}
    for entry, task in zip(entries, tasks, strict=True):
        if (first := seen.setdefault(task.id, entry)) is not entry:
            where = first.place if first.file == entry.file else f"{first.file}, {first.place}"
            entry.refuse(f"{task.id!r} is the id of {where} already", "id")


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error


def _line_entries(path: Path, text: str) -> Iterator[Entry]:
    # Not splitlines(): JSON strings may hold U+2028 and the like as they are.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for index, (number, line) in enumerate(lines):
        yield _entry(path, f"line {number}", str(index), read_json(line, f"{path}, line {number}"))


def _json_entries(path: Path, text: str) -> Iterator[Entry]:
    data = read_json(text, str(path))
    if isinstance(data, list):
        for index, fields in enumerate(data):
            yield _entry(path, f"entry {index}", str(index), fields)
    elif isinstance(data, dict) and "format" in data:
        yield _entry(path, "the only entry", "0", data)
    elif isinstance(data, dict):
        for key, fields in data.items():
            yield _entry(path, f"entry {key!r}", key, fields)
    else:
        raise TaskError(f"{path} must hold a list or an object, got {type(data).__name__}")


def _entry(path: Path, place: str, key: str, fields: Any) -> Entry:
    if not isinstance(fields, dict):
        raise TaskError(f"{path}, {place}: expected an object, got {type(fields).__name__}")
    return Entry(path, place, key, fields)


def read_json(text: str, place: str) -> Any:
    """What `text` says, of which nothing may be lost.

    Args:
        text: JSON; NaN, numbers that overflow and keys given twice are refused.
        place: Where it stands, for the error.

    Raises:
        TaskError: It is not JSON.
    """
    try:
        data = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_refuse_twice,
        )
        if "\\u" in text:
            refuse_half_characters(data)
        return data
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if "\n" in text.strip() else ""
        problem = f"not JSON: {error.msg} at {where}column {error.colno}"
    except (ValueError, RecursionError) as error:
        problem = str(error)
    raise TaskError(f"{place}: {problem}")


def refuse_half_characters(data: Any) -> None:
    r"""Refuses texts that no UTF-8 file can hold, which escapes such as `\ud800` spell.

    Raises:
        ValueError: A text holds one.
    """
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{error.object[error.start]!r} is half of a character") from error


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python would keep the last and lose the others without a word.
    if len(fields := dict(pairs)) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON: write null, or the value as a string")


def _finite(digits: str) -> float:
    if math.isfinite(value := float(digits)):
        return value
    raise ValueError(f"the number {digits} is too large: write it as a string")


def _parquet_entries(path: Path) -> list[Entry]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", f"Reading {path}") from error
    try:
        rows = pyarrow.parquet.ParquetFile(path).read().to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise TaskError(f"{path} cannot be read as Parquet: {error}") from error
    return [Entry(path, f"row {index}", str(index), row) for index, row in enumerate(rows)]
