"""TaskSet: an immutable sequence of tasks that knows where it came from."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar, overload

from lifelong_gym.core import Task
from lifelong_gym.errors import TaskError, UsageError
from lifelong_gym.tasks import reference as references
from lifelong_gym.tasks.domains import DOMAINS, check_domain
from lifelong_gym.tasks.native import write_lines
from lifelong_gym.tasks.sources import FILE, SOURCES

TaskT_co = TypeVar("TaskT_co", bound=Task, covariant=True)


class TaskSet(Sequence[TaskT_co], Generic[TaskT_co]):
    """Tasks of one domain, in order, with unique ids.

    Two sets are equal if they have the same domain and the same tasks in the same order,
    whatever the reference that named them.

    Args:
        tasks: The tasks.
        domain: `"database"`, ...
        reference: The task reference that the set came from, if it came from one.

    Raises:
        TaskError: Two tasks share an id, or a task is not of the domain.

    Examples:
        >>> tasks = TaskSet.load("builtin?skills=update,delete&limit=2", "database")
        >>> len(tasks)
        2
        >>> tasks
        TaskSet('builtin?skills=update,delete&limit=2', 'database', 2 tasks)
    """

    def __init__(self, tasks: Iterable[TaskT_co], *, domain: str, reference: str = "") -> None:
        check_domain(domain)
        self._tasks = tuple(tasks)
        self._domain, self._reference = domain, reference
        self._check()

    @classmethod
    def load(cls, reference: str, domain: str) -> TaskSet[Task]:
        """The tasks that a task reference names.

        Args:
            reference: `source[:split][?key=value&...]` or a path, as `docs/tasks.md` says.
            domain: The domain whose tasks are wanted.

        Raises:
            UsageError: There is no such source, split, key or domain, or no task is left.
            TaskError: A file or an entry is malformed; names file, entry and field.
            MissingExtraError: The file's form needs a package that is not installed.
        """
        check_domain(domain)
        parsed = references.parse(reference, SOURCES)
        source = SOURCES.get(parsed.source, FILE)
        source.check(parsed, domain)
        skills, limit = parsed.skills, parsed.limit
        whole = TaskSet(source.read(parsed, domain), domain=domain, reference=reference)
        if not whole:
            raise UsageError(f"{reference!r} has no tasks")
        return whole.select(skills=skills, limit=limit)

    @property
    def reference(self) -> str:
        """The task reference that the set came from; empty if it was made otherwise."""
        return self._reference

    @property
    def domain(self) -> str:
        """What the tasks are of."""
        return self._domain

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(task.id for task in self._tasks)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that the tasks say: different exactly if a task or the order is.

        Where a task was loaded from takes no part, so a folder may move.
        """
        digest = hashlib.sha256(self._domain.encode())
        for task in self._tasks:
            text = task.model_dump_json(exclude={"source"}, exclude_defaults=True)
            digest.update(b"\n" + text.encode())
        return digest.hexdigest()

    def by_id(self, task_id: str) -> TaskT_co:
        """The task with that id.

        Raises:
            UsageError: There is none; the message names ids that there are.
        """
        if (position := self._positions.get(task_id)) is None:
            some = ", ".join(self.ids[:3]) + (", ..." if len(self) > 3 else "")
            raise UsageError(
                f"no task has the id {task_id!r}; {self._reference or 'this set'} has "
                f"{len(self)}: {some}"
            )
        return self._tasks[position]

    def select(
        self, *, skills: Iterable[str] | None = None, limit: int | None = None
    ) -> TaskSet[TaskT_co]:
        """The tasks that have any of `skills`, at most `limit` of them, in order.

        Raises:
            UsageError: None is left, or `limit` is below 1.
        """
        if isinstance(skills, str):
            raise UsageError(f"skills must be several names, got the str {skills!r}")
        if limit is not None and limit < 1:
            raise UsageError(f"limit must be at least 1, got {limit}")
        wanted = None if skills is None else frozenset(skills)
        found = (task for task in self._tasks if wanted is None or wanted & set(task.skills))
        chosen = self._with(itertools.islice(found, limit))
        if not chosen:
            known = sorted({skill for task in self._tasks for skill in task.skills})
            raise UsageError(
                f"no task of {self._reference or 'this set'} has any of the skills "
                f"{', '.join(sorted(wanted or ()))}; its skills are {', '.join(known) or 'none'}"
            )
        return chosen

    def save(self, path: str | Path) -> None:
        """Writes native JSON lines, which load to an equal set.

        Args:
            path: A `.jsonl` file; what it held is replaced.

        Raises:
            UsageError: The file cannot be written.
        """
        write_lines(Path(path), self._tasks, self._domain)

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[TaskT_co]:
        return iter(self._tasks)

    @overload
    def __getitem__(self, index: int) -> TaskT_co: ...
    @overload
    def __getitem__(self, index: slice) -> TaskSet[TaskT_co]: ...
    def __getitem__(self, index: int | slice) -> TaskT_co | TaskSet[TaskT_co]:
        if isinstance(index, slice):
            return self._with(self._tasks[index])
        return self._tasks[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TaskSet):
            return NotImplemented
        return self._domain == other._domain and self._tasks == other._tasks

    def __hash__(self) -> int:
        return hash((self._domain, self.ids))

    def __repr__(self) -> str:
        count = "1 task" if len(self) == 1 else f"{len(self)} tasks"
        return f"TaskSet({self._reference!r}, {self._domain!r}, {count})"

    def __reduce__(self) -> tuple[object, ...]:
        # Without what is cached, and without checking again what was checked once.
        return _rebuild, (self._tasks, self._domain, self._reference)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {task.id: position for position, task in enumerate(self._tasks)}

    def _with(self, tasks: Iterable[TaskT_co]) -> TaskSet[TaskT_co]:
        return TaskSet(tasks, domain=self._domain, reference=self._reference)

    def _check(self) -> None:
        model = DOMAINS[self._domain]
        seen: dict[str, int] = {}
        for position, task in enumerate(self._tasks):
            if not isinstance(task, model):
                raise TaskError(
                    f"a task of {self._domain} is a {model.__name__}, got {type(task).__name__}"
                )
            if (first := seen.setdefault(task.id, position)) != position:
                raise TaskError(
                    f"{self._reference or 'the set'}: tasks {first} and {position} have the "
                    f"same id {task.id!r}"
                )


def _rebuild(tasks: tuple[Task, ...], domain: str, reference: str) -> TaskSet[Task]:
    task_set: TaskSet[Task] = TaskSet.__new__(TaskSet)
    task_set._tasks, task_set._domain, task_set._reference = tasks, domain, reference
    return task_set
