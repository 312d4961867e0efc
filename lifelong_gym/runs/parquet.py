"""Trajectories as Parquet: one row an episode, lists and structs for what is nested.

What has no fixed form (a step's `info`, the grading) is JSON text in its column. A message
is `role` and `content`; one that holds more, tool calls for example, is also there whole as
JSON.
"""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lifelong_gym.errors import MissingExtraError, UsageError
from lifelong_gym.trajectory import Trajectory

ABOUT = b"lifelong_gym"
"""The key of the file's metadata that holds the settings and the backend of the run, as JSON."""

_ROWS_AT_ONCE = 256
_PLAIN = {"role", "content"}


def check() -> None:
    """Says so where pyarrow is missing.

    Raises:
        MissingExtraError: See above.
    """
    _pyarrow()


def write(trajectories: Iterable[Trajectory], path: Path, about: str) -> int:
    """Writes trajectories.

    Args:
        trajectories: In their order.
        path: The file to write.
        about: JSON for the file's metadata.

    Returns:
        How many were written.
    """
    arrow, parquet = _pyarrow()
    schema = _schema(arrow).with_metadata({ABOUT: about.encode()})
    count, left = 0, iter(trajectories)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(itertools.islice(left, _ROWS_AT_ONCE)):
            rows = [_row(trajectory) for trajectory in batch]
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += len(batch)
    return count


def read(path: Path) -> Iterator[Trajectory]:
    """The trajectories of a file that `write` wrote.

    Raises:
        UsageError: It is no such file.
    """
    arrow, parquet = _pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                yield from map(_trajectory, batch.to_pylist())
    except (arrow.ArrowInvalid, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no export of trajectories: {error}") from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "A Parquet file") from None


def _schema(arrow: Any) -> Any:
    text, number, real = arrow.string(), arrow.int64(), arrow.float64()
    message = arrow.struct([("role", text), ("content", text), ("json", text)])
    turn = arrow.struct(
        [
            ("action", text),
            ("observation", text),
            ("reward", real),
            ("info", text),
            ("duration_s", real),
        ]
    )
    return arrow.schema(
        [
            ("task_id", text),
            ("domain", text),
            ("skills", arrow.list_(text)),
            ("position", number),
            ("attempt", number),
            ("messages", arrow.list_(message)),
            ("turns", arrow.list_(turn)),
            ("status", text),
            ("success", arrow.bool_()),
            ("reward", real),
            ("grading", text),
            ("error", text),
            ("usage", arrow.map_(text, number)),
            ("duration_s", real),
            ("finished_at", real),
        ]
    )


def _row(trajectory: Trajectory) -> dict[str, Any]:
    row = trajectory.model_dump()
    row["messages"] = [_message(message) for message in row["messages"]]
    row["turns"] = [{**turn, "info": _json(turn["info"])} for turn in row["turns"]]
    row["grading"] = _json(row["grading"])
    row["usage"] = list(row["usage"].items())
    return row


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    is_plain = set(message) == _PLAIN and isinstance(content, str)
    return {
        "role": message.get("role"),
        "content": content if isinstance(content, str) else None,
        "json": None if is_plain else _json(message),
    }


def _trajectory(row: dict[str, Any]) -> Trajectory:
    row["messages"] = [
        json.loads(message["json"])
        if message["json"]
        else {"role": message["role"], "content": message["content"]}
        for message in row["messages"]
    ]
    row["turns"] = [{**turn, "info": json.loads(turn["info"])} for turn in row["turns"]]
    row["grading"] = json.loads(row["grading"])
    row["usage"] = dict(row["usage"])
    return Trajectory.model_validate(row)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
