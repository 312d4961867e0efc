"""The contract: what a task, an environment and an agent are. Read this first.

An environment plays one task an episode. It hands out texts and takes texts; what the
texts mean is the subclass's business, in six hooks. Turn limits, forfeits, bounds,
statuses and rewards are the same everywhere and live here.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import gymnasium
from gymnasium.error import ResetNeeded

from lifelong_gym import rewards
from lifelong_gym.agent import Agent
from lifelong_gym.conversation import (
    Decision,
    Experience,
    Message,
    Opening,
    Stop,
    Usage,
    render,
    turn,
)
from lifelong_gym.episode import (
    LIMITS,
    SCORED_STATUSES,
    STATUSES,
    STOP_STATUSES,
    AppendOnly,
    Grading,
    Reply,
    Task,
)
from lifelong_gym.errors import BackendError, UsageError
from lifelong_gym.spaces import Unicode
from lifelong_gym.text import bounded, replace_surrogates

__all__ = [
    "SCORED_STATUSES",
    "STATUSES",
    "STOP_STATUSES",
    "Agent",
    "AppendOnly",
    "Decision",
    "Experience",
    "Grading",
    "LanguageEnv",
    "Message",
    "Opening",
    "Reply",
    "Stop",
    "Task",
    "Usage",
    "render",
    "turn",
]

ActionFormat = Literal["text", "tools"]
OnInvalidAction = Literal["fail", "retry"]

TaskT = TypeVar("TaskT", bound=Task)
_Result = TypeVar("_Result")


class LanguageEnv(gymnasium.Env[str, "str | None"], Generic[TaskT]):
    """An environment that an agent meets through text.

    Constructing it starts nothing; the first `reset` does. After a `BackendError` the
    backend is given up, and the next `reset` starts a fresh one.

    Args:
        tasks: The tasks to play; their ids are unique.
        max_turns: After how many actions an episode is cut; None is the domain's default.
        action_format: `"text"` for the domain's own forms, `"tools"` for a JSON list of
            OpenAI tool calls.
        on_invalid_action: `"fail"` forfeits the episode on a text that holds no action;
            `"retry"` spends a turn and says what was expected.
        max_observation_bytes: How long an observation may be, in UTF-8 bytes.
        reward_shaper: Turns the final `Grading` into the reward, for training: a function,
            its import path `"module:function"`, or `"partial"` for `Grading.score`. By
            default the reward is 1.0 for success and 0.0 otherwise.
        render_mode: `"ansi"` makes `render` return the episode so far.

    Raises:
        UsageError: An argument is out of its range, or there is no task.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012
    domain: ClassVar[str]
    default_max_turns: ClassVar[int]

    def __init__(
        self,
        tasks: Sequence[TaskT],
        *,
        max_turns: int | None = None,
        action_format: ActionFormat = "text",
        on_invalid_action: OnInvalidAction = "fail",
        max_observation_bytes: int = 16_384,
        reward_shaper: rewards.RewardShaper | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.task_set = tasks
        self.max_turns = self.default_max_turns if max_turns is None else max_turns
        self.action_format: ActionFormat = action_format
        self.on_invalid_action: OnInvalidAction = on_invalid_action
        self.max_observation_bytes = max_observation_bytes
        self.render_mode = render_mode
        self.observation_space = Unicode()
        self.action_space = Unicode()
        self._index = {task.id: index for index, task in enumerate(tasks)}
        self._shape = rewards.reward_shaper(reward_shaper)
        self._task: TaskT | None = None
        self._running = False
        self._turn = 0
        self._shown: list[Message] = []
        self._check_arguments()

    # What a domain defines -------------------------------------------------------------

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The actions as OpenAI tool schemas."""
        raise NotImplementedError

    def _rules(self, task: TaskT) -> str:
        """What the agent is told about the domain and the form of its actions."""
        raise NotImplementedError

    def _start(self, task: TaskT) -> str:
        """Sets the task up and returns its text."""
        raise NotImplementedError

    def _respond(self, action: str, task: TaskT) -> Reply:
        """Carries out an action that `why_invalid` accepted."""
        raise NotImplementedError

    def _grade(self, task: TaskT) -> Grading:
        """Judges the state as it is now, over a channel that the agent could not touch."""
        raise NotImplementedError

    def _give_up(self) -> None:
        """Lets go of the backend, which may be broken: the next `_start` makes a fresh one."""
        raise NotImplementedError

    def reference_actions(self, task: TaskT) -> Generator[str, str, None]:
        """Plays the reference solution: is sent each observation, yields the next action."""
        raise NotImplementedError

    def why_invalid(self, text: str) -> str | None:
        """Why `text` holds no action, and what was expected; None if it holds one."""
        raise NotImplementedError

    @property
    def idle_action(self) -> str:
        """An action that ends an episode and changes nothing: what an idle agent sends."""
        raise NotImplementedError

    # What is the same everywhere --------------------------------------------------------

    @property
    def task(self) -> TaskT:
        """The current task, solution included: for trusted code, never for the agent."""
        if self._task is None:
            raise ResetNeeded("there is no task before the first reset: call reset()")
        return self._task

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: Seeds the draw of a task: the same seed gives the same task in every copy.
            options: `{"task_id": ...}` or `{"task_index": ...}` chooses the task instead.

        Returns:
            The first observation and `info`, with the opening and the first messages.

        Raises:
            UsageError: No such task, or an unknown option.
            BackendError: The task could not be set up.
        """
        super().reset(seed=seed)
        self._running = False
        self._task = task = self._choose(options or {})
        self._turn = 0
        text = self._guarded(self._start, task)
        opening = Opening(rules=self._rules(task), lessons=[], experiences=[], task=text)
        messages, observation = render(opening)
        self._shown = list(messages)
        self._running = True
        return observation, {
            "opening": opening,
            "messages": messages,
            "task_id": task.id,
            "domain": self.domain,
            "skills": list(task.skills),
            "max_turns": self.max_turns,
        }

    def step(self, action: str | None) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carries out one action.

        Args:
            action: The agent's whole reply, or a `Stop` where it cannot act.

        Returns:
            Gymnasium's five values. The reward is 0.0 until the episode ends; `terminated`
            means finished or forfeited, `truncated` a limit. At the end `info` has
            `success` and `grading`.

        Raises:
            BackendError: The system failed; the episode is over and not scored.
        """
        if action is None:
            raise TypeError(
                "step(None) needs an agent around the environment, for example "
                "lifelong_gym.baselines.OracleAgent(env); got an environment alone"
            )
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, got {type(action).__name__}")
        if not self._running:
            raise ResetNeeded("the episode is over: call reset() before step()")
        if isinstance(action, Stop):
            return self._stop(action)
        text = replace_surrogates(action)
        self._turn += 1
        if reason := self.why_invalid(text):
            return self._refuse(text, reason)
        return self._continue(text, self._guarded(self._respond, text, self.task))

    def render(self) -> str | None:
        """The episode so far, as a person would want to read it."""
        if self.render_mode != "ansi":
            return None
        names = {"system": "Rules", "user": "Environment", "tool": "Environment"}
        return "\n\n".join(
            f"== {names.get(message['role'], 'Agent')}\n{_shown_text(message)}"
            for message in self._shown
        )

    def close(self) -> None:
        """Frees everything; closing twice is fine."""
        self._running = False
        self._give_up()

    # The steps of an episode -----------------------------------------------------------

    def _choose(self, options: Mapping[str, Any]) -> TaskT:
        unknown = set(options) - {"task_id", "task_index"}
        if unknown or len(options) > 1:
            raise UsageError(f"reset takes the option task_id or task_index, got {sorted(options)}")
        if "task_id" in options:
            return self.task_set[self._position(options["task_id"])]
        if "task_index" in options:
            index = _whole_number("task_index", options["task_index"])
            if not 0 <= index < len(self.task_set):
                raise UsageError(
                    f"task_index must be between 0 and {len(self.task_set) - 1}, got {index}"
                )
            return self.task_set[index]
        return self.task_set[int(self.np_random.integers(len(self.task_set)))]

    def _position(self, task_id: object) -> int:
        try:
            return self._index[task_id]  # type: ignore[index]
        except (KeyError, TypeError):
            some = ", ".join(list(self._index)[:3])
            raise UsageError(
                f"no task has the id {task_id!r}; the {len(self._index)} ids begin with {some}"
            ) from None

    def _refuse(self, text: str, reason: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self.on_invalid_action == "retry":
            return self._continue(text, Reply(f"Invalid action: {reason}"))
        return self._continue(
            text, Reply(f"Invalid action: {reason}", finished=True, status="invalid_action")
        )

    def _stop(self, stop: Stop) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if stop.status not in STOP_STATUSES:
            raise UsageError(
                f"a Stop's status is one of {sorted(STOP_STATUSES)}, got {stop.status!r}"
            )
        reason = self._fit(stop.reason)
        if reason:
            self._shown.append({"role": "user", "content": reason})
        return self._end(stop.status, reason)

    def _fit(self, text: str) -> str:
        return bounded(replace_surrogates(text), self.max_observation_bytes)

    def _continue(self, text: str, reply: Reply) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation = self._fit(reply.observation)
        self._shown += turn(text, observation)
        if reply.finished:
            return self._end(reply.status, observation, reply.info)
        if self._turn >= self.max_turns:
            return self._end("turn_limit", observation, reply.info)
        info = {**reply.info, "turn": self._turn, "status": "running"}
        return observation, 0.0, False, False, info

    def _end(
        self,
        status: str,
        observation: str,
        extra: Mapping[str, Any] | None = None,
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._running = False
        info: dict[str, Any] = {**(extra or {}), "turn": self._turn, "status": status}
        reward = 0.0
        if status in SCORED_STATUSES:
            grading = self._verdict(status, observation)
            reward = rewards.shaped(self._shape, grading)
            info["success"] = grading.success
            info["grading"] = {
                **grading.details,
                "reason": grading.reason,
                "score": float(grading.score),
            }
        truncated = status in LIMITS or status not in SCORED_STATUSES
        return observation, reward, not truncated, truncated, info

    def _verdict(self, status: str, observation: str) -> Grading:
        if status == "invalid_action":
            return Grading(success=False, reason=f"forfeited: {observation}")
        return self._guarded(self._grade, self.task)

    def _guarded(self, hook: Callable[..., _Result], *args: Any) -> _Result:
        """Calls a hook; if the system fails in it, the backend is given up."""
        try:
            return hook(*args)
        except BackendError:
            self._running = False
            self._give_up()
            raise

    def _check_arguments(self) -> None:
        if not self.task_set:
            raise UsageError("an environment needs at least one task, got none")
        if len(self._index) < len(self.task_set):
            counts = Counter(task.id for task in self.task_set)
            raise UsageError(f"task ids must be unique, got {counts.most_common(1)[0][0]!r} twice")
        for name, value in (
            ("max_turns", self.max_turns),
            ("max_observation_bytes", self.max_observation_bytes),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be a whole number of at least 1, got {value!r}")
        for name, choice, allowed in (
            ("action_format", self.action_format, get_args(ActionFormat)),
            ("on_invalid_action", self.on_invalid_action, get_args(OnInvalidAction)),
            ("render_mode", self.render_mode, (None, *self.metadata["render_modes"])),
        ):
            if choice not in allowed:
                raise UsageError(f"{name} must be one of {allowed}, got {choice!r}")


def _whole_number(name: str, value: object) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise UsageError(f"{name} must be a whole number, got {value!r}")


def _shown_text(message: Message) -> str:
    return str(message["content"] if message["content"] is not None else message["tool_calls"])
