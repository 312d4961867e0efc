"""LifelongAgentBench's published tasks, from a folder or from the Hugging Face hub.

The set is published twice: as Parquet files whose nested columns hold Python literals as
text, and as the `entry_dict.json` that the original loader reads. Both give equal tasks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from lifelong_gym.backends.database.contract import Cell
from lifelong_gym.core import Task
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks.database import DatabaseTask
from lifelong_gym.tasks.entries import Entry, check_ids, read_entries, refuse_half_characters
from lifelong_gym.tasks.knowledge_graph import KnowledgeGraphTask
from lifelong_gym.tasks.operating_system import OperatingSystemTask
from lifelong_gym.tasks.reference import Reference, located
from lifelong_gym.tasks.sources.source import Source

NAME = "lifelongagentbench"


def _literal(value: Any) -> Any:
    """A nested column's value; Parquet has it as the text of a Python literal."""
    if not isinstance(value, str):
        return value
    try:
        data = ast.literal_eval(value)
        refuse_half_characters(data)
        return data
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"not a Python literal: {error}") from error


_Nested = pydantic.BeforeValidator(_literal)


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, allow_inf_nan=False)


class _Answer(_Part):
    sql: str
    direct: tuple[tuple[Cell, ...], ...] | None
    md5: str | None


class _Column(_Part):
    name: str
    type: str


class _Table(_Part):
    name: str
    column_info_list: tuple[_Column, ...]
    row_list: tuple[tuple[Cell, ...], ...]

    @pydantic.model_validator(mode="after")
    def _rows_fit(self) -> _Table:
        for number, row in enumerate(self.row_list):
            if len(row) != (width := len(self.column_info_list)):
                raise ValueError(f"row {number} has {len(row)} values for {width} columns")
        return self


class _DatabaseEntry(_Part):
    instruction: str
    answer_info: Annotated[_Answer, _Nested]
    table_info: Annotated[_Table, _Nested]
    skill_list: Annotated[tuple[str, ...], _Nested]


class _GraphEntry(_Part):
    question: str
    entity_dict: Annotated[dict[str, str], _Nested]
    s_expression: str
    action_list: Annotated[tuple[str, ...], _Nested]
    answer_list: Annotated[tuple[str, ...], _Nested]
    skill_list: Annotated[tuple[str, ...], _Nested]


class _Script(_Part):
    command_name: Literal["bash"]
    script: str


class _Evaluation(_Part):
    evaluation_command_item: _Script
    ground_truth_command_item: _Script


class _OperatingSystemEntry(_Part):
    instruction: str
    initialization_command_item: Annotated[_Script, _Nested]
    evaluation_info: Annotated[_Evaluation, _Nested]
    skill_list: Annotated[tuple[str, ...], _Nested]


@dataclass(frozen=True, slots=True)
class Published:
    """How a domain's tasks are published.

    Attributes:
        folder: The subfolder, and how ids begin.
        marks: The fields that tell an entry from other forms.
        task: The task of an entry, given its id.
    """

    folder: str
    marks: frozenset[str]
    task: Callable[[Entry, str], Task]

    def tasks(self, entries: Sequence[Entry]) -> list[Task]:
        """The tasks of `entries`, by sample index."""
        ordered = sorted(entries, key=_sample_index)
        tasks = [self.task(entry, f"{self.folder}/{_sample_index(entry)}") for entry in ordered]
        check_ids(ordered, tasks)
        return tasks


def _sample_index(entry: Entry) -> int:
    index = entry.fields.get("sample_index", entry.key)
    if isinstance(index, str) and index.isascii() and index.isdigit():
        return int(index)
    if not isinstance(index, int) or isinstance(index, bool):
        entry.refuse(f"expected an integer, got {index!r}", "sample_index")
    return index


def _database_task(entry: Entry, task_id: str) -> DatabaseTask:
    published = entry.read_as(_DatabaseEntry)
    table = published.table_info
    columns = [column.model_dump() for column in table.column_info_list]
    fields = {
        "id": task_id,
        "instruction": published.instruction,
        "skills": published.skill_list,
        "source": NAME,
        "tables": [{"name": table.name, "columns": columns, "rows": table.row_list}],
        "sql": published.answer_info.sql,
        "answer": published.answer_info.direct,
        "md5": published.answer_info.md5,
    }
    return entry.read_as(DatabaseTask, fields)


def _graph_task(entry: Entry, task_id: str) -> KnowledgeGraphTask:
    published = entry.read_as(_GraphEntry)
    fields = {
        "id": task_id,
        "instruction": published.question,
        "skills": published.skill_list,
        "source": NAME,
        "entities": [{"name": name, "id": i} for name, i in published.entity_dict.items()],
        "expression": published.s_expression,
        "actions": published.action_list,
        "answer": published.answer_list,
    }
    return entry.read_as(KnowledgeGraphTask, fields)


def _operating_system_task(entry: Entry, task_id: str) -> OperatingSystemTask:
    published = entry.read_as(_OperatingSystemEntry)
    scripts = published.evaluation_info
    fields = {
        "id": task_id,
        "instruction": published.instruction,
        "skills": published.skill_list,
        "source": NAME,
        "setup": published.initialization_command_item.script,
        "check": scripts.evaluation_command_item.script,
        "solution": scripts.ground_truth_command_item.script,
    }
    return entry.read_as(OperatingSystemTask, fields)


PUBLISHED = {
    "database": Published("db_bench", frozenset({"answer_info", "table_info"}), _database_task),
    "knowledge_graph": Published(
        "knowledge_graph", frozenset({"entity_dict", "answer_list"}), _graph_task
    ),
    "operating_system": Published(
        "os_interaction",
        frozenset({"initialization_command_item", "evaluation_info"}),
        _operating_system_task,
    ),
}
"""Domain to the form that its tasks are published in."""


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of a folder or, without `path=`, of the hub's data set."""
    published = PUBLISHED[domain]
    if "path" in reference.values:
        root = located(reference.values["path"])
    else:
        from lifelong_gym.tasks.sources.hub import download

        root = download(published.folder)
    files = task_files(root / published.folder, f"{NAME}'s {published.folder}")
    return published.tasks([entry for path in files for entry in read_entries(path)])


def task_files(folder: Path, what: str) -> list[Path]:
    """The files of one published form in `folder`: JSON where it is there, else Parquet.

    Raises:
        UsageError: There is no such folder, or it holds neither.
    """
    if (whole := folder / "entry_dict.json").exists():
        return [whole]
    if files := sorted(folder.glob("*.parquet")):
        return files
    seen = "has neither" if folder.is_dir() else "is not a folder"
    raise UsageError(f"{what} is read from entry_dict.json or *.parquet, but {folder} {seen}")


SOURCE = Source(NAME, read, tuple(PUBLISHED), keys=("path",))
"""`lifelongagentbench[?path=FOLDER]`."""
