"""Database: answer a question about tables, or change them, one SQL statement a turn.

A reply is `Action: Operation` with one statement in an `sql` fence, or `Action: Answer`
with a line `Final Answer: [...]`. See `docs/database.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from typing import Any, cast

from gymnasium.error import ResetNeeded

from lifelong_gym.actions import Action, Form, Invalid, labelled, read_action
from lifelong_gym.backends.database import (
    Database,
    QueryError,
    Result,
    Table,
    Workspace,
    open_database,
)
from lifelong_gym.backends.database.sql import count_statements, is_complete
from lifelong_gym.core import Grading, LanguageEnv, Reply
from lifelong_gym.fences import fence
from lifelong_gym.scoring.database import DatabaseJudge, Scoring
from lifelong_gym.tasks import TaskSet
from lifelong_gym.tasks.database import DatabaseTask
from lifelong_gym.tools import read_tool_call, tool_call, tool_schema

_RULES = """\
You work with a MySQL database. In every turn you do one of two things.

1. Operation: run one SQL statement and read what it returns.
{operation}
A statement that returns rows is answered with a Python list of tuples, one that changes \
the database with [], and one that fails with the server's error message. Send one \
statement a turn: a second one in the same turn ends the task.

2. Answer: finish, once you know the answer or have made the change.
{answer}
A question is answered with the rows, as a Python list of tuples such as \
[('Ann', 3), ('Bo', None)]; after a change the text of the answer is free.

You have {turns} turns, and the last must be an answer."""

_TEXT_FORMS = {
    "operation": "Action: Operation\n```sql\nSELECT name FROM staff;\n```",
    "answer": "Action: Answer\nFinal Answer: [('Ann', 3)]",
}
_TOOL_FORMS = {
    "operation": "Call the tool execute_sql.",
    "answer": "Call the tool submit.",
}
_EXPECTED = (
    "Expected `Action: Operation` with one SQL statement in a ```sql fence, or "
    "`Action: Answer` with a line `Final Answer: [...]`."
)
_TOOLS = [
    tool_schema(
        "execute_sql",
        "Runs one SQL statement and returns its rows, [] or the server's error message.",
        {"statement": {"type": "string", "description": "One MySQL statement."}},
        ["statement"],
    ),
    tool_schema(
        "submit",
        "Finishes the task.",
        {
            "answer": {
                "type": "string",
                "description": "The rows of the answer as a Python list of tuples; "
                "free text after a change.",
            }
        },
        ["answer"],
    ),
]
_TOOL_ACTIONS = {"execute_sql": ("Operation", "statement"), "submit": ("Answer", "answer")}
_CUT_MARK_BYTES = 40


class DatabaseEnv(LanguageEnv[DatabaseTask]):
    """One task an episode, in a database that holds that task's tables only.

    A statement that the server refuses costs a turn and nothing else. The database is
    judged over a connection that the agent never had, after its own has ended.

    Args:
        tasks: The tasks to play.
        database: Where they are played; `close` lets go of it.
        scoring: `"strict"` compares typed values and whole databases; `"paper"` judges as
            the paper's own code does, for comparison with published numbers.
        require_commit: Whether a change counts only if the agent also submitted an answer.
        **settings: See `LanguageEnv`.
    """

    domain = "database"
    default_max_turns = 3

    def __init__(
        self,
        tasks: Sequence[DatabaseTask],
        database: Database,
        *,
        scoring: Scoring = "strict",
        require_commit: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(tasks, **settings)
        self._judge = DatabaseJudge(database, scoring, require_commit=require_commit)
        self._database = database
        self._workspace: Workspace | None = None
        self._answer: str | None = None
        self._last_read: tuple[str, Action | Invalid] | None = None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """`execute_sql` and `submit`, as OpenAI tool schemas."""
        return [dict(tool) for tool in _TOOLS]

    @property
    def backend(self) -> dict[str, str]:
        """The name and version of the server; starts it if need be."""
        return {"name": self._database.name, "version": self._database.version}

    @property
    def idle_action(self) -> str:
        """An answer that is no answer."""
        return self._write("Answer", "nothing")

    def why_invalid(self, text: str) -> str | None:
        """Why `text` holds no action, and what was expected; None if it holds one."""
        action = self._read(text)
        return action.reason if isinstance(action, Invalid) else None

    def reference_actions(self, task: DatabaseTask) -> Generator[str, str, None]:
        """Runs the reference SQL, then answers with the rows that it saw."""
        observation = yield self._write("Operation", task.sql)
        yield self._write("Answer", observation)

    def _rules(self, task: DatabaseTask) -> str:
        forms = _TEXT_FORMS if self.action_format == "text" else _TOOL_FORMS
        return _RULES.format(**forms, turns=self.max_turns)

    def _start(self, task: DatabaseTask) -> str:
        self._leave()
        self._workspace = self._database.create(task.tables)
        self._answer = None
        return f"{task.instruction}\n{_describe(task.tables)}"

    def _respond(self, action: str, task: DatabaseTask) -> Reply:
        read = self._read(action)
        if isinstance(read, Invalid):  # step has asked why_invalid before
            raise ValueError(read.reason)
        if read.name == "Answer":
            self._answer = read.payload
            return Reply("The answer was submitted.", finished=True)
        try:
            result = self._open_workspace.execute(
                read.payload, max_bytes=self.max_observation_bytes
            )
        except QueryError as error:
            return Reply(error.message)
        return Reply(rows_text(result, self.max_observation_bytes))

    def _grade(self, task: DatabaseTask) -> Grading:
        try:
            return self._judge.grade(task, self._open_workspace, self._answer)
        finally:
            self._leave()

    def _give_up(self) -> None:
        self._workspace = None
        self._database.close()

    # Reading and writing actions -------------------------------------------------------

    def _read(self, text: str) -> Action | Invalid:
        """Reads a reply; `step` asks twice, for `why_invalid` and to carry it out."""
        if self._last_read is None or self._last_read[0] != text:
            self._last_read = text, self._read_anew(text)
        return self._last_read[1]

    def _read_anew(self, text: str) -> Action | Invalid:
        action = self._read_text(text) if self.action_format == "text" else self._read_call(text)
        if isinstance(action, Action) and action.name == "Operation":
            return _one_statement(action)
        return action

    def _read_text(self, text: str) -> Action | Invalid:
        return read_action(text, _forms()) or Invalid(f"no action was found. {_EXPECTED}")

    def _read_call(self, text: str) -> Action | Invalid:
        call = read_tool_call(text, _TOOLS)
        if isinstance(call, Invalid):
            return call
        name, argument = _TOOL_ACTIONS[call[0]]
        return Action(name, call[1][argument])

    def _write(self, name: str, payload: str) -> str:
        if self.action_format == "tools":
            tool, argument = next((t, a) for t, (n, a) in _TOOL_ACTIONS.items() if n == name)
            return tool_call(tool, {argument: payload})
        if name == "Answer":
            return f"Action: Answer\nFinal Answer: {payload}"
        return f"Action: Operation\n```sql\n{payload}\n```"

    @property
    def _open_workspace(self) -> Workspace:
        if self._workspace is None:
            raise ResetNeeded("there is no database before reset: call reset()")
        return self._workspace

    def _leave(self) -> None:
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            workspace.close()


@functools.cache
def _forms() -> tuple[Form, ...]:
    return (
        Form(
            "Operation",
            ("Action", "Operation"),
            fence("sql", "mysql", "mariadb", is_complete=is_complete),
        ),
        Form("Answer", ("Action", "Answer"), labelled("Final Answer")),
    )


def _one_statement(action: Action) -> Action | Invalid:
    count = count_statements(action.payload)
    if count == 1:
        return action
    return Invalid(f"the operation holds {count} SQL statements. Expected one a turn.")


def _describe(tables: Sequence[Table]) -> str:
    """The tables in the paper's words."""
    return "\n".join(
        f"The name of this table is {table.name}, and the headers of this table are "
        f"{', '.join(column.name for column in table.columns)}."
        for table in tables
    )


def rows_text(result: Result, max_bytes: int) -> str:
    """A result as the agent reads it: a Python list of tuples, cut visibly at a row.

    Examples:
        >>> rows_text(Result(((1, "a"), (2, None))), 1000)
        "[(1, 'a'), (2, None)]"
        >>> rows_text(Result(((1, "a"), (2, None)), is_cut=True), 1000)
        "[(1, 'a'), (2, None), ... cut after 2 rows]"
    """
    rows = [repr(row) for row in result.rows]
    text = f"[{', '.join(rows)}]"
    if not result.is_cut and len(text.encode()) <= max_bytes:
        return text
    left = max_bytes - _CUT_MARK_BYTES
    kept: list[str] = []
    for row in rows:
        left -= len(row.encode()) + 2
        if kept and left < 0:
            break
        kept.append(row)
    return f"[{', '.join(kept)}, ... cut after {len(kept)} rows]"


def make_database_env(
    tasks: str | TaskSet[DatabaseTask] = "builtin",
    database: str = "auto",
    *,
    scoring: Scoring = "strict",
    require_commit: bool = True,
    statement_timeout_s: float = 10.0,
    **settings: Any,
) -> DatabaseEnv:
    """Builds `lifelong_gym/Database-v0` from plain values.

    Args:
        tasks: A task reference, such as `"builtin"` or `"lifelongagentbench?limit=100"`; or
            a `TaskSet` made in Python, with which `env.spec` cannot become JSON.
        database: `"auto"`, `"local"`, `"seekdb"`, `"docker[?image=NAME]"` or
            `"mysql://user:password@host:port"`.
        scoring: `"strict"` or `"paper"`, see `DatabaseEnv`.
        require_commit: Whether a change counts only if the agent also submitted an answer.
        statement_timeout_s: After how many seconds a statement is stopped.
        **settings: See `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range, or the tasks cannot be loaded.
    """
    if not isinstance(tasks, TaskSet):
        tasks = cast("TaskSet[DatabaseTask]", TaskSet.load(tasks, "database"))
    return DatabaseEnv(
        tasks,
        open_database(database, statement_timeout_s=statement_timeout_s),
        scoring=scoring,
        require_commit=require_commit,
        **settings,
    )
