"""AgentBench's published tasks, from a folder.

Its database set, dbbench, keeps its own rules, which are followed here:

- Every column is created as TEXT and every value inserted as text, whatever type is declared:
  the published checksums are of such tables.
- A question is judged by its `label`, a flat list of values. Its SQL is kept as it stands,
  though much of it does not parse.
- A change is judged by `answer_md5`, and its SQL is the only label.
- The label `none` stands for "there is no such value": the original counts NULL, None and
  the word itself as one. Here it is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pydantic

from lifelong_gym.backends.database.contract import Cell
from lifelong_gym.core import Task
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks.database import DatabaseTask
from lifelong_gym.tasks.entries import Entry, read_entries
from lifelong_gym.tasks.knowledge_graph import KnowledgeGraphTask
from lifelong_gym.tasks.reference import Reference, located
from lifelong_gym.tasks.sources.source import Source

NAME = "agentbench"

_CHANGES = ("INSERT", "UPDATE", "DELETE")
_MD5 = re.compile(r"[0-9a-f]{32}")
_SPLITS = {"dev": "dev", "standard": "test", "std": "test"}


class _Part(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True)


class _Column(_Part):
    name: str


class _Sheet(_Part):
    columns: Annotated[tuple[_Column, ...], pydantic.Field(min_length=1)]
    rows: tuple[tuple[Cell, ...], ...]

    @pydantic.model_validator(mode="after")
    def _rows_fit(self) -> _Sheet:
        for number, row in enumerate(self.rows):
            if len(row) != (width := len(self.columns)):
                raise ValueError(f"row {number} has {len(row)} values for {width} columns")
        return self


class _Table(_Part):
    table_name: str
    table_info: _Sheet


class _Query(_Part):
    query: str


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


class _DatabaseEntry(_Part):
    description: str
    add_description: str = ""
    evidence: str = ""
    type: Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
    label: tuple[Cell, ...] = ()
    answer_md5: str = ""
    sql: _Query | None = None
    table: Annotated[tuple[_Table, ...], pydantic.BeforeValidator(_listed)]


@dataclass(frozen=True, slots=True)
class Published:
    """How a domain's tasks are published.

    Attributes:
        folder: The subfolder, and how ids begin.
        files: Split to the names that its file may have.
        default_split: The split where a reference names none.
        marks: The fields that tell an entry from other forms.
        task: The task of an entry, given its id and its split.
    """

    folder: str
    files: dict[str, tuple[str, ...]]
    default_split: str
    marks: frozenset[str]
    task: Callable[[Entry, str, str | None], Task]

    def tasks(self, entries: Sequence[Entry], split: str | None) -> list[Task]:
        """The tasks of `entries`, in the order of the file."""
        return [self.task(entry, f"{self.folder}/{entry.key}", split) for entry in entries]


def split_of(path: Path) -> str | None:
    """The split that a file of this name is published as."""
    return _SPLITS.get(path.stem)


def _database_task(entry: Entry, task_id: str, split: str | None) -> DatabaseTask:
    published = entry.read_as(_DatabaseEntry)
    is_change = published.type[0] in _CHANGES
    fields = {
        "id": task_id,
        "instruction": _instruction(published),
        "skills": (published.type[0].lower() if is_change else "select",),
        "source": NAME,
        "split": split,
        "tables": [_table(table) for table in published.table],
        **(_change(entry, published) if is_change else _question(entry, published)),
    }
    return entry.read_as(DatabaseTask, fields)


def _instruction(published: _DatabaseEntry) -> str:
    about = published.add_description
    names = [column.name for column in published.table[0].table_info.columns]
    if (used := _column_names(names)) != names:
        about += f" Headers that are no column names are changed: the columns are {used}."
    return "\n".join(text for text in (published.evidence, published.description, about) if text)


def _table(table: _Table) -> dict[str, Any]:
    names = _column_names([column.name for column in table.table_info.columns])
    return {
        "name": table.table_name,
        "columns": [{"name": name, "type": "TEXT"} for name in names],
        "rows": [
            [None if value is None else str(value) for value in row]
            for row in table.table_info.rows
        ],
    }


def _column_names(headers: Sequence[str]) -> list[str]:
    """Headers as MySQL accepts them: not empty, and with no blank at the end."""
    return [header.rstrip() or f"column_{n}" for n, header in enumerate(headers, 1)]


def _question(entry: Entry, published: _DatabaseEntry) -> dict[str, Any]:
    if not published.label:
        entry.refuse("expected at least one value, got none", "label")
    answer = [[None if value == "none" else value] for value in published.label]
    sql = published.sql.query if published.sql else ""
    return {"sql": sql, "answer": answer, "answer_form": "values"}


def _change(entry: Entry, published: _DatabaseEntry) -> dict[str, Any]:
    sql = published.label[0] if published.label else published.sql and published.sql.query
    if not isinstance(sql, str):
        entry.refuse(f"expected the SQL of the change, got {sql!r}", "label")
    return {"sql": sql, "md5": _checksum(entry, published.answer_md5)}


def _checksum(entry: Entry, nested: str) -> str | None:
    """The checksum out of `[('...',)]`; none where the set has the SQL decide."""
    if not nested:
        return None
    found = _MD5.findall(nested)
    if len(found) != 1:
        entry.refuse(
            f"expected one checksum of 32 hexadecimal digits, got {nested!r}", "answer_md5"
        )
    return str(found[0])


class _GraphAnswer(_Part):
    answer_argument: str


class _GraphEntry(_Part):
    question: str
    entities: dict[str, str]
    s_expression: str = ""
    actions: Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
    answer: tuple[_GraphAnswer, ...]


def _graph_task(entry: Entry, task_id: str, split: str | None) -> KnowledgeGraphTask:
    published = entry.read_as(_GraphEntry)
    fields = {
        "id": task_id,
        "instruction": published.question,
        "skills": sorted({action.partition("(")[0] for action in published.actions}),
        "source": NAME,
        "split": split,
        "entities": [{"name": name, "id": i} for name, i in published.entities.items()],
        "expression": published.s_expression,
        "actions": published.actions,
        "answer": [answer.answer_argument for answer in published.answer],
    }
    return entry.read_as(KnowledgeGraphTask, fields)


PUBLISHED = {
    "database": Published(
        folder="dbbench",
        files={"dev": ("dev.jsonl",), "test": ("standard.jsonl", "test.jsonl")},
        default_split="dev",
        marks=frozenset({"description", "table", "type"}),
        task=_database_task,
    ),
    "knowledge_graph": Published(
        folder="knowledgegraph",
        files={"dev": ("dev.json",), "test": ("std.json", "test.json")},
        default_split="dev",
        marks=frozenset({"question", "entities", "actions"}),
        task=_graph_task,
    ),
}
"""Domain to the form that its tasks are published in."""


def read(reference: Reference, domain: str) -> list[Task]:
    """The tasks of a split."""
    published = PUBLISHED[domain]
    split = published.default_split if reference.split is None else reference.split
    if "path" not in reference.values:
        raise UsageError(
            "agentbench needs the folder of its data: clone https://github.com/THUDM/AgentBench "
            f'and say "{NAME}:{split}?path=AgentBench/data"'
        )
    folder = located(reference.values["path"]) / published.folder
    names = published.files[split]
    for name in names:
        if (path := folder / name).exists():
            return published.tasks(read_entries(path), split)
    raise UsageError(f"{NAME}:{split} is read from {' or '.join(names)}, but {folder} has none")


SOURCE = Source(NAME, read, tuple(PUBLISHED), splits=("dev", "test"), keys=("path",))
"""`agentbench[:split][?path=FOLDER]`."""
