"""ScriptedAgent: actions that were written down beforehand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium

from lifelong_gym.baselines.agents.turns import idle_action, turns_taken
from lifelong_gym.core import Agent, Message
from lifelong_gym.errors import UsageError

Script: TypeAlias = "Sequence[str] | Mapping[str, Sequence[str]] | str | Path"
"""Actions for every task, actions by task id, or the path of a file with the latter."""

_LINE = '{"task_id": "...", "actions": ["..."]}'


class ScriptedAgent(Agent):
    """Sends given actions, and the environment's `idle_action` once they run out.

    Args:
        env: The environment to act in.
        actions: A list of actions that is used for every task; a mapping from task ids to
            lists; or the path of a file that holds such a list or mapping as JSON, or lines
            `{"task_id": "...", "actions": [...]}`.

    Raises:
        UsageError: The file or its form is wrong, or a task is played that `actions` lacks.

    Examples:
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> agent = ScriptedAgent(ScriptedEnv([("Say please.", "please")]), ["now!", "please"])
        >>> observation, info = agent.reset()
        >>> [agent.step(None)[0] for _ in range(2)]
        ['No.', 'Yes.']
    """

    def __init__(self, env: gymnasium.Env[str, Any], actions: Script) -> None:
        self._script = _script(actions)
        recorded = dict(self._script) if isinstance(self._script, Mapping) else self._script
        super().__init__(env, actions=recorded)
        self._actions: Sequence[str] = ()
        self._opening_length = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode and takes up its task's actions."""
        observation, info = super().reset(seed=seed, options=options)
        self._actions = self._actions_for(info["task_id"])
        self._opening_length = len(self.conversation)
        return observation, info

    def act(self, messages: Sequence[Message]) -> str:
        """The action that was written down for this turn."""
        number = turns_taken(self.conversation[self._opening_length :])
        return self._actions[number] if number < len(self._actions) else idle_action(self.env)

    def _actions_for(self, task_id: str) -> Sequence[str]:
        if not isinstance(self._script, Mapping):
            return self._script
        try:
            return self._script[task_id]
        except KeyError:
            raise UsageError(
                f"the script has no actions for the task {task_id!r}; it has some for "
                f"{len(self._script)}, such as {', '.join(list(self._script)[:3])}"
            ) from None


def _script(actions: Script) -> list[str] | dict[str, list[str]]:
    if isinstance(actions, str | Path):
        return _read(Path(actions))
    return _checked(actions, "actions")


def _read(path: Path) -> list[str] | dict[str, list[str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the script {path} cannot be read: {error}") from error
    try:
        whole = json.loads(text)
    except ValueError:
        return _read_lines(path, text)
    if isinstance(whole, dict) and {"task_id", "actions"} <= set(whole):
        return _read_lines(path, json.dumps(whole))
    return _checked(whole, str(path))


def _read_lines(path: Path, text: str) -> dict[str, list[str]]:
    script: dict[str, list[str]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        task_id, actions = _parse_line(line, place)
        if task_id in script:
            raise UsageError(f"{place}: the task {task_id!r} stands there for a second time")
        script[task_id] = actions
    return script


def _parse_line(line: str, place: str) -> tuple[str, list[str]]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: not JSON ({error}); a line is {_LINE}") from None
    if not isinstance(entry, dict) or not isinstance(entry.get("task_id"), str):
        raise UsageError(f"{place}: there is no task_id; a line is {_LINE}, got {line[:80]}")
    return entry["task_id"], _actions(entry.get("actions"), f"{place}, actions")


def _checked(script: object, place: str) -> list[str] | dict[str, list[str]]:
    if isinstance(script, Mapping):
        return {str(key): _actions(value, f"{place}, {key}") for key, value in script.items()}
    return _actions(script, place)


def _actions(value: object, place: str) -> list[str]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UsageError(f"{place}: expected a list of texts, got {value!r}")
    if wrong := [action for action in value if not isinstance(action, str)]:
        raise UsageError(f"{place}: expected a list of texts, got {wrong[0]!r} in it")
    return list(value)
