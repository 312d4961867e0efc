"""DatabaseJudge: the verdict on a database task, by strict rules or the paper's."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, get_args

from lifelong_gym.backends.database.contract import Database, QueryError, Snapshot, Workspace
from lifelong_gym.backends.database.sql import has_top_level_order_by, ranked
from lifelong_gym.core import Grading
from lifelong_gym.errors import UsageError
from lifelong_gym.scoring.paper import grade_paper_rows, grade_paper_state, table_checksum
from lifelong_gym.scoring.rows import difference, grade_rows, grade_values
from lifelong_gym.scoring.tables import grade_state, progress
from lifelong_gym.tasks.database import DatabaseTask

Scoring = Literal["strict", "paper"]


class DatabaseJudge:
    """Judges answers and final states.

    What the reference SQL does is looked at on a fresh copy of the task, never in the
    database that the agent had.

    Args:
        database: Where fresh copies are made.
        scoring: `"strict"` or `"paper"`.
        require_commit: Whether a change counts only if an answer was submitted as well.

    Raises:
        UsageError: There is no such scoring.
    """

    def __init__(self, database: Database, scoring: Scoring, *, require_commit: bool) -> None:
        if scoring not in get_args(Scoring):
            raise UsageError(f"scoring must be one of {get_args(Scoring)}, got {scoring!r}")
        if not isinstance(require_commit, bool):
            raise UsageError(f"require_commit must be True or False, got {require_commit!r}")
        self._database = database
        self._is_strict = scoring == "strict"
        self._require_commit = require_commit

    def grade(self, task: DatabaseTask, workspace: Workspace, answer: str | None) -> Grading:
        """The verdict on an episode that has ended.

        Args:
            task: What was asked.
            workspace: What the agent left.
            answer: What it submitted; None if it submitted nothing.

        Raises:
            BackendError: The server failed.
        """
        if not task.is_question:
            return self._committed(self._grade_change(task, workspace), answer)
        if answer is None:
            return Grading(success=False, reason="no answer was submitted")
        return self._grade_answer(task, answer)

    def _grade_answer(self, task: DatabaseTask, answer: str) -> Grading:
        expected = task.answer or ()
        if not self._is_strict:
            return grade_paper_rows(answer, expected)
        if task.answer_form == "values":
            return grade_values(answer, expected)
        if not has_top_level_order_by(task.sql):
            return grade_rows(answer, expected)
        grading = grade_rows(answer, expected, ties=range(len(expected)))
        if grading.details.get("order", True):
            return grading
        return grade_rows(answer, expected, ties=self._ties(task))

    def _ties(self, task: DatabaseTask) -> Sequence[Hashable]:
        """A key for each right row: rows that tie under the reference's ORDER BY share it.

        The server itself ranks the rows, by its own collation. Where it cannot, or gives
        other rows than the task's, no two rows tie.
        """
        expected = task.answer or ()
        apart = range(len(expected))
        statement = ranked(task.sql)
        if statement is None:
            return apart
        with self._fresh_copy(task) as fresh:
            try:
                rows = fresh.execute(statement).rows
            except QueryError:
                return apart
        ranks = [row[-1] for row in rows]
        if ranks != sorted(ranks) or len(ranks) != len(expected):
            return apart
        for rank in set(ranks):
            start, end = ranks.index(rank), ranks.index(rank) + ranks.count(rank)
            ours = [row[:-1] for row in rows[start:end]]
            if difference(expected[start:end], ours) != ([], []):
                return apart
        return ranks

    def _grade_change(self, task: DatabaseTask, workspace: Workspace) -> Grading:
        try:
            if self._is_strict:
                return self._grade_state(task, workspace.snapshot())
            found = workspace.joined_rows(task.tables[0].name)
            return grade_paper_state(found, task.md5 or self._reference_checksum(task))
        except QueryError as error:  # the reference's: nothing of the agent's runs here
            reason = f"the reference SQL was refused: {error.message}"
            return Grading(success=False, reason=reason)

    def _grade_state(self, task: DatabaseTask, found: Snapshot) -> Grading:
        with self._fresh_copy(task) as fresh:
            fresh.execute(task.sql)
            right = fresh.snapshot()
        grading = grade_state(found, right)
        if grading.success:
            return grading
        with self._fresh_copy(task) as fresh:
            initial = fresh.snapshot()
        return replace(grading, score=progress(initial, found, right))

    def _reference_checksum(self, task: DatabaseTask) -> str:
        with self._fresh_copy(task) as fresh:
            fresh.execute(task.sql)
            return table_checksum(fresh.joined_rows(task.tables[0].name) or [])

    def _committed(self, grading: Grading, answer: str | None) -> Grading:
        if answer is not None or not self._require_commit or not grading.success:
            return grading
        reason = f"{grading.reason}, but no answer was submitted"
        return replace(grading, success=False, reason=reason, score=0.99)

    @contextmanager
    def _fresh_copy(self, task: DatabaseTask) -> Iterator[Workspace]:
        workspace = self._database.create(task.tables)
        try:
            yield workspace
        finally:
            workspace.close()
