"""OpenAI tool calls: reading an action in that form, writing one, describing a tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lifelong_gym.actions import Invalid
from lifelong_gym.text import replace_surrogates


def tool_calls(action: str) -> list[dict[str, Any]] | None:
    """The OpenAI tool calls that `action` holds, or None if it is not in that form.

    A call without an id or type is given one (`call_0`, `"function"`); arguments that came
    as an object are encoded, as the API has them.
    """
    if not action.lstrip().startswith("["):
        return None
    try:
        calls = json.loads(action)
    except (ValueError, RecursionError):
        return None
    if not calls or not all(_is_call(call) for call in calls):
        return None
    return [_normal_call(number, call) for number, call in enumerate(calls)]


def _is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _normal_call(number: int, call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call["function"].get("arguments", "{}")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {
        "id": str(call.get("id") or f"call_{number}"),
        "type": "function",
        "function": {"name": call["function"]["name"], "arguments": arguments},
    }


def tool_call(name: str, arguments: Mapping[str, Any]) -> str:
    """One action in tool-call form, as a scripted or reference agent sends it.

    Examples:
        >>> tool_calls(tool_call("submit", {"answer": "[]"}))[0]["function"]["name"]
        'submit'
    """
    call = _normal_call(0, {"function": {"name": name, "arguments": dict(arguments)}})
    return json.dumps([call], ensure_ascii=False)


def tool_schema(
    name: str, description: str, properties: Mapping[str, Any], required: Sequence[str]
) -> dict[str, Any]:
    """A function tool in OpenAI's form.

    Args:
        name: What the agent calls it.
        description: One sentence for the model.
        properties: A JSON Schema for each argument.
        required: The arguments that a call must have.
    """
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


def read_tool_call(
    text: str, tools: Sequence[Mapping[str, Any]]
) -> Invalid | tuple[str, dict[str, Any]]:
    """Reads the first of an agent's tool calls and checks it against the schemas.

    Args:
        text: A JSON list of OpenAI tool calls.
        tools: The environment's tools; their properties are all of type string.

    Returns:
        The tool's name and its arguments, or why the text is no valid call.
    """
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    calls = tool_calls(text)
    if calls is None:
        return Invalid(
            "no tool call was found. Expected a JSON list of tool calls, one of "
            f"{', '.join(schemas)}."
        )
    name = calls[0]["function"]["name"]
    if name not in schemas:
        return Invalid(f"there is no tool {name!r}. Expected one of {', '.join(schemas)}.")
    try:
        arguments = json.loads(calls[0]["function"]["arguments"] or "{}")
    except (ValueError, RecursionError):
        return Invalid(f"the arguments of {name} are not JSON. Expected a JSON object.")
    problem = _argument_problem(arguments, schemas[name])
    if problem:
        return Invalid(f"{name}: {problem}")
    # An escape in the arguments can hold half a character that the text around it cannot.
    return name, {key: replace_surrogates(value) for key, value in arguments.items()}


def _argument_problem(arguments: object, schema: Mapping[str, Any]) -> str | None:
    properties = schema["properties"]
    if not isinstance(arguments, dict):
        return f"the arguments are {type(arguments).__name__}. Expected a JSON object."
    for name in schema["required"]:
        if name not in arguments:
            return f"the argument {name!r} is missing. Expected {', '.join(properties)}."
    for name, value in arguments.items():
        if name not in properties:
            return f"there is no argument {name!r}. Expected {', '.join(properties) or 'none'}."
        if not isinstance(value, str):
            return f"the argument {name!r} is {type(value).__name__}. Expected a string."
    return None
