"""What is said to an agent and by it: the opening, messages, decisions.

Messages are the dictionaries of OpenAI's chat API. The opening is the part of a
conversation that wrappers may change before the agent reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict

from lifelong_gym.errors import UsageError
from lifelong_gym.tools import tool_calls

Message: TypeAlias = dict[str, Any]
"""One message of a conversation: `{"role": ..., "content": ...}` in OpenAI's form."""


class Experience(TypedDict):
    """An earlier episode, shown to an agent before its task."""

    task_id: str
    messages: list[Message]
    success: bool | None


class Opening(TypedDict):
    """What an agent is told before it acts, in parts that wrappers can change."""

    rules: str
    lessons: list[str]
    experiences: list[Experience]
    task: str


class Usage(TypedDict):
    """What deciding one action cost."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


class _Completion(Protocol):
    """The part of `models.Completion` that this module reads."""

    @property
    def usage(self) -> Mapping[str, int]: ...


class Decision(str):
    """An action that remembers the model completions it was made from.

    Args:
        text: The action, as `step` takes it.
        completions: The completions behind it, in the order in which they were made.

    Examples:
        >>> decision = Decision("Act: finish")
        >>> decision == "Act: finish", decision.usage["calls"]
        (True, 0)
    """

    completions: tuple[Any, ...]

    def __new__(cls, text: str, completions: Iterable[_Completion] = ()) -> Decision:
        """Builds the `str` and hangs the completions on it."""
        decision = super().__new__(cls, text)
        decision.completions = tuple(completions)
        return decision

    def __getnewargs__(self) -> tuple[str, tuple[Any, ...]]:  # type: ignore[override]
        """Lets a decision be copied and pickled with its completions."""
        return str(self), self.completions

    @property
    def usage(self) -> Usage:
        """The sum over the completions, in calls and tokens."""
        return Usage(
            calls=len(self.completions),
            prompt_tokens=sum(c.usage.get("prompt_tokens", 0) for c in self.completions),
            completion_tokens=sum(c.usage.get("completion_tokens", 0) for c in self.completions),
        )


class Stop(str):
    """What an agent that cannot act passes to `step`: the episode ends with `status`.

    Args:
        status: One of `core.STOP_STATUSES`, such as `"context_limit"`.
        reason: Why, for people; it becomes the last observation.
    """

    status: str
    reason: str

    def __new__(cls, status: str, reason: str = "") -> Stop:
        """Builds an empty text: no action was made."""
        stop = super().__new__(cls, "")
        stop.status, stop.reason = status, reason
        return stop

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Lets a stop be copied and sent to another process."""
        return self.status, self.reason


def render(opening: Opening) -> tuple[list[Message], str]:
    """Makes the first messages and the first observation from an opening.

    Args:
        opening: Rules and lessons become the system message; experiences and the task
            become the user's.

    Returns:
        The messages, new in every call, and the same as one plain text: an agent that
        sees nothing else can act on it.

    Raises:
        UsageError: A lesson is no text, or an experience lacks a part.

    Examples:
        >>> opening = {"rules": "Be brief.", "lessons": ["Look first."], "experiences": [],
        ...            "task": "Count the rows."}
        >>> messages, observation = render(opening)
        >>> [message["role"] for message in messages]
        ['system', 'user']
        >>> print(observation)
        Be brief.
        <BLANKLINE>
        Lessons from earlier tasks:
        - Look first.
        <BLANKLINE>
        Count the rows.
    """
    _check(opening)
    system = opening["rules"]
    if opening["lessons"]:
        lessons = "\n".join(f"- {lesson}" for lesson in opening["lessons"])
        system = f"{system}\n\nLessons from earlier tasks:\n{lessons}"
    user = opening["task"]
    if opening["experiences"]:
        shown = "\n\n".join(
            _render_experience(number, experience)
            for number, experience in enumerate(opening["experiences"], 1)
        )
        user = f"{shown}\n\nNow your task:\n{user}"
    messages: list[Message] = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": user})
    return messages, "\n\n".join(str(message["content"]) for message in messages)


def _check(opening: Opening) -> None:
    """Refuses what a wrapper put there in another form than an opening has."""
    for lesson in opening["lessons"]:
        if not isinstance(lesson, str):
            raise UsageError(f"a lesson is a text, got {lesson!r}")
    keys = Experience.__required_keys__
    for experience in opening["experiences"]:
        if not isinstance(experience, Mapping) or not keys <= experience.keys():
            raise UsageError(f"an experience is a mapping of {sorted(keys)}, got {experience!r}")


def _render_experience(number: int, experience: Experience) -> str:
    outcome = {True: ", solved", False: ", not solved", None: ""}[experience["success"]]
    return f"Example {number}{outcome}:\n{transcript(experience['messages'])}"


def transcript(messages: Iterable[Message]) -> str:
    """Messages as plain text, a line `Agent:` or `Environment:` before each.

    Examples:
        >>> print(transcript([{"role": "user", "content": "Ready?"}, *turn("yes", "Good.")]))
        Environment:
        Ready?
        Agent:
        yes
        Environment:
        Good.
    """
    return "\n".join(
        f"{'Agent' if message['role'] == 'assistant' else 'Environment'}:\n{_text(message)}"
        for message in messages
    )


def _text(message: Message) -> str:
    if calls := message.get("tool_calls"):
        return json.dumps(calls, ensure_ascii=False)
    return str(message["content"])


def turn(action: str, observation: str) -> list[Message]:
    """The messages of one turn: what the agent sent and what it got back.

    An action in tool-call form becomes an assistant message with `tool_calls` and one
    `tool` message for each call, as chat endpoints demand; the environment runs the
    first call only, and the others are answered with that.

    Examples:
        >>> [message["role"] for message in turn("Act: finish", "Done.")]
        ['assistant', 'user']
    """
    calls = tool_calls(action)
    if calls is None:
        return [
            {"role": "assistant", "content": str(action)},
            {"role": "user", "content": observation},
        ]
    messages: list[Message] = [{"role": "assistant", "content": None, "tool_calls": calls}]
    for number, call in enumerate(calls):
        content = observation if number == 0 else "Not run: one call a turn."
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return messages
