"""Where settings came from: how messages name them, and what their paths are relative to."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifelong_gym.errors import MissingExtraError, TaskError, UsageError

_OPTIONS = {
    "[env] id": "--env",
    "[env] tasks": "--tasks",
    "[[agents]] 1, type": "--agent",
    "[[agents]] 1": "--agent",
    "[models]": "--model",
    "[run] workers": "--workers",
}
_ENV_ARGUMENT = "[env] args."
_PREFIXED = re.compile(r"(\w+\+)(.+)", re.DOTALL)  # rdflib+PATH


@dataclass(frozen=True)
class Source:
    """A TOML file, or the options of a command.

    Attributes:
        file: The file; None for options.
    """

    file: Path | None = None

    @property
    def base(self) -> Path:
        """The folder that relative paths start from."""
        return Path() if self.file is None else self.file.parent

    def make_importable(self) -> None:
        """Lets modules be imported that stand beside the file, or in the working directory.

        As with `python FILE`, only behind everything else: nothing installed is hidden.
        """
        folder = str(self.base.resolve())
        if folder not in sys.path:
            sys.path.append(folder)

    def name(self, place: str) -> str:
        """How a message names a place, which is given as in a file: `"[env] id"`."""
        if self.file is not None:
            return f"{self.file}: {place}"
        if place.startswith(_ENV_ARGUMENT):
            return f"--env-arg {place.removeprefix(_ENV_ARGUMENT)}"
        return _OPTIONS.get(place, place)

    @contextlib.contextmanager
    def blaming(self, place: str) -> Iterator[None]:
        """Says in which table of the file the settings stand that were refused."""
        try:
            yield
        except UsageError as error:
            # Options are named by the messages themselves.
            if self.file is None or isinstance(error, MissingExtraError):
                raise
            if str(error).startswith(str(self.file)):
                raise
            kind = TaskError if isinstance(error, TaskError) else UsageError
            raise kind(f"{self.name(place)}: {error}") from error

    def resolved(self, value: Any, *, is_path: bool = False) -> Any:
        """`value` with the relative paths in it under `base`.

        A text is a path if it begins with `./` or `../`, or if it looks like a path and there
        is such a file or folder. With `is_path` it need not be there yet.
        """
        if self.file is None:
            return value
        if isinstance(value, dict):
            return {key: self.resolved(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.resolved(item) for item in value]
        if not isinstance(value, str):
            return value
        if prefixed := _PREFIXED.fullmatch(value):
            return prefixed[1] + str(self.resolved(prefixed[2]))
        return self._resolved_text(value, is_path=is_path)

    def _resolved_text(self, text: str, *, is_path: bool) -> str:
        if text.startswith("~/"):
            return str(Path(text).expanduser())
        looks = _looks_like_path(text)
        named = (is_path and looks) or text.startswith(("./", "../"))
        if named or ((is_path or looks) and (self.base / text).exists()):
            return str(self.base / text)
        return text


def _looks_like_path(text: str) -> bool:
    return "://" not in text and "\n" not in text and ("/" in text or "." in text[1:])
