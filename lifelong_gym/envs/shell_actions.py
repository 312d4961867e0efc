"""What an agent says on a Linux machine: the forms of its actions, and the rules about them."""

from __future__ import annotations

import functools
import re
from typing import Any

from lifelong_gym.actions import Action, Form, Invalid, nothing, read_action
from lifelong_gym.fences import fence, here_documents_end
from lifelong_gym.tasks import OPERATING_SYSTEM_SKILLS
from lifelong_gym.tools import read_tool_call, tool_call, tool_schema

_RULES = """\
You work on a Linux machine, as root. In every turn you do one of these.

1. Run bash commands and read what they print.
{bash}
Every turn runs in a fresh bash: the working directory and the variables of the last one \
are gone. There is no input to read and no network. Commands that run for {seconds:g} \
seconds are stopped.

2. Finish, once you have done what was asked.
{finish}
{more}
You have {turns} turns."""

_TEXT_FORMS = {
    "bash": "Act: bash\n```bash\nls -l /var/log\n```",
    "finish": "Act: finish",
    "answer": "Act: answer(42)",
}
_TOOL_FORMS = {
    "bash": "Call the tool bash.",
    "finish": "Call the tool submit.",
    "answer": "Call the tool submit with the answer.",
}
_QUESTION = "\n3. Answer the question. This finishes the task as well.\n{answer}\n"
_SKILLS = f"\nThe only commands in PATH are {', '.join(OPERATING_SYSTEM_SKILLS)}.\n"
_EXPECTED = (
    "Expected `Act: bash` with commands in a ```bash fence, `Act: finish` or `Act: answer(...)`."
)
_PARENTHESES = re.compile(r"[ \t]*\(")

TOOLS = [
    tool_schema(
        "bash",
        "Runs commands in a fresh bash and returns what they print.",
        {"commands": {"type": "string", "description": "Bash commands."}},
        ["commands"],
    ),
    tool_schema(
        "submit",
        "Finishes the task.",
        {"answer": {"type": "string", "description": "The answer, if there was a question."}},
        [],
    ),
]
"""The actions as OpenAI tool schemas."""


def rules(action_format: str, *, turns: int, seconds: float, asks: bool, skills_only: bool) -> str:
    """What the agent is told.

    Args:
        action_format: `"text"` or `"tools"`.
        turns: How many turns it has.
        seconds: After how many seconds a turn's commands are stopped.
        asks: Whether the task is a question.
        skills_only: Whether PATH holds the 29 commands of the paper only.
    """
    forms = _TEXT_FORMS if action_format == "text" else _TOOL_FORMS
    more = (_QUESTION.format(**forms) if asks else "") + (_SKILLS if skills_only else "")
    return _RULES.format(**forms, more=more, turns=turns, seconds=seconds)


def read(text: str, action_format: str) -> Action | Invalid:
    """The action in a reply: `bash` with its script, `finish`, or `answer` with its text."""
    if action_format == "text":
        return read_action(text, _forms()) or Invalid(f"no action was found. {_EXPECTED}")
    call = read_tool_call(text, TOOLS)
    if isinstance(call, Invalid):
        return call
    name, arguments = call
    if name == "bash":
        return Action("bash", arguments["commands"])
    return Action("answer", arguments["answer"]) if "answer" in arguments else Action("finish")


def write(name: str, payload: str, action_format: str) -> str:
    """An action as an agent would send it."""
    if action_format == "tools":
        arguments: dict[str, Any] = {"answer": payload} if name == "answer" else {}
        return (
            tool_call("bash", {"commands": payload})
            if name == "bash"
            else tool_call("submit", arguments)
        )
    if name == "bash":
        return f"Act: bash\n```bash\n{payload}\n```"
    return f"Act: answer({payload})" if name == "answer" else "Act: finish"


@functools.cache
def _forms() -> tuple[Form, ...]:
    script = fence("bash", "sh", "shell", "console", is_complete=here_documents_end)
    return (
        Form("bash", ("Act", "bash"), script),
        Form("finish", ("Act", "finish"), nothing),
        Form("answer", ("Act", "answer"), _in_parentheses),
    )


def _in_parentheses(text: str, start: int, limit: int) -> str | None:
    """What stands in parentheses: to the last one on the line, or the first one after it."""
    opening = _PARENTHESES.match(text, start, limit)
    if opening is None:
        return None
    line_end = text.find("\n", opening.end(), limit)
    end = text.rfind(")", opening.end(), limit if line_end < 0 else line_end)
    if end < 0:
        end = text.find(")", opening.end(), limit)
    return None if end < 0 else text[opening.end() : end].strip()
