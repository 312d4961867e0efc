"""OperatingSystem: change a Linux machine, or find something out about it, with bash.

A reply is `Act: bash` with commands in a `bash` fence, `Act: finish`, or `Act: answer(...)`
where the task asks a question. See `docs/operating-system.md`.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any, Literal, cast, get_args

from gymnasium.error import ResetNeeded

from lifelong_gym.actions import Action, Invalid
from lifelong_gym.backends.sandbox import (
    Command,
    Limits,
    Sandbox,
    SandboxBroken,
    SandboxProvider,
    bash,
    open_sandboxes,
)
from lifelong_gym.backends.sandbox.contract import MEBIBYTE
from lifelong_gym.core import Grading, LanguageEnv, Reply
from lifelong_gym.envs import machines, shell_actions
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks import TaskSet
from lifelong_gym.tasks.operating_system import OperatingSystemTask

Commands = Literal["any", "skills"]

_HEADER_BYTES = 200  # of an observation, for what stands around the output


class OperatingSystemEnv(LanguageEnv[OperatingSystemTask]):
    """One task an episode, on a fresh machine.

    A machine that the agent destroyed ends the episode as `sandbox_broken`, unsuccessful.
    A task whose setup fails raises `BackendError` and is never played.

    Args:
        tasks: The tasks to play.
        sandboxes: Where they are played; `close` lets go of it.
        commands: `"any"`, or `"skills"` for the paper's 29 commands and bash's own only.
        command_timeout_s: After how many seconds a turn's commands are stopped.
        time_limit_s: After how many seconds an episode is cut; None for never.
        max_submissions: How often a question may be answered.
        **settings: See `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range.
    """

    domain = "operating_system"
    default_max_turns = 5

    def __init__(
        self,
        tasks: Sequence[OperatingSystemTask],
        sandboxes: SandboxProvider,
        *,
        commands: Commands = "any",
        command_timeout_s: float = 20.0,
        time_limit_s: float | None = None,
        max_submissions: int = 1,
        **settings: Any,
    ) -> None:
        super().__init__(tasks, **settings)
        if commands not in get_args(Commands):
            raise UsageError(f"commands must be one of {get_args(Commands)}, got {commands!r}")
        for name, value in (
            ("command_timeout_s", command_timeout_s),
            ("time_limit_s", time_limit_s),
            ("max_submissions", max_submissions),
        ):
            if value is not None and not value > 0:
                raise UsageError(f"{name} must be positive, got {value!r}")
        self._sandboxes = sandboxes
        self._commands = commands
        self._command_timeout_s, self._time_limit_s = command_timeout_s, time_limit_s
        self._max_submissions = max_submissions
        self._sandbox: Sandbox | None = None
        self._broken = ""
        self._answer: str | None = None
        self._submissions = 0
        self._deadline: float | None = None

    @property
    def tools(self) -> list[dict[str, Any]]:
        """`bash` and `submit`, as OpenAI tool schemas."""
        return [dict(tool) for tool in shell_actions.TOOLS]

    @property
    def backend(self) -> dict[str, str]:
        """The name and version of what makes the machines."""
        return {"name": self._sandboxes.name, "version": self._sandboxes.version}

    @property
    def idle_action(self) -> str:
        """Finishing at once."""
        return self._written("finish")

    def why_invalid(self, text: str) -> str | None:
        """Why `text` holds no action, and what was expected; None if it holds one."""
        action = shell_actions.read(text, self.action_format)
        return action.reason if isinstance(action, Invalid) else None

    def reference_actions(self, task: OperatingSystemTask) -> Generator[str, str, None]:
        """Runs the reference script, then finishes, with the answer to a question."""
        yield self._written("bash", task.solution)
        yield (
            self._written("finish") if task.answer is None else self._written("answer", task.answer)
        )

    def _rules(self, task: OperatingSystemTask) -> str:
        return shell_actions.rules(
            self.action_format,
            turns=self.max_turns,
            seconds=self._command_timeout_s,
            asks=task.is_question,
            skills_only=self._commands == "skills",
        )

    def _start(self, task: OperatingSystemTask) -> str:
        self._leave()
        self._broken, self._answer, self._submissions = "", None, 0
        self._sandbox = self._sandboxes.create()
        machines.set_up(self._sandbox, task, skills_only=self._commands == "skills")
        if self._time_limit_s is not None:
            self._deadline = time.monotonic() + self._time_limit_s
        return task.instruction

    def _respond(self, action: str, task: OperatingSystemTask) -> Reply:
        read = shell_actions.read(action, self.action_format)
        if not isinstance(read, Action):  # step has asked why_invalid before
            raise ValueError(read.reason)
        if read.name == "bash":
            return self._run(read.payload)
        if read.name == "finish":
            return Reply("The task was finished.", finished=True)
        self._answer = read.payload
        self._submissions += 1
        left = self._max_submissions - self._submissions
        if left <= 0 or not task.is_question or self._is_right(task):
            return Reply("The answer was submitted.", finished=True)
        return Reply(f"That is not the answer. You may submit {left} more.")

    def _grade(self, task: OperatingSystemTask) -> Grading:
        try:
            return self._verdict_on(task)
        finally:
            self._leave()

    def _give_up(self) -> None:
        self._sandbox = None
        self._sandboxes.close()

    # The machine -----------------------------------------------------------------------

    def _run(self, script: str) -> Reply:
        command = self._command(script)
        try:
            outcome = self._machine.run(command)
        except SandboxBroken as error:
            self._broken = str(error)
            text = "The machine no longer runs commands: the task is over."
            return Reply(text, finished=True, status="sandbox_broken")
        info = {"exit_code": outcome.exit_code, "output_cut": outcome.is_cut}
        observation = machines.observation(outcome, command.timeout_s)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return Reply(observation, finished=True, status="time_limit", info=info)
        return Reply(observation, info=info)

    def _command(self, script: str) -> Command:
        left = self._command_timeout_s
        if self._deadline is not None:
            left = min(left, max(self._deadline - time.monotonic(), 0.01))
        kept = max(self.max_observation_bytes - _HEADER_BYTES, 1)
        variables = Command(()).variables
        if self._commands == "skills":
            variables["PATH"] = machines.SKILLS_FOLDER
        return Command(bash(script), left, max_output_bytes=kept, environment=variables)

    def _verdict_on(self, task: OperatingSystemTask) -> Grading:
        if self._broken:
            return Grading(False, f"the agent broke the machine: {self._broken}")
        if task.answer is not None and not self._is_right(task):
            said = "no answer was submitted" if self._answer is None else "the answer is wrong"
            return Grading(False, said)
        if not task.check:
            return Grading(True, "the answer is right", score=1.0)
        return machines.judge(self._machine, task.check)

    def _is_right(self, task: OperatingSystemTask) -> bool:
        return self._answer is not None and self._answer.strip() == (task.answer or "").strip()

    def _written(self, name: str, payload: str = "") -> str:
        return shell_actions.write(name, payload, self.action_format)

    @property
    def _machine(self) -> Sandbox:
        if self._sandbox is None:
            raise ResetNeeded("there is no machine before reset: call reset()")
        return self._sandbox

    def _leave(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()


def make_operating_system_env(
    tasks: str | TaskSet[OperatingSystemTask] = "builtin",
    sandbox: str = "auto",
    *,
    rootfs: str = "auto",
    memory_mb: int = 1024,
    processes: int = 256,
    disk_mb: int = 512,
    commands: Commands = "any",
    command_timeout_s: float = 20.0,
    time_limit_s: float | None = None,
    max_submissions: int = 1,
    **settings: Any,
) -> OperatingSystemEnv:
    """Builds `lifelong_gym/OperatingSystem-v0` from plain values.

    Args:
        tasks: A task reference, such as `"builtin"` or `"lifelongagentbench?limit=100"`; or
            a `TaskSet` made in Python, with which `env.spec` cannot become JSON.
        sandbox: `"auto"`, `"bubblewrap"`, a registered provider or its import path.
        rootfs: What machines are made from: `"host"`, a folder, a tarball, `"docker:IMAGE"`;
            `"auto"` is the provider's default.
        memory_mb: How much memory a machine has, in MiB.
        processes: How many processes a machine may have at once.
        disk_mb: How much may be written to a machine's disk, in MiB.
        commands: `"any"` or `"skills"`, see `OperatingSystemEnv`.
        command_timeout_s: After how many seconds a turn's commands are stopped.
        time_limit_s: After how many seconds an episode is cut; None for never.
        max_submissions: How often a question may be answered.
        **settings: See `LanguageEnv`.

    Raises:
        UsageError: An argument is out of its range, or the tasks cannot be loaded.
    """
    limits = Limits(
        memory_bytes=memory_mb * MEBIBYTE, processes=processes, disk_bytes=disk_mb * MEBIBYTE
    )
    if not isinstance(tasks, TaskSet):
        tasks = cast("TaskSet[OperatingSystemTask]", TaskSet.load(tasks, "operating_system"))
    return OperatingSystemEnv(
        tasks,
        open_sandboxes(sandbox, rootfs, limits),
        commands=commands,
        command_timeout_s=command_timeout_s,
        time_limit_s=time_limit_s,
        max_submissions=max_submissions,
        **settings,
    )
