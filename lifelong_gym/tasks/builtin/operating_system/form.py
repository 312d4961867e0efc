"""How a builtin operating-system task is written down: as a change or as a question."""

from __future__ import annotations

from textwrap import dedent

from lifelong_gym.tasks.operating_system import OperatingSystemTask


def change(
    task_id: str, *, skills: str, ask: str, check: str, solution: str, setup: str = ""
) -> OperatingSystemTask:
    """A task that asks for another state of the machine.

    Args:
        task_id: Its id, `"theme/what-it-asks"`.
        skills: The names of its skills, with blanks between them.
        ask: The instruction; it says paths, owners and forms, so that one state is right.
        check: Exits 0 in the right state and otherwise in every other.
        solution: The reference solution.
        setup: What the machine holds at the start.
    """
    return OperatingSystemTask(
        id=task_id,
        instruction=" ".join(ask.split()),
        skills=tuple(sorted(skills.split())),
        source="builtin",
        setup=_script(setup),
        check=_script(check),
        solution=_script(solution),
    )


def question(
    task_id: str, *, skills: str, ask: str, answer: str, solution: str, setup: str
) -> OperatingSystemTask:
    """A task that asks something about the machine.

    Args:
        task_id: Its id, `"theme/what-it-asks"`.
        skills: The names of its skills, with blanks between them.
        ask: The instruction; it says in which form the answer is wanted.
        answer: The right answer.
        solution: What prints it.
        setup: What the machine holds at the start.
    """
    return OperatingSystemTask(
        id=task_id,
        instruction=" ".join(ask.split()),
        skills=tuple(sorted(skills.split())),
        source="builtin",
        setup=_script(setup),
        answer=answer,
        solution=_script(solution),
    )


def _script(text: str) -> str:
    return dedent(text).strip()
