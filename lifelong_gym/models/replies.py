"""A chat endpoint's answer, made into a Completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifelong_gym.models.contract import Completion
from lifelong_gym.models.errors import ConnectionLostError
from lifelong_gym.text import replace_surrogates
from lifelong_gym.tools import tool_calls

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def read_reply(answer: Any) -> Completion:
    """Reads the first choice of a chat completion.

    Args:
        answer: The decoded body.

    Returns:
        The completion. A refusal that came instead of a text is its text.

    Raises:
        ConnectionLostError: It is no chat completion: a proxy's page, half an answer.
    """
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    if not isinstance(choices, list) or not all(isinstance(one, Mapping) for one in choices):
        raise ConnectionLostError(f"expected a chat completion, got {answer!r:.300}")
    usage = _usage(answer.get("usage"))
    if not choices:  # some servers say nothing this way
        return Completion("", usage=usage)
    choice = choices[0]
    message = choice.get("message") or {}
    text, thoughts = _said(message)
    return Completion(
        text=text or replace_surrogates(message.get("refusal") or ""),
        tool_calls=_tool_calls(message),
        prompt_ids=_ids(answer.get("prompt_token_ids")),
        completion_ids=_ids(choice.get("token_ids")),
        logprobs=_logprobs(choice),
        usage=usage,
        finish_reason=str(choice.get("finish_reason") or "stop"),
        reasoning=thoughts,
    )


def _said(message: Mapping[str, Any]) -> tuple[str, str]:
    """The text and the thoughts, from a string or from a list of typed parts."""
    content = message.get("content") or ""
    thoughts = next((message[key] for key in _THOUGHTS if isinstance(message.get(key), str)), "")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping)]
        content = "".join(str(part["text"]) for part in parts if part.get("text"))
        thoughts = thoughts or "".join(str(p["thinking"]) for p in parts if p.get("thinking"))
    return replace_surrogates(str(content)), replace_surrogates(thoughts)


def _tool_calls(message: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    import json

    # Through the one reader of tool calls, so that ids and arguments have the usual form.
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return ()
    return tuple(tool_calls(replace_surrogates(json.dumps(calls, ensure_ascii=False))) or ())


def _usage(usage: Any) -> dict[str, int]:
    told = usage if isinstance(usage, Mapping) else {}
    names = ("prompt_tokens", "completion_tokens")
    return {name: int(told.get(name) or 0) for name in names}


def _ids(ids: Any) -> tuple[int, ...] | None:
    return tuple(int(one) for one in ids) if isinstance(ids, list) else None


def _logprobs(choice: Mapping[str, Any]) -> tuple[float, ...] | None:
    content = (choice.get("logprobs") or {}).get("content")
    if not isinstance(content, list):
        return None
    return tuple(float(token["logprob"]) for token in content)
