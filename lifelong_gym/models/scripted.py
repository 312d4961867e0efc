"""ScriptedModel: a model whose replies were written down beforehand."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from lifelong_gym.conversation import Message
from lifelong_gym.errors import LifelongGymError, UsageError
from lifelong_gym.models.contract import Completion, Conversation, Sampling, Seed, Shared, seeds
from lifelong_gym.models.errors import ModelError, Outcome, completed
from lifelong_gym.models.keys import digest
from lifelong_gym.tools import tool_calls

Scripted: TypeAlias = "str | Completion | LifelongGymError"
"""A reply: a text (tool calls as a JSON list), a whole completion, or an error to raise."""

Replies: TypeAlias = "Sequence[Scripted] | Mapping[str, Scripted] | Callable[..., Scripted]"
"""Replies in the order of the calls, by what the last message says, or from a function."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a `ScriptedModel` was asked.

    Attributes:
        messages: The conversation.
        sampling: How the reply was to be drawn.
        tools: What could be called.
        seed: The conversation's own seed.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    tools: tuple[Mapping[str, Any], ...] | None
    seed: int | None


class ScriptedModel(Shared):
    """Says what it was told to say, and remembers what it was asked: for tests.

    Tokens are counted as words. It may be asked by several threads at once.

    Args:
        replies: A list is said in the order of the conversations; a mapping from regular
            expressions is searched for the first that is found in the last message; a
            function takes the messages, and the `Call` as well if it has a second argument.

    Attributes:
        calls: A `Call` for each conversation that was continued, in order.

    Examples:
        >>> model = ScriptedModel(["Hello.", "Bye."])
        >>> messages = [{"role": "user", "content": "Hi!"}]
        >>> model.generate([messages], sampling=Sampling())[0].text
        'Hello.'
        >>> model.calls[0].messages[0]["content"]
        'Hi!'
    """

    def __init__(self, replies: Replies) -> None:
        if isinstance(replies, str) or not (
            callable(replies) or isinstance(replies, Mapping | Sequence)
        ):
            raise UsageError(
                f"replies must be a list, a mapping or a function, got {replies!r}: "
                "for one reply write a list of one"
            )
        self._replies = replies
        self._lock = threading.Lock()
        self.calls: list[Call] = []

    @classmethod
    def from_file(cls, path: Path | str) -> ScriptedModel:
        """Reads the replies, a list or a mapping of texts, from a JSON file.

        Raises:
            UsageError: The file cannot be read or has another form.
        """
        try:
            replies = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"the replies in {path} cannot be read: {error}") from error
        texts = list(replies.values()) if isinstance(replies, dict) else replies
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UsageError(
                f"{path} must hold a JSON list or object of texts, got {replies!r:.80}"
            )
        return cls(replies)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What will be said, for the settings of a run."""
        if callable(self._replies):
            name = getattr(self._replies, "__qualname__", type(self._replies).__qualname__)
            module = getattr(self._replies, "__module__", "")
            return {"provider": "scripted", "model": f"{module}:{name}"}
        told = self._replies.items() if isinstance(self._replies, Mapping) else self._replies
        return {"provider": "scripted", "model": digest([repr(one) for one in told])[:16]}

    def generate(
        self,
        conversations: Sequence[Conversation],
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: Seed = None,
    ) -> list[Completion]:
        """Says the next reply to each conversation; see `LanguageModel`.

        Raises:
            UsageError: There is no reply left, or none that matches.
        """
        outcomes: list[Outcome] = []
        for messages, one in zip(conversations, seeds(conversations, seed), strict=True):
            call = Call(tuple(messages), sampling, None if tools is None else tuple(tools), one)
            reply = self._reply(call)
            if isinstance(reply, Exception) and not isinstance(reply, ModelError):
                raise reply
            outcomes.append(reply if isinstance(reply, ModelError) else _completion(reply, call))
        return completed(outcomes)

    def _reply(self, call: Call) -> Scripted:
        with self._lock:
            number = len(self.calls)
            self.calls.append(call)
        if isinstance(self._replies, Mapping):
            return _match(self._replies, str(call.messages[-1].get("content") or ""))
        if callable(self._replies):
            return _ask(self._replies, call)
        if number >= len(self._replies):
            raise UsageError(
                f"the script has {len(self._replies)} replies and was asked for one more"
            )
        return self._replies[number]


def _ask(function: Callable[..., Scripted], call: Call) -> Scripted:
    import inspect

    try:
        count = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a built-in without a signature
        count = 1
    messages = list(call.messages)
    return function(messages, call) if count > 1 else function(messages)


def _match(replies: Mapping[str, Scripted], text: str) -> Scripted:
    for pattern, reply in replies.items():
        if re.search(pattern, text):
            return reply
    raise UsageError(f"no pattern among {list(replies)} is found in the message {text!r:.200}")


def _completion(reply: Scripted, call: Call) -> Completion:
    if isinstance(reply, Completion):
        return reply
    if not isinstance(reply, str):
        raise UsageError(f"a reply is a text, a Completion or an error, got {reply!r:.80}")
    usage = {
        "prompt_tokens": sum(len(str(m.get("content") or "").split()) for m in call.messages),
        "completion_tokens": len(reply.split()),
    }
    calls = tool_calls(reply) if call.tools is not None else None
    if calls is not None:
        return Completion("", tuple(calls), usage=usage, finish_reason="tool_calls")
    return replace(_cut(reply, call.sampling.stop), usage=usage)


def _cut(text: str, stop: Sequence[str]) -> Completion:
    ends = [text.index(word) for word in stop if word in text]
    return Completion(text[: min(ends)] if ends else text)
