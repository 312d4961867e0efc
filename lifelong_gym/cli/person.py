"""PersonAgent: asks whoever sits in front of the terminal what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import gymnasium

from lifelong_gym.core import Agent, Message
from lifelong_gym.errors import RunPaused
from lifelong_gym.tools import tool_call

END = "."


class Left(RunPaused):
    """A person stopped playing; nothing is wrong."""


"""The line that ends a text of several lines."""

_HELP = f"""\
Type a number or the name of an action and what goes with it: 1 ... on one line; or the
number alone, then as many lines as you like, and a line with a single {END} at the end.
:task shows the task again, :rules the rules, :history this episode so far, :actions the
actions, :help this text; :quit, or the end of the input, stops."""

_RAW_HELP = f"""\
Type the whole action in the form that the rules describe, as many lines as it takes, and
then a line with a single {END} on it."""


class PersonAgent(Agent):
    """A person who acts: shows what the environment says and asks for an action.

    Where the environment's `action_format` is `"tools"` the person chooses one of its tools
    and types its arguments; with `"text"` the whole action.

    Args:
        env: The environment to act in.
        ask: Asks for a line, given a prompt; raises EOFError at the end of the input.
        say: Shows a text.
    """

    def __init__(
        self, env: gymnasium.Env[str, Any], ask: Callable[[str], str], say: Callable[[str], None]
    ) -> None:
        super().__init__(env)
        self._ask, self._say = ask, say
        uses_tools = getattr(env.unwrapped, "action_format", "text") == "tools"
        self._tools: list[Mapping[str, Any]] = (
            [tool["function"] for tool in env.get_wrapper_attr("tools")] if uses_tools else []
        )
        self._opening: Mapping[str, Any] = {}
        self._opening_length = 0
        self._knows_rules = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode and shows its task; the rules are shown once."""
        observation, info = super().reset(seed=seed, options=options)
        self._opening, self._opening_length = info["opening"], len(self.conversation)
        self._say(f"\n== Task {info['task_id']}, {info['max_turns']} turns")
        if not self._knows_rules:
            self._say(f"{info['opening']['rules']}\n")
            self._help()
            self._knows_rules = True
        self._show_task()
        return observation, info

    def act(self, messages: Sequence[Message]) -> str:
        """Asks until an action is typed.

        Raises:
            Left: The person has had enough.
        """
        while True:
            line = self._line("> ")
            if line.startswith(":"):
                self._command(line.strip())
            elif self._tools:
                if action := self._chosen(line):
                    return action
            elif text := self._text(line):
                return text

    def step(self, action: str | None = None) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Plays one turn and shows what came of it."""
        result = super().step(action)
        observation, _, terminated, truncated, info = result
        self._say(f"=> {observation}")
        if terminated or truncated:
            verdicts = {True: "solved", False: "not solved", None: "not scored"}
            solved = verdicts[info.get("success")]
            reason = info.get("grading", {}).get("reason", info["status"])
            self._say(f"== {solved}: {reason}")
        return result

    def _command(self, command: str) -> None:
        commands: dict[str, Callable[[], None]] = {
            ":help": self._help,
            ":actions": self._show_actions,
            ":rules": lambda: self._say(self._opening["rules"]),
            ":task": self._show_task,
            ":history": self._show_history,
            ":quit": self._quit,
        }
        unknown = f"there is no {command}; there are {', '.join(commands)}"
        commands.get(command, lambda: self._say(unknown))()

    def _chosen(self, line: str) -> str | None:
        """A tool call from a line; None if there is none in it, which is said."""
        name, _, payload = line.strip().partition(" ")
        if not name:
            return None
        tool = self._tool(name)
        if tool is None:
            self._say(f"there is no action {name!r}; :actions lists them, :help says more")
            return None
        arguments = self._arguments(tool, payload.strip())
        return tool_call(tool["name"], arguments)

    def _tool(self, name: str) -> Mapping[str, Any] | None:
        """The tool of that number or name, or the only one whose name begins so."""
        if name.isdecimal():
            number = int(name)
            return self._tools[number - 1] if 1 <= number <= len(self._tools) else None
        begun = [tool for tool in self._tools if tool["name"].startswith(name)]
        exact = [tool for tool in begun if tool["name"] == name]
        return (exact or begun)[0] if exact or len(begun) == 1 else None

    def _arguments(self, tool: Mapping[str, Any], payload: str) -> dict[str, Any]:
        properties = tool["parameters"]["properties"]
        arguments: dict[str, Any] = {}
        for name, schema in properties.items():
            text = payload or self._several_lines(f"{name} (ends with a line {END}):")
            payload = ""
            arguments[name] = _typed(text, schema)
        return arguments

    def _text(self, line: str) -> str:
        if line.strip() == END:
            return ""
        rest = self._several_lines("")
        return f"{line}\n{rest}".rstrip("\n")

    def _several_lines(self, title: str) -> str:
        if title:
            self._say(title)
        lines: list[str] = []
        while (line := self._line("| ")).strip() != END:
            lines.append(line)
        return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        try:
            return self._ask(prompt)
        except EOFError:
            self._quit()

    def _quit(self) -> NoReturn:
        raise Left("you stopped")

    def _help(self) -> None:
        self._say(_HELP if self._tools else f"{_RAW_HELP}\n{_HELP.partition('end.')[2].strip()}")
        self._show_actions()

    def _show_actions(self) -> None:
        for number, tool in enumerate(self._tools, 1):
            arguments = ", ".join(tool["parameters"]["properties"])
            self._say(f"  {number}  {tool['name']}({arguments})  {tool['description']}")

    def _show_task(self) -> None:
        lessons = [f"Lesson: {lesson}" for lesson in self._opening["lessons"]]
        self._say("\n".join([*lessons, self._opening["task"]]))

    def _show_history(self) -> None:
        said = self.conversation[self._opening_length :]
        self._say("\n".join(map(_told, said)) or "nothing was done yet")


def _told(message: Message) -> str:
    """A message of this episode as a person typed or read it."""
    if message["role"] != "assistant":
        return f"=> {message['content']}"
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if not calls:
        return f"> {message['content']}"
    return "\n".join(
        f"> {call['name']} {' '.join(map(str, json.loads(call['arguments']).values()))}".rstrip()
        for call in calls
    )


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """What was typed as the schema has it: JSON where that is no text."""
    if schema.get("type", "string") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
