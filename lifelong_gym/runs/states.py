"""What wrappers remember, taken apart into what is written each time and what was added."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lifelong_gym.core import AppendOnly
from lifelong_gym.errors import UsageError

_MARK = "$append_only"


@dataclass(frozen=True)
class LayerState:
    """The state of one layer.

    Attributes:
        text: The state as JSON, in which a mark with path and length stands for each
            `AppendOnly` list.
        lists: These lists, by path.
    """

    text: str
    lists: Mapping[str, AppendOnly] = field(default_factory=dict)

    def lengths(self) -> dict[str, int]:
        """How many items each list has."""
        return {path: len(items) for path, items in self.lists.items()}


def capture(layer: Any, name: str) -> LayerState:
    """Takes `layer.state_dict()` apart.

    Raises:
        UsageError: The state is not JSON.
    """
    lists: dict[str, AppendOnly] = {}
    marked = _mark(layer.state_dict(), "", lists)
    try:
        return LayerState(json.dumps(marked), lists)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the state_dict of {name} must be JSON: {error}") from error


def restore(layer: Any, text: str, lists: Mapping[str, AppendOnly]) -> None:
    """Puts a state together again and hands it to `layer.load_state_dict`."""
    layer.load_state_dict(_unmark(json.loads(text), lists))


def added(
    name: str, state: LayerState, stored: Mapping[str, int]
) -> Iterator[tuple[str, int, str]]:
    """The items that a state has and the store has not: path, number, JSON.

    Args:
        name: The layer, named in the error.
        state: What it remembers now.
        stored: How many items of each list the store holds.

    Raises:
        UsageError: A list became shorter, or holds what is not JSON.
    """
    for path, items in state.lists.items():
        start = stored.get(path, 0)
        if len(items) < start:
            raise UsageError(
                f"{name} removed items from an AppendOnly list ({path or 'its whole state'}): "
                f"it had {start} and has {len(items)}. Use a plain list for what may shrink"
            )
        try:
            # A slice, not a walk: the cost is that of what was added.
            yield from (
                (path, number, json.dumps(item)) for number, item in enumerate(items[start:], start)
            )
        except (TypeError, ValueError) as error:
            raise UsageError(f"the state_dict of {name} must be JSON: {error}") from error


def _mark(value: Any, path: str, lists: dict[str, AppendOnly]) -> Any:
    if isinstance(value, AppendOnly):
        lists[path] = value
        return {_MARK: [path, len(value)]}
    if isinstance(value, Mapping):
        return {key: _mark(item, f"{path}/{_escaped(key)}", lists) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mark(item, f"{path}/{number}", lists) for number, item in enumerate(value)]
    return value


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _unmark(value: Any, lists: Mapping[str, AppendOnly]) -> Any:
    if isinstance(value, list):
        return [_unmark(item, lists) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_MARK}:
        path, length = value[_MARK]
        return AppendOnly(lists.get(path, AppendOnly())[:length])
    return {key: _unmark(item, lists) for key, item in value.items()}
