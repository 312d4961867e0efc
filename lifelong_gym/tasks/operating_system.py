"""OperatingSystemTask: something to do on a Linux machine, or to find out about it."""

from __future__ import annotations

import pydantic

from lifelong_gym.core import Task

OPERATING_SYSTEM_SKILLS = (
    "addgroup",
    "awk",
    "cat",
    "cd",
    "chage",
    "chgrp",
    "chmod",
    "chown",
    "chsh",
    "cp",
    "echo",
    "exit",
    "find",
    "gpasswd",
    "grep",
    "groupadd",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "rm",
    "sed",
    "sleep",
    "tee",
    "touch",
    "useradd",
    "usermod",
    "vi",
    "wc",
)
"""The 29 skills of the paper's operating-system environment: the commands it is about."""


class OperatingSystemTask(Task):
    """A task on a fresh machine.

    Attributes:
        setup: A bash script that prepares the machine; one that fails is the system's fault.
        check: A bash script that judges the machine at the end: exit code 0 is success.
        answer: The right answer, where the agent is asked a question.
        solution: A bash script that solves the task.
    """

    setup: str = ""
    check: str = ""
    answer: str | None = None
    solution: str

    @pydantic.model_validator(mode="after")
    def _can_be_judged(self) -> OperatingSystemTask:
        if not self.check.strip() and self.answer is None:
            raise ValueError("a task needs a check or an answer, got neither")
        return self

    @property
    def is_question(self) -> bool:
        """Whether the agent has to submit an answer."""
        return self.answer is not None
