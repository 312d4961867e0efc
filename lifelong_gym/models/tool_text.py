"""Tool calls as local models write them: read from text, and written into it.

Three ways are read: Hermes' and Qwen's `<tool_call>{...}</tool_call>`, Mistral's
`[TOOL_CALLS][{...}]`, and Llama's bare `{"name": ..., "parameters": {...}}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lifelong_gym.actions import strip_thinking
from lifelong_gym.conversation import Message
from lifelong_gym.tools import tool_calls

_TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)
_LISTED = re.compile(r"\[TOOL_CALLS\]\s*(\[.*\])", re.DOTALL)
_BARE = re.compile(r"\s*(?:<\|python_tag\|>)?\s*(\{.*\})\s*\Z", re.DOTALL)

_MANUAL = """You can call these functions, one a turn:
{tools}

To call one, reply with its name and arguments as JSON between tags:
<tool_call>
{{"name": "...", "arguments": {{...}}}}
</tool_call>"""


def read_tool_calls(text: str) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """Takes the tool calls out of a reply.

    Args:
        text: The whole reply; calls among its thoughts do not count.

    Returns:
        The rest of the text and the calls in OpenAI's form; the whole text and nothing
        where there is no call.

    Examples:
        >>> reply = 'Now.<tool_call>{"name": "say", "arguments": {"text": "hi"}}</tool_call>'
        >>> rest, calls = read_tool_calls(reply)
        >>> rest, calls[0]["function"]["arguments"]
        ('Now.', '{"text": "hi"}')
    """
    said = strip_thinking(text)
    for pattern in (_TAGGED, _LISTED, _BARE):
        calls = [call for found in pattern.finditer(said) for call in _calls(found[1])]
        if calls:
            whole = tool_calls(json.dumps(calls, ensure_ascii=False)) or []
            return pattern.sub("", said).strip(), tuple(whole)
    return text, ()


def _calls(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    calls = found if isinstance(found, list) else [found]
    return [_call(call) for call in calls if isinstance(call, dict) and _is_call(call)]


def _is_call(call: Mapping[str, Any]) -> bool:
    return isinstance(call.get("name"), str) and ("arguments" in call or "parameters" in call)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments", call.get("parameters"))
    return {"function": {"name": call["name"], "arguments": arguments}}


def spelled_out(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None
) -> list[Message]:
    """The conversation with tools, calls and their results as plain texts.

    For chat templates that know no tools: a system text describes them, calls stand in the
    assistant's texts, results in the user's.
    """
    spelled = [_spelled(message) for message in messages]
    if not tools:
        return spelled
    functions = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    manual = _MANUAL.format(tools=functions)
    if spelled and spelled[0]["role"] == "system":
        system = {"role": "system", "content": f"{spelled[0]['content']}\n\n{manual}"}
        return [system, *spelled[1:]]
    return [{"role": "system", "content": manual}, *spelled]


def _spelled(message: Message) -> Message:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return {"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"}
    said = [content] if content else []
    said += [_written(call["function"]) for call in message.get("tool_calls") or ()]
    return {"role": message["role"], "content": "\n".join(said)}


def _written(function: Mapping[str, Any]) -> str:
    # The arguments are JSON already.
    name = json.dumps(function["name"])
    call = f'{{"name": {name}, "arguments": {function["arguments"]}}}'
    return f"<tool_call>\n{call}\n</tool_call>"
