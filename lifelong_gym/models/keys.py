"""Digests and seeds: what makes two model calls the same, and two samples different."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lifelong_gym.models.contract import Conversation, Sampling

_SEEDS = 2**31  # what every provider takes


def digest(value: Any) -> str:
    """The SHA-256 of a JSON value, in hexadecimal; the order of keys does not count."""
    # ASCII: a conversation may hold lone surrogates, which UTF-8 has no form for.
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=list)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def derived_seed(*parts: Any) -> int:
    """A seed in 0 to 2**31 - 1 from JSON values.

    One number with the sample number 0 stays what it is, so that what a user wrote is what
    the provider gets.

    Examples:
        >>> derived_seed(7, 0), derived_seed(7, 1) == derived_seed(7, 1)
        (7, True)
    """
    if len(parts) == 2 and parts[1] == 0 and isinstance(parts[0], int) and 0 <= parts[0] < _SEEDS:
        return parts[0]
    return int(digest(parts)[:16], 16) % _SEEDS


def occurrences(
    conversations: Sequence[Conversation], each: Sequence[int | None] | None = None
) -> list[int]:
    """Which occurrence of itself each conversation is, counted from 0.

    Args:
        conversations: The conversations of one call.
        each: Their seeds; conversations with different seeds are different.
    """
    seen: Counter[str] = Counter()
    numbers = []
    for place, conversation in enumerate(conversations):
        key = digest([list(conversation), each[place] if each else None])
        numbers.append(seen[key])
        seen[key] += 1
    return numbers


def call_key(
    identity: Any,
    conversation: Conversation,
    tools: Sequence[Mapping[str, Any]] | None,
    sampling: Sampling,
    seed: int | None,
    sample: int,
) -> str:
    """The key of a reply in the response cache: everything that it depends on.

    Args:
        identity: What the model is, as JSON.
        conversation: What was said.
        tools: What could be called.
        sampling: How the reply was drawn.
        seed: Its seed.
        sample: Which sample of the same call it is, from 0.
    """
    return digest(
        {
            "format": 1,
            "model": identity,
            "messages": list(conversation),
            "tools": None if tools is None else list(tools),
            "sampling": asdict(sampling),
            "seed": seed,
            "sample": sample,
        }
    )


def stamps(path: str) -> list[list[str | int]]:
    """Names, sizes and times of a local model's files; nothing for a name on the hub.

    Other weights under the same name are another model. Their content is not read: it can
    be hundreds of gigabytes, and a copy that counts as another model only costs a call.
    """
    place = Path(path)
    if not place.exists():
        return []
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    found = [(file.name, file.stat()) for file in files if file.is_file()]
    return [[name, told.st_size, told.st_mtime_ns] for name, told in found]
