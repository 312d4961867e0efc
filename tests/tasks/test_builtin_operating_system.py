"""The builtin operating-system tasks: that labels, instructions and checks are sound."""

from __future__ import annotations

import re

import pytest

from lifelong_gym.backends.sandbox import Command, bash, open_sandboxes
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError
from lifelong_gym.tasks import OPERATING_SYSTEM_SKILLS, OperatingSystemTask, TaskSet

TASKS = TaskSet.load("builtin", "operating_system")


def by_id(task: OperatingSystemTask) -> str:
    return task.id


@pytest.fixture(scope="module")
def sandboxes():
    provider = open_sandboxes()
    try:
        provider.create().close()
    except (BackendUnavailableError, MissingExtraError) as error:
        pytest.skip(str(error))
    yield provider
    provider.close()


def passes(provider, task: OperatingSystemTask, script: str) -> bool:
    """Whether the task is solved after `script`."""
    sandbox = provider.create()
    try:
        if task.setup:
            assert sandbox.run(Command(bash(task.setup))).exit_code == 0
        outcome = sandbox.run(Command(bash(script)))
        if task.answer is not None:
            return outcome.text().strip() == task.answer
        return sandbox.check(Command(bash(task.check))).exit_code == 0
    finally:
        sandbox.close()


def test_every_skill_has_a_task():
    assert {skill for task in TASKS for skill in task.skills} == set(OPERATING_SYSTEM_SKILLS)


@pytest.mark.parametrize("task", TASKS, ids=by_id)
def test_the_skills_are_the_commands_of_the_solution(task):
    words = re.findall(r"(?:^|[|;&(){}]|\$\(|-exec |\|\| |&& )\s*([a-z]+)\b", task.solution, re.M)

    assert set(task.skills) == set(words) & set(OPERATING_SYSTEM_SKILLS)


@pytest.mark.parametrize("task", TASKS, ids=by_id)
def test_the_solution_solves_and_doing_nothing_does_not(sandboxes, task):
    assert passes(sandboxes, task, task.solution)
    assert not passes(sandboxes, task, "true")


@pytest.mark.parametrize("task", [t for t in TASKS if "\n" in t.solution], ids=by_id)
def test_half_of_a_solution_is_not_enough(sandboxes, task):
    lines = task.solution.split("\n")
    if "<<" in task.solution or "\\\n" in task.solution or lines[0].endswith(("{", "|")):
        lines = task.solution.rsplit("\n", 1)
        if "END" in lines[-1] or len(lines) < 2:
            pytest.skip("one command over several lines")

    assert not passes(sandboxes, task, "\n".join(lines[:-1]))
