"""Trajectories as files that other tools read: JSON lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from lifelong_gym.errors import UsageError
from lifelong_gym.runs.store import RunStore
from lifelong_gym.trajectory import Trajectory

_OWN_FILES = ("run.sqlite", "run.lock")

ExportFormat = Literal["jsonl", "parquet"]


def export_trajectories(
    folder: Path | str, path: Path | str, format: ExportFormat | None = None
) -> int:
    """Writes the trajectories of a run, in the order of the stream.

    The file is there whole or not at all.

    Args:
        folder: The output folder of a run.
        path: The file to write.
        format: `"jsonl"`, one JSON object a line, or `"parquet"`; by default what the name
            says, which is Parquet where it ends in `.parquet`.

    Returns:
        How many were written.

    Raises:
        UsageError: There is no run in `folder`, no such format, or `path` is a folder or a
            file of the run itself.
        MissingExtraError: Parquet needs the `parquet` extra.
    """
    target = Path(path).resolve()
    _check_target(target, Path(folder).resolve())
    write = _writer(format or _format_of(target))
    if target.exists() and not target.is_file():  # /dev/stdout, a pipe: nothing to replace
        with RunStore(folder, read_only=True) as store:
            return write(store, target)
    partial = target.with_name(f"{target.name}.partial")
    with RunStore(folder, read_only=True) as store:
        try:
            count = write(store, partial)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    partial.replace(target)
    return count


def read_trajectories(path: Path | str) -> Iterator[Trajectory]:
    """The trajectories that `export_trajectories` wrote, in their order.

    Raises:
        UsageError: The file is not there, or is none of an export.
        MissingExtraError: Parquet needs the `parquet` extra.
    """
    source = Path(path)
    if not source.is_file():
        raise UsageError(f"{source} is no file: give the path of an export")
    if _format_of(source) == "parquet":
        from lifelong_gym.runs import parquet

        return parquet.read(source)
    return _read_lines(source)


def _check_target(target: Path, folder: Path) -> None:
    if target.is_dir():
        raise UsageError(f"{target} is a folder: name the file to write")
    if target.parent == folder and target.name.startswith(_OWN_FILES):
        raise UsageError(f"{target} belongs to the run itself: export to another file")


def _format_of(path: Path) -> ExportFormat:
    return "parquet" if path.suffix.lower() == ".parquet" else "jsonl"


def _writer(format: str) -> Callable[[RunStore, Path], int]:
    if format == "jsonl":
        return lambda store, path: _write_lines(store.trajectories(), path)
    if format == "parquet":
        from lifelong_gym.runs import parquet

        parquet.check()
        return lambda store, path: parquet.write(store.trajectories(), path, _about(store))
    raise UsageError(f"format must be jsonl or parquet, got {format!r}")


def _about(store: RunStore) -> str:
    return json.dumps({"settings": store.settings, "backend": store.backend})


def _write_lines(trajectories: Iterable[Trajectory], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for trajectory in trajectories:
            file.write(trajectory.model_dump_json() + "\n")
            count += 1
    return count


def _read_lines(path: Path) -> Iterator[Trajectory]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                yield Trajectory.model_validate_json(line)
            except ValueError as error:
                raise UsageError(f"{path}, line {number}: no trajectory: {error}") from error
