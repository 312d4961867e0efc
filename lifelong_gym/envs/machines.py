"""What an episode does with its machine: setting it up, showing output, judging it."""

from __future__ import annotations

from lifelong_gym.backends.sandbox import Command, Outcome, Sandbox, SandboxBroken, bash
from lifelong_gym.core import Grading
from lifelong_gym.errors import BackendError
from lifelong_gym.tasks import OPERATING_SYSTEM_SKILLS
from lifelong_gym.tasks.operating_system import OperatingSystemTask

SKILLS_FOLDER = "/run/skills"
"""What PATH is where only the paper's 29 commands may be used."""

_LINK_SKILLS = (
    f"mkdir {SKILLS_FOLDER}; for name in {' '.join(OPERATING_SYSTEM_SKILLS)}; do "
    f'path=$(type -P "$name") && ln -s "$path" {SKILLS_FOLDER}; done; true'
)
_SETUP_TIMEOUT_S = 60.0
_CHECK_TIMEOUT_S = 60.0
_SHOWN_OF_FAILURE = 500


def set_up(sandbox: Sandbox, task: OperatingSystemTask, *, skills_only: bool) -> None:
    """Prepares a machine for a task.

    Raises:
        BackendError: The task's setup failed, so that it must not be played.
    """
    scripts = [task.setup] if task.setup.strip() else []
    for script in [*scripts, _LINK_SKILLS] if skills_only else scripts:
        try:
            outcome = sandbox.run(Command(bash(script), timeout_s=_SETUP_TIMEOUT_S))
        except SandboxBroken as error:
            raise BackendError(f"the setup of {task.id} broke the machine: {error}") from error
        if code := outcome.exit_code:
            said = outcome.text().strip()[-_SHOWN_OF_FAILURE:]
            raise BackendError(f"the setup of {task.id} failed with exit code {code}: {said}")


def observation(outcome: Outcome, timeout_s: float) -> str:
    """What a command printed, in the paper's words."""
    text = outcome.text()
    shown = f"The output of the OS:\n\n{text}" if text else "The output of the OS is empty."
    if outcome.timed_out:
        return f"{shown}\n[stopped after {timeout_s:g} seconds]"
    return shown


def judge(sandbox: Sandbox, check: str) -> Grading:
    """The verdict of a check script: exit code 0 is success."""
    try:
        outcome = sandbox.check(Command(bash(check), timeout_s=_CHECK_TIMEOUT_S))
    except SandboxBroken as error:
        return Grading(False, f"the agent broke the machine: {error}")
    code = outcome.exit_code
    reason = f"the check ended with exit code {code}"
    if outcome.timed_out:
        reason = f"the check did not end within {_CHECK_TIMEOUT_S:g} s"
    return Grading(not code, reason, score=float(not code), details={"exit_code": code})
