"""Wrappers and agents from settings: found by name or import path, checked, put around."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_type_hints

import gymnasium

from lifelong_gym.core import Agent
from lifelong_gym.errors import UsageError
from lifelong_gym.experiments.settings import LayerTable
from lifelong_gym.experiments.source import Source
from lifelong_gym.plugins import import_path

Kind = Literal["wrappers", "agents"]
Env = gymnasium.Env[Any, Any]
Layer = gymnasium.Wrapper[Any, Any, Any, Any]

AGENTS = {
    "oracle": "OracleAgent",
    "idle": "IdleAgent",
    "scripted": "ScriptedAgent",
    "llm": "LanguageModelAgent",
}
"""Short names of agents, as `--agent` has them."""

_HOMES = {"wrappers": "lifelong_gym.wrappers", "agents": "lifelong_gym.baselines"}


def put_around(
    env: Env,
    kind: Kind,
    number: int,
    table: LayerTable,
    source: Source,
    models: Mapping[str, Any],
) -> Env:
    """Puts a wrapper or an agent around a stack.

    Args:
        env: The stack so far.
        kind: The table that it stands in.
        number: Which of its kind it is, from 1.
        table: Its type and arguments.
        source: Where that came from.
        models: Models by name, for arguments called `model` and `models`.

    Raises:
        UsageError: There is no such class or argument, or it refuses a value.
    """
    place = f"[[{kind}]] {number}"
    with source.blaming(f"{place} ({table.type})"):
        found = find_class(table.type, kind, source, place)
        arguments = _arguments(found, table, source, place, models)
        return found(env, **arguments)


def find_class(name: str, kind: Kind, source: Source, place: str) -> type[Layer]:
    """The class that a name or an import path stands for.

    Raises:
        UsageError: There is none, or it is of another kind.
    """
    where = source.name(f"{place}, type")
    if ":" in name:
        source.make_importable()
        found = import_path(name, where)
    else:
        found = _exported(AGENTS.get(name, name), kind, where, name)
    _check_kind(found, name, kind, where)
    return cast("type[Layer]", found)


def _exported(name: str, kind: Kind, where: str, given: str) -> Any:
    home = importlib.import_module(_HOMES[kind])
    if name in home.__all__:
        return getattr(home, name)
    raise UsageError(
        f"{where} must be one of {', '.join(home.__all__)} or an import path "
        f'"module:Class", got {given!r}'
    )


def _check_kind(found: Any, name: str, kind: Kind, where: str) -> None:
    if not (inspect.isclass(found) and issubclass(found, gymnasium.Wrapper)):
        raise UsageError(f"{where} must be a gymnasium.Wrapper, got {name}, which is {found!r}")
    if found.__name__ == "TaskStream":
        raise UsageError(
            f"{where} TaskStream stands in every stack: write its arguments in [stream]"
        )
    if issubclass(found, Agent) != (kind == "agents"):
        other = "[[agents]]" if kind == "wrappers" else "[[wrappers]]"
        what = "an agent" if kind == "wrappers" else "no agent (a subclass of lifelong_gym.Agent)"
        raise UsageError(f"{where} {name} is {what}: write it under {other}")


def _arguments(
    found: type[Layer], table: LayerTable, source: Source, place: str, models: Mapping[str, Any]
) -> dict[str, Any]:
    parameters = dict(list(inspect.signature(found).parameters.items())[1:])
    _check_names(parameters, table, source, place)
    hints = _hints(found)
    arguments = {
        name: _built(source.resolved(value, is_path=_mentions(hints.get(name), Path)), hints, name)
        for name, value in table.arguments.items()
    }
    if "model" in parameters:
        name = arguments.get("model", "main" if _is_needed(parameters["model"]) else None)
        if isinstance(name, str):
            arguments["model"] = _model(name, models, source, place)
    if "models" in parameters and "models" not in arguments and _is_needed(parameters["models"]):
        arguments["models"] = models
    for name, parameter in parameters.items():
        if _is_needed(parameter) and name not in arguments:
            raise UsageError(f"{source.name(place)} {table.type} needs an argument {name!r}")
    return arguments


def _check_names(
    parameters: Mapping[str, inspect.Parameter], table: LayerTable, source: Source, place: str
) -> None:
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for key in table.arguments:
        if key not in parameters:
            known = ", ".join(parameters) or "none"
            raise UsageError(
                f"{source.name(f'{place}, {key}')}: {table.type} has no argument {key!r}; "
                f"its arguments are {known}"
            )


def _is_needed(parameter: inspect.Parameter) -> bool:
    named = parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    return named and parameter.default is parameter.empty


def _model(name: str, models: Mapping[str, Any], source: Source, place: str) -> Any:
    if name in models:
        return models[name]
    there = f"the models are {', '.join(models)}" if models else "there is no model"
    if source.file is None:
        hint = f"add --model {name}=PROVIDER:MODEL"
    else:
        hint = f"add a table [models.{name}]"
    raise UsageError(f"{source.name(place)} needs a model called {name!r}, but {there}: {hint}")


def _hints(found: type[Layer]) -> dict[str, Any]:
    try:
        return get_type_hints(vars(found).get("__init__", found.__init__))
    except (NameError, TypeError):  # names that exist for type checkers only
        return {}


def _mentions(hint: Any, kind: type) -> bool:
    return hint is kind or any(_mentions(part, kind) for part in get_args(hint))


def _built(value: Any, hints: Mapping[str, Any], name: str) -> Any:
    """A table as the data class that the argument takes, if it takes one: `Sampling`."""
    kinds = [hints.get(name), *get_args(hints.get(name))]
    kind = next((kind for kind in kinds if dataclasses.is_dataclass(kind)), None)
    if not isinstance(value, dict) or not isinstance(kind, type):
        return value
    try:
        return kind(**value)
    except TypeError as error:
        raise UsageError(f"{name}: {error}") from error
