"""What works on this machine, driver by driver: the checks behind `lifelong-gym doctor`.

Whoever adds a driver adds a check. A *source* is a function without arguments that returns
checks; `SOURCES` names those of this package, and `register` adds one of yours:

    from lifelong_gym.diagnosis import Check, register

    register(lambda: [Check("sandbox", "mine", probe=start_and_say_version, fix="apt-get ...")])
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from lifelong_gym.errors import LifelongGymError, MissingExtraError
from lifelong_gym.plugins import import_path

__all__ = ["SOURCES", "Check", "Finding", "checks", "diagnose", "register"]

SOURCES: list[str] = [
    "lifelong_gym.diagnosis.machine:checks",
    "lifelong_gym.diagnosis.databases:checks",
    "lifelong_gym.diagnosis.sandboxes:checks",
    "lifelong_gym.diagnosis.graphs:checks",
    "lifelong_gym.diagnosis.models:checks",
]
"""The import paths of the sources of this package, in the order in which they are shown."""

CheckSource: TypeAlias = "Callable[[], Iterable[Check]]"

_registered: list[CheckSource] = []


@dataclass(frozen=True)
class Check:
    """Whether one thing works.

    Attributes:
        group: What kind of thing it is: `"database"`.
        name: Which: `"local"`.
        probe: Uses it for real and says its version. It raises a `LifelongGymError` where it
            cannot; what it starts it also ends.
        fix: The command that would make it work, where the error names none.
    """

    group: str
    name: str
    probe: Callable[[], str]
    fix: str = ""


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes:
        group: As in the check.
        name: As in the check.
        works: Whether it does.
        version: What works, where something does.
        seconds: How long the probe took, starting and stopping included.
        problem: Why it does not work.
        fix: The command that would make it work, where one is known.
    """

    group: str
    name: str
    works: bool
    version: str = ""
    seconds: float = field(default=0.0, compare=False)
    problem: str = ""
    fix: str = ""


def register(source: CheckSource) -> None:
    """Adds checks to those that `diagnose` makes."""
    _registered.append(source)


def checks() -> Iterator[Check]:
    """Every check there is, those of the package first."""
    for path in SOURCES:
        yield from import_path(path, "a source of checks")()
    for source in _registered:
        yield from source()


def diagnose(made: Iterable[Check] | None = None) -> Iterator[Finding]:
    """Makes checks one after the other and yields what each found.

    Args:
        made: The checks; all by default.

    Examples:
        >>> finding = next(diagnose([Check("database", "mine", probe=lambda: "Mine 1.0")]))
        >>> finding.works, finding.version
        (True, 'Mine 1.0')
    """
    for check in checks() if made is None else made:
        yield _finding(check)


def _finding(check: Check) -> Finding:
    started_s = time.perf_counter()
    try:
        version = check.probe()
    except Exception as error:  # whatever a driver raises, it does not work, and others may
        seconds = time.perf_counter() - started_s
        fix = _fix(error) or check.fix
        return Finding(
            check.group, check.name, False, "", seconds, problem=_problem(error), fix=fix
        )
    seconds = time.perf_counter() - started_s
    return Finding(check.group, check.name, True, version, seconds)


def _fix(error: Exception) -> str:
    if isinstance(error, MissingExtraError):
        return f'pip install "lifelong-gym[{error.extra}]"'
    return ""


def _problem(error: Exception) -> str:
    """The message without the advice behind it, which `fix` gives for this machine."""
    if isinstance(error, LifelongGymError):
        return str(error).partition(" Run: ")[0]
    return f"{type(error).__name__}: {error}"
