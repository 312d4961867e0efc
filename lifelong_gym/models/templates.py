"""A conversation as the one text that a local model continues."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lifelong_gym.conversation import Message
from lifelong_gym.models.contract import Conversation
from lifelong_gym.models.errors import TemplateRefusedError
from lifelong_gym.models.keys import digest
from lifelong_gym.models.tool_text import spelled_out

PLAIN_STOP = ("\nUser:", "\nSystem:")
"""What ends a reply of a model without a template: it would go on with the other's part."""

_ROLES = {"system": "System", "user": "User", "assistant": "Assistant"}


def render_prompt(
    tokenizer: Any,
    messages: Conversation,
    tools: Sequence[Mapping[str, Any]] | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """Renders a conversation with a tokenizer's chat template, up to the reply.

    Templates differ in what they take. One that refuses a system role, or drops it without
    a word, gets the system text at the head of the first user message; one that wants users
    and assistants to take turns gets neighbours joined; one that knows no tools gets them
    as text.

    Args:
        tokenizer: A tokenizer of transformers, with a chat template.
        messages: The conversation.
        tools: Tool schemas.
        options: More variables for the template, such as `{"enable_thinking": False}`.

    Raises:
        TemplateRefusedError: The template takes none of these forms.
    """
    reasons: list[str] = []
    for arranged, given in _arrangements(messages, tools):
        text = _apply(tokenizer, arranged, given, options or {}, reasons)
        if text is not None and _is_whole(text, arranged, given, reasons):
            return text
    raise TemplateRefusedError(
        f"the chat template of {tokenizer.name_or_path!r} refuses the conversation in every "
        f"form ({'; '.join(dict.fromkeys(reasons))}): give the model another chat template"
    )


def render_plainly(messages: Conversation, tools: Sequence[Mapping[str, Any]] | None = None) -> str:
    r"""Renders a conversation for a model without a chat template.

    Examples:
        >>> render_plainly([{"role": "system", "content": "Be brief."},
        ...                 {"role": "user", "content": "Hi!"}])
        'System: Be brief.\n\nUser: Hi!\n\nAssistant:'
    """
    parts = [f"{_ROLES[m['role']]}: {m['content']}" for m in spelled_out(messages, tools)]
    return "\n\n".join([*parts, "Assistant:"])


def without_system(messages: Conversation) -> list[Message]:
    r"""The conversation for a model that takes no system role and wants turns to alternate.

    Examples:
        >>> without_system([{"role": "system", "content": "Be brief."},
        ...                 {"role": "user", "content": "Hi!"}])
        [{'role': 'user', 'content': 'Be brief.\n\nHi!'}]
    """
    return _in_turns(_without_system(messages))


def _arrangements(
    messages: Conversation, tools: Sequence[Mapping[str, Any]] | None
) -> Iterator[tuple[list[Message], Sequence[Mapping[str, Any]] | None]]:
    """The forms to try, the most faithful first."""
    plain = [_decoded(message) for message in messages]
    yield plain, tools
    yield _in_turns(plain), tools
    yield without_system(plain), tools
    if tools or any(message["role"] == "tool" for message in messages):
        spelled = spelled_out(messages, tools)
        yield spelled, None
        yield _in_turns(spelled), None
        yield without_system(spelled), None


def _decoded(message: Message) -> Message:
    """A message as templates like it.

    They write arguments out as JSON themselves, add texts to texts, and some (Mistral's)
    take no call whose id is not of nine letters and digits.
    """
    decoded = {**message, "content": message.get("content") or ""}
    if "tool_call_id" in message:
        decoded["tool_call_id"] = _id(message["tool_call_id"])
    if calls := message.get("tool_calls"):
        decoded["tool_calls"] = [
            {
                **call,
                "id": _id(call["id"]),
                "function": {**call["function"], "arguments": _object(call)},
            }
            for call in calls
        ]
    return decoded


def _id(given: str) -> str:
    is_taken = given.isascii() and given.isalnum() and len(given) == 9
    return given if is_taken else digest(given)[:9]


def _object(call: Mapping[str, Any]) -> Any:
    arguments = call["function"]["arguments"]
    try:
        return json.loads(arguments)
    except (ValueError, TypeError):
        return arguments


def _without_system(messages: Sequence[Message]) -> list[Message]:
    system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
    others = [dict(m) for m in messages if m["role"] != "system"]
    first = next((m for m in others if m["role"] == "user"), None)
    if not system:
        return others
    if first is None:
        return [{"role": "user", "content": system}, *others]
    first["content"] = f"{system}\n\n{first['content']}"
    return others


def _in_turns(messages: Sequence[Message]) -> list[Message]:
    turns: list[Message] = []
    for message in messages:
        is_plain = "tool_calls" not in message and message["role"] != "tool"
        if turns and is_plain and turns[-1]["role"] == message["role"]:
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(dict(message))
    return turns


def _apply(
    tokenizer: Any,
    messages: list[Message],
    tools: Sequence[Mapping[str, Any]] | None,
    options: Mapping[str, Any],
    reasons: list[str],
) -> str | None:
    from jinja2 import TemplateError

    try:
        return str(
            tokenizer.apply_chat_template(
                messages,
                tools=list(tools) if tools else None,
                tokenize=False,
                add_generation_prompt=True,
                **options,
            )
        )
    except (TemplateError, TypeError, ValueError, KeyError) as error:
        reasons.append(str(error) or type(error).__name__)
        return None


def _is_whole(
    text: str,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]] | None,
    reasons: list[str],
) -> bool:
    """Whether the template left nothing out: some drop what they do not know."""
    needed = [m["content"].strip() for m in messages if m["role"] in ("system", "user")]
    names = [tool["function"]["name"] for tool in tools or ()]
    lost = [part for part in (*needed, *names) if part not in text]
    if lost:
        reasons.append(f"it leaves out {lost[0]!r:.60}")
    return not lost
