"""The native form: a task as one JSON object, the model's fields with `format` and `domain`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pydantic
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from lifelong_gym.core import Task
from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks.domains import DOMAINS
from lifelong_gym.tasks.entries import Entry, read_json

FORMAT = 1
"""The version of the native form: raised when old files would be read wrongly."""


def native_task(entry: Entry, domain: str) -> Task:
    """The task that a native entry is.

    Raises:
        TaskError: The entry is of another format or domain, or does not fit.
    """
    model = DOMAINS[domain]
    fields = _unpacked(entry, model) if entry.file.suffix == ".parquet" else dict(entry.fields)
    if "format" not in fields:
        entry.refuse(f"missing; a native task says format: {FORMAT}", "format")
    if (version := fields.pop("format")) != FORMAT or isinstance(version, bool):
        entry.refuse(f"expected {FORMAT}, got {version!r}", "format")
    if "domain" not in fields:
        entry.refuse(f"missing; expected {domain!r}", "domain")
    if (stated := fields.pop("domain")) != domain:
        entry.refuse(f"expected {domain!r}, got {stated!r}", "domain")
    return entry.read_as(model, fields)


def _unpacked(entry: Entry, model: type[Task]) -> dict[str, Any]:
    """The fields of a Parquet row: nested ones are JSON text, null is a field left out."""
    fields = {name: value for name, value in entry.fields.items() if value is not None}
    for name, value in fields.items():
        if isinstance(value, str) and _is_nested(model, name):
            fields[name] = read_json(value, f"{entry.file}, {entry.place}, field {name}")
    return fields


def _is_nested(model: type[Task], name: str) -> bool:
    field = model.model_fields.get(name)
    parts = (field.annotation, *get_args(field.annotation)) if field else ()
    return any(get_origin(part) is tuple for part in parts)


def native_line(task: Task, domain: str) -> str:
    """The JSON text of a task, on one line; what a default says is left out."""
    fields = task.model_dump(exclude_defaults=True)
    try:
        line = json.dumps(
            {"format": FORMAT, "domain": domain, **fields}, ensure_ascii=False, allow_nan=False
        )
        line.encode()
    except ValueError as error:
        raise TaskError(f"task {task.id!r} cannot be written as JSON: {error}") from error
    return line


def write_lines(path: Path, tasks: Iterable[Task], domain: str) -> None:
    """Writes native JSON lines; the file is whole or, on an error, as it was.

    Raises:
        UsageError: The name does not end in `.jsonl`, or the file cannot be written.
    """
    if path.suffix != ".jsonl":
        raise UsageError(f"tasks are saved as JSON lines, to a .jsonl file; got {str(path)!r}")
    text = "".join(native_line(task, domain) + "\n" for task in tasks)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a native task of any domain."""
    lines: list[tuple[type[pydantic.BaseModel], Literal["validation"]]] = [
        (_line_model(domain, model), "validation") for domain, model in DOMAINS.items()
    ]
    references, schema = models_json_schema(lines, ref_template="#/$defs/{model}")
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "A lifelong_gym task",
        "anyOf": list(references.values()),
        **schema,
    }


def _line_model(domain: str, model: type[Task]) -> type[Task]:
    stated: Any = {"format": (Literal[FORMAT], ...), "domain": (Literal[domain], ...)}
    return pydantic.create_model(model.__name__, __base__=model, __doc__=model.__doc__, **stated)
