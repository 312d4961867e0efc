"""Which settings of a run changed, and whether it may go on with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lifelong_gym.errors import SettingsChangedError

_ABSENT = "(absent)"
_SHOWN = 60


def check_unchanged(
    recorded: Mapping[str, Any],
    current: Mapping[str, Any],
    is_harmless: Callable[[str], bool],
    folder: Path | None,
) -> None:
    """Refuses settings under which the episodes of a run would come out differently.

    Args:
        recorded: The settings that the run began with.
        current: Those that would go on with it.
        is_harmless: Says of a setting's name that it may change.
        folder: The run's, named in the error.

    Raises:
        SettingsChangedError: The message names each such setting with both values.
    """
    changed = [
        f"{name}: recorded {old}, now {new}"
        for name, values in differing(recorded, current).items()
        if not is_harmless(name)
        for old, new in [_shown(*values)]
    ]
    if changed:
        raise settings_changed(folder, changed)


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The settings of two runs that are not the same, each with both values.

    Where the tasks are the same, it does not matter where they were loaded from.
    """
    same_tasks = first.get("tasks.sha256") == second.get("tasks.sha256")
    return {
        name: (first.get(name, _ABSENT), second.get(name, _ABSENT))
        for name in [*first, *(name for name in second if name not in first)]
        if first.get(name, _ABSENT) != second.get(name, _ABSENT)
        and not (name == "env.tasks" and same_tasks)
    }


def settings_changed(folder: Path | None, changed: Iterable[str]) -> SettingsChangedError:
    """The error that lists what changed, a line each, and says what to do."""
    lines = "\n".join(f"  {line}" for line in changed)
    return SettingsChangedError(
        f"the run in {folder} was made with other settings:\n{lines}\n"
        "Use another output folder, or the recorded settings to go on"
    )


def _shown(old: Any, new: Any) -> tuple[str, str]:
    """Both values, long ones cut to where they begin to differ."""
    texts = (repr(old), repr(new))
    if max(map(len, texts)) <= 2 * _SHOWN:
        return texts
    pairs = zip(*texts, strict=False)
    differ = next((n for n, (a, b) in enumerate(pairs) if a != b), min(map(len, texts)))
    start = max(0, differ - _SHOWN // 2)
    old_text, new_text = (_cut(text, start) for text in texts)
    return old_text, new_text


def _cut(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")
