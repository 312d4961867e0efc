"""Environments from settings: ids, arguments, and what is wrong with them."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_type_hints

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from lifelong_gym.envs import full_id
from lifelong_gym.errors import UsageError
from lifelong_gym.experiments.settings import EnvTable
from lifelong_gym.experiments.source import Source

if TYPE_CHECKING:
    from lifelong_gym.core import LanguageEnv

_OPTIONS = Source()


def make_env(table: EnvTable, source: Source = _OPTIONS) -> gymnasium.Env[str, Any]:
    """Makes the environment of an experiment.

    Args:
        table: Its id, tasks and arguments.
        source: Where they came from.

    Raises:
        UsageError: There is no such environment or argument, or a value does not fit.
    """
    with source.blaming("[env]"):
        spec = find_spec(table.id, source)
        if "tasks" in table.args:
            raise UsageError(
                f"{source.name('[env] args.tasks')}: the tasks are not an argument like the "
                "others: give their reference by itself"
            )
        values = dict(source.resolved(table.args))
        if table.tasks is not None:
            values["tasks"] = _resolved_tasks(table.tasks, source)
        _check(spec, values, source)
        try:
            # The passive checker fails in `step` where the first `reset` did and was tried again.
            return gymnasium.make(spec, disable_env_checker=True, **values)
        except TypeError as error:
            # Gymnasium's own message would print every argument, passwords included.
            raise (error.__cause__ or error) from None


def _resolved_tasks(reference: str, source: Source) -> str:
    if source.file is None:
        return reference
    from lifelong_gym.tasks.reference import resolve
    from lifelong_gym.tasks.sources import SOURCES

    try:
        return resolve(reference, source.base, SOURCES)
    except UsageError:  # an environment of one's own may read its tasks as it likes
        return reference


def find_spec(env_id: str, source: Source = _OPTIONS) -> EnvSpec:
    """The registered environment of that id, which may begin with `module:`.

    Args:
        env_id: The id; the namespace may be left out.
        source: Where it came from.

    Raises:
        UsageError: There is none.
    """
    module, _, name = env_id.rpartition(":")
    try:
        if module:
            source.make_importable()
            importlib.import_module(module)
        return gymnasium.spec(name if name in gymnasium.registry else full_id(name))
    except (gymnasium.error.Error, ImportError) as error:
        raise UsageError(
            f"{source.name('[env] id')} {env_id}: {error} See `lifelong-gym envs`"
        ) from error


def arguments_of(spec: EnvSpec) -> dict[str, inspect.Parameter]:
    """The arguments of an environment by name, those of every `LanguageEnv` included."""
    from lifelong_gym.core import LanguageEnv

    parameters = list(inspect.signature(_creator(spec)).parameters.values())
    found = {p.name: p for p in parameters if p.kind is not p.VAR_KEYWORD}
    if len(found) < len(parameters):
        common = inspect.signature(LanguageEnv).parameters.values()
        found |= {p.name: p for p in common if p.kind is p.KEYWORD_ONLY and p.name not in found}
    return found


def class_of(spec: EnvSpec) -> type[LanguageEnv[Any]]:
    """The class that an entry point says it returns."""
    found: type[LanguageEnv[Any]] = get_type_hints(_creator(spec))["return"]
    return found


def read_pairs(pairs: Iterable[str]) -> dict[str, Any]:
    """`KEY=VALUE` texts as arguments: a value is JSON or, failing that, a text.

    Raises:
        UsageError: There is no `=`, or a key is given twice.

    Examples:
        >>> read_pairs(["max_turns=5", "database=local", 'note="7"'])
        {'max_turns': 5, 'database': 'local', 'note': '7'}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise UsageError(f"--env-arg takes KEY=VALUE, got {pair!r}")
        if key in values:
            raise UsageError(f"--env-arg {key} is given twice: give it once")
        values[key] = read_value(text)
    return values


def read_value(text: str) -> Any:
    """`text` as JSON or, failing that, as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _creator(spec: EnvSpec) -> Callable[..., Any]:
    entry_point = spec.entry_point
    if entry_point is None:
        raise UsageError(f"{spec.id} has no entry point, so it cannot be made")
    return load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point


def _check(spec: EnvSpec, values: Mapping[str, Any], source: Source) -> None:
    known = arguments_of(spec)
    for name in values:
        if name not in known:
            raise UsageError(
                f"{spec.id} has no argument {name!r}; its arguments are {', '.join(known)}"
            )
    given = {*values, *spec.kwargs}
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in given:
            raise UsageError(f"{spec.id} needs {source.name(f'[env] args.{name}')}")
    hints = _hints(_creator(spec))
    for name, value in values.items():
        if name in hints:
            _check_type(source.name(f"[env] args.{name}"), value, hints[name])


def _hints(creator: Callable[..., Any]) -> dict[str, Any]:
    from lifelong_gym.core import LanguageEnv

    function = creator.__init__ if inspect.isclass(creator) else creator
    try:
        return {**get_type_hints(LanguageEnv.__init__), **get_type_hints(function)}
    except NameError:  # names that exist for type checkers only: then nothing can be checked
        return {}


def _check_type(name: str, value: Any, hint: Any) -> None:
    import pydantic

    # Objects may stand beside the plain values of an argument; no text can mean one.
    objects = pydantic.ConfigDict(arbitrary_types_allowed=True)
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(hint, config=objects)
    except pydantic.PydanticUserError:  # a class with a configuration of its own
        return
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except pydantic.ValidationError as error:
        reasons = dict.fromkeys(
            found["msg"].removeprefix("Input ")
            for found in error.errors()
            if found["type"] not in ("is_instance_of", "needs_python_object")
        )
        raise UsageError(
            f"{name} {' or '.join(reasons).replace('should', 'must', 1)}, got {value!r}"
        ) from None
