"""What an extender tests with: a real environment that needs nothing.

`ScriptedEnv` keeps every promise of `LanguageEnv`, so what is tested over it, a wrapper, an
agent, a training loop, meets in it what it will meet in the real environments, failures of
the backend included.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Sequence
from typing import Any, ClassVar, TypeAlias

from lifelong_gym.core import Grading, LanguageEnv, Reply, Task
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.tools import tool_call, tool_calls, tool_schema

__all__ = ["ScriptedEnv", "ScriptedTask"]

_GIVE_UP = "give up"


class ScriptedTask(Task):
    """A text and the one action that answers it.

    Attributes:
        answer: The right action; the empty text stands for the instruction itself.
    """

    answer: str = ""

    @property
    def right_action(self) -> str:
        """What solves the task."""
        return self.answer or self.instruction


Scriptable: TypeAlias = "str | tuple[str, str] | ScriptedTask"
"""A task text, a pair of task text and right answer, or a whole task."""


class ScriptedEnv(LanguageEnv[ScriptedTask]):
    """Tasks that are solved by saying the right words; no backend, no files, no waiting.

    An action equal to the task's answer succeeds, `give up` ends the episode as lost, an
    empty action is invalid, and anything else costs a turn. The tasks' ids are `task-0`,
    `task-1` and so on.

    Args:
        tasks: Texts, which are solved by repeating them; pairs of a text and its answer; or
            whole `ScriptedTask`s, where ids and skills matter.
        fail_resets: Which calls of `reset` raise, counted from 0 over the life of the
            environment. A retry is a further call.
        fail_steps: Which calls of `step` raise, counted likewise.
        failure: What they raise.
        **options: The arguments of `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range, or there is no task.

    Examples:
        >>> env = ScriptedEnv([("Say please.", "please")])
        >>> observation, info = env.reset()
        >>> observation.splitlines()[-1], info["task_id"]
        ('Say please.', 'task-0')
        >>> env.step("now!")[:4]
        ('No.', 0.0, False, False)
        >>> env.step("please")[:4]
        ('Yes.', 1.0, True, False)
    """

    harmless_settings: ClassVar[frozenset[str]] = frozenset(
        {"fail_resets", "fail_steps", "failure"}  # what the system does wrong is no setting
    )
    domain = "scripted"
    default_max_turns = 3

    def __init__(
        self,
        tasks: Sequence[Scriptable],
        *,
        fail_resets: Collection[int] = (),
        fail_steps: Collection[int] = (),
        failure: type[BackendError] = BackendError,
        **options: Any,
    ) -> None:
        super().__init__([_task(n, task) for n, task in enumerate(tasks)], **options)
        self._fail_resets, self._fail_steps = fail_resets, fail_steps
        self._failure = failure
        self._resets = self._steps = 0
        self._said = ""

    @property
    def idle_action(self) -> str:
        """What ends an episode without doing anything."""
        return self._form(_GIVE_UP)

    @property
    def tools(self) -> list[dict[str, Any]]:
        """One tool, `say`."""
        text = {"text": {"type": "string", "description": "The words."}}
        return [tool_schema("say", "Says something.", text, ["text"])]

    def reference_actions(self, task: ScriptedTask) -> Generator[str, str, None]:
        """Says the right words."""
        yield self._form(task.right_action)

    def why_invalid(self, text: str) -> str | None:
        """An action is any words; blanks alone are none."""
        if (self._words(text) or "").strip():
            return None
        return "say something, " + (
            "in one call of the tool `say`" if self.action_format == "tools" else "got nothing"
        )

    def _rules(self, task: ScriptedTask) -> str:
        return f"Say the right words, or `{_GIVE_UP}`."

    def _start(self, task: ScriptedTask) -> str:
        number, self._resets = self._resets, self._resets + 1
        self._said = ""
        if number in self._fail_resets:
            raise self._failure(f"reset {number} was told to fail")
        return task.instruction

    def _respond(self, action: str, task: ScriptedTask) -> Reply:
        number, self._steps = self._steps, self._steps + 1
        if number in self._fail_steps:
            raise self._failure(f"step {number} was told to fail")
        self._said = self._words(action) or ""
        if self._said == task.right_action:
            return Reply("Yes.", finished=True)
        return Reply("No.", finished=self._said == _GIVE_UP)

    def _grade(self, task: ScriptedTask) -> Grading:
        is_right = self._said == task.right_action
        reason = "the right words were said" if is_right else "the right words were not said"
        return Grading(success=is_right, reason=reason, score=float(is_right))

    def _give_up(self) -> None:
        """There is no backend to let go of."""

    def _words(self, text: str) -> str | None:
        if self.action_format == "text":
            return text
        call = (tool_calls(text) or [{"function": {"name": ""}}])[0]["function"]
        if call["name"] != "say":
            return None
        try:
            return str(json.loads(call["arguments"])["text"])
        except (ValueError, KeyError, TypeError):
            return None

    def _form(self, words: str) -> str:
        return tool_call("say", {"text": words}) if self.action_format == "tools" else words


def _task(number: int, task: Scriptable) -> ScriptedTask:
    if isinstance(task, ScriptedTask):
        return task
    if isinstance(task, str):
        return ScriptedTask(id=f"task-{number}", instruction=task)
    try:
        instruction, answer = task
    except (TypeError, ValueError):
        raise UsageError(
            f"a scripted task is a text, a pair of texts or a ScriptedTask, got {task!r}"
        ) from None
    return ScriptedTask(id=f"task-{number}", instruction=instruction, answer=answer)
