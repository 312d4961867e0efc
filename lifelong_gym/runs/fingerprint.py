"""What a run is made of, as flat settings that can be stored, shown and compared."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import load_env_creator
from gymnasium.utils import RecordConstructorArgs

from lifelong_gym.core import Agent, LanguageEnv, Task
from lifelong_gym.runs.described import described, flat, import_name
from lifelong_gym.runs.stack import layers

HARMLESS_SETTINGS = frozenset(
    {
        "api_key",
        "concurrency",
        "progress",
        "render_mode",
        "verbose",
    }
)
"""Arguments that may change between the parts of a run: no episode comes out differently.

A class adds to them with an attribute `harmless_settings`, a set of its arguments' names.
"""

HARMLESS_LAYERS = frozenset({"OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics"})
"""Gymnasium's wrappers that may come and go; one's own says `changes_results = False`."""

_ENV_ARGUMENTS = (
    "max_turns",
    "action_format",
    "on_invalid_action",
    "max_observation_bytes",
    "reward_shaper",
)


def describe(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """Describes a stack as flat settings of JSON values.

    `env.<argument>` are the arguments of the environment, defaults included; `tasks.sha256`
    is the content of its task set, wherever that was loaded from; `<Class>.<argument>` are
    those of a wrapper or agent, as `RecordConstructorArgs` recorded them; `agent` names the
    agents and `stack` everything, the innermost first. Passwords in URLs are hidden.

    Examples:
        >>> from lifelong_gym.baselines import OracleAgent
        >>> from lifelong_gym.testing import ScriptedEnv
        >>> settings = describe(OracleAgent(ScriptedEnv(["Hello."])))
        >>> settings["agent"]
        ['lifelong_gym.baselines.agents.oracle:OracleAgent']
        >>> settings["tasks.count"], settings["env.max_turns"]
        (1, 3)
    """
    kept = _telling_layers(env)
    settings: dict[str, Any] = {
        "agent": [import_name(type(layer)) for layer in kept.values() if isinstance(layer, Agent)],
        "stack": [import_name(type(layer)) for layer in kept.values()],
    }
    settings |= flat("env", _env_arguments(env.unwrapped))
    settings |= _tasks(env)
    for name, layer in kept.items():
        if layer is not env.unwrapped:
            settings |= flat(name, _recorded_arguments(layer))
    return settings


def harmless_settings(env: gymnasium.Env[Any, Any]) -> Callable[[str], bool]:
    """Says of a setting's name whether it may change between the parts of a run."""
    own = {
        f"{'env' if layer is env.unwrapped else name}.{argument}"
        for name, layer in _telling_layers(env).items()
        for argument in getattr(layer, "harmless_settings", ())
    }

    def is_harmless(name: str) -> bool:
        parts = name.split(".")
        argument = ".".join(parts[:2])
        return argument in own or (len(parts) > 1 and parts[1] in HARMLESS_SETTINGS)

    return is_harmless


def _telling_layers(env: gymnasium.Env[Any, Any]) -> dict[str, gymnasium.Env[Any, Any]]:
    """The layers that results depend on, by a name of their own."""
    named: dict[str, gymnasium.Env[Any, Any]] = {}
    for layer in layers(env):
        kind = type(layer).__name__
        if kind in HARMLESS_LAYERS or not getattr(layer, "changes_results", True):
            continue
        copies = sum(name.split("#")[0] == kind for name in named)
        named[f"{kind}#{copies + 1}" if copies else kind] = layer
    return named


def _env_arguments(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    if env.spec is not None:
        arguments = {**_defaults(env.spec.entry_point), **env.spec.kwargs, "id": env.spec.id}
    elif hasattr(env, "fingerprint"):
        arguments = {"fingerprint": env}
    else:
        arguments = _attributes(env)
    if isinstance(env, LanguageEnv):
        # What is in force, so that a default and the same value spelled out are one.
        arguments |= {name: getattr(env, name) for name in _ENV_ARGUMENTS if hasattr(env, name)}
    if not isinstance(arguments.get("tasks", ""), str):
        del arguments["tasks"]  # objects: tasks.sha256 says what is in them
    return arguments


def _attributes(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    """The constructor's arguments of an environment that was not made by its id.

    Nothing recorded them; those count that it keeps under their names.
    """
    parameters = {
        name
        for kind in type(env).__mro__
        if "__init__" in vars(kind) and kind is not object
        for name in inspect.signature(vars(kind)["__init__"]).parameters
    }
    found = {}
    for name in sorted(parameters - {"self", "tasks", *_ENV_ARGUMENTS}):
        for attribute in (name, f"_{name}"):
            if hasattr(env, attribute):
                found[name] = getattr(env, attribute)
                break
    return found


def _defaults(entry_point: str | Callable[..., Any] | None) -> dict[str, Any]:
    if entry_point is None:
        return {}
    creator = load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point
    parameters = inspect.signature(creator).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _tasks(env: gymnasium.Env[Any, Any]) -> dict[str, Any]:
    if not env.has_wrapper_attr("task_set"):
        return {}
    tasks = env.get_wrapper_attr("task_set")
    return {"tasks.count": len(tasks), "tasks.sha256": _content(tasks)}


def _content(tasks: Iterable[Task]) -> str:
    digest = hashlib.sha256()
    for task in tasks:
        # Where a task was loaded from is not what it says.
        digest.update(task.model_dump_json(exclude={"source"}).encode() + b"\n")
    return digest.hexdigest()


def _recorded_arguments(layer: gymnasium.Env[Any, Any]) -> Mapping[str, Any]:
    if isinstance(layer, RecordConstructorArgs):
        return {name: value for name, value in layer._saved_kwargs.items() if name != "env"}
    if hasattr(layer, "fingerprint"):
        return {"fingerprint": described(layer)}
    return {}
