"""DatabaseTask: a question about tables, or a change to them."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import pydantic

from lifelong_gym.backends.database.contract import Cell, Table
from lifelong_gym.core import Task

DATABASE_SKILLS = (
    "column_alias",
    "delete",
    "group_by_multiple_columns",
    "group_by_single_column",
    "having_aggregate_calculation",
    "having_multiple_conditions_with_aggregate",
    "having_single_condition_with_aggregate",
    "insert",
    "limit_and_offset",
    "limit_only",
    "order_by_multiple_columns_different_directions",
    "order_by_multiple_columns_same_direction",
    "order_by_single_column",
    "select",
    "subquery_multiple",
    "subquery_nested",
    "subquery_single",
    "table_alias",
    "update",
    "where_multiple_conditions",
    "where_nested_conditions",
    "where_single_condition",
)
"""The 22 skills of the paper's database environment."""


class DatabaseTask(Task):
    """A task over a few tables.

    Attributes:
        tables: What the database holds at the start.
        sql: The reference solution, one SQL statement.
        answer: The rows of the right answer; None where the state of the database counts.
        answer_form: `"rows"` compares whole rows; `"values"` compares the values of all
            rows together, whatever rows they stand in (AgentBench's labels are flat lists).
        md5: The checksum of the first table's right final state that a published set gives.
    """

    model_config = pydantic.ConfigDict(allow_inf_nan=False)

    tables: tuple[Table, ...] = pydantic.Field(min_length=1)
    sql: str
    answer: tuple[tuple[Cell, ...], ...] | None = None
    answer_form: Literal["rows", "values"] = "rows"
    md5: str | None = None

    @pydantic.model_validator(mode="after")
    def _is_consistent(self) -> DatabaseTask:
        name, count = Counter(table.name for table in self.tables).most_common(1)[0]
        if count > 1:
            raise ValueError(f"tables must have different names, got {name!r} {count} times")
        for number, row in enumerate(self.answer or ()):
            if len(row) != (width := len((self.answer or ())[0])):
                raise ValueError(f"row {number} of answer has {len(row)} values, row 0 {width}")
        return self

    @property
    def is_question(self) -> bool:
        """Whether the agent is asked for rows, rather than for a change."""
        return self.answer is not None
