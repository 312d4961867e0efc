"""Source: what a place that tasks come from has to say about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lifelong_gym.core import Task
from lifelong_gym.errors import UsageError
from lifelong_gym.tasks.reference import COMMON_KEYS, Reference


@dataclass(frozen=True, slots=True)
class Source:
    """A place that tasks come from.

    Attributes:
        name: How a reference begins.
        read: The tasks of a reference, for a domain; `skills` and `limit` are applied later.
        domains: What it has tasks for.
        splits: The splits that it has.
        keys: What it understands behind the question mark besides `skills` and `limit`.
    """

    name: str
    read: Callable[[Reference, str], Sequence[Task]]
    domains: tuple[str, ...]
    splits: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def check(self, reference: Reference, domain: str) -> None:
        """Refuses a reference that this source cannot follow.

        Raises:
            UsageError: Names what it could.
        """
        if domain not in self.domains:
            raise UsageError(
                f"{self.name} has no tasks for {domain!r}, only for {', '.join(self.domains)}"
            )
        if reference.split is not None and reference.split not in self.splits:
            known = f"its splits are {', '.join(self.splits)}" if self.splits else "it has none"
            raise UsageError(f"{self.name} has no split {reference.split!r}: {known}")
        known_keys = (*self.keys, *COMMON_KEYS)
        for key in reference.values:
            if key not in known_keys:
                raise UsageError(
                    f"{self.name} does not understand {key!r} in {reference.text!r}; "
                    f"it understands {', '.join(known_keys)}"
                )
