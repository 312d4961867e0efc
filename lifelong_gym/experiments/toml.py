"""load_experiment: reads a TOML file, and says what is wrong in it and where."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pydantic

from lifelong_gym.errors import UsageError
from lifelong_gym.experiments.experiment import Experiment
from lifelong_gym.experiments.settings import (
    EnvTable,
    LayerTable,
    RunTable,
    Settings,
    StreamTable,
)
from lifelong_gym.experiments.source import Source

_TABLES: Mapping[str, type[pydantic.BaseModel]] = {
    "env": EnvTable,
    "stream": StreamTable,
    "wrappers": LayerTable,
    "agents": LayerTable,
    "run": RunTable,
}


def load_experiment(path: Path | str) -> Experiment:
    """Reads an experiment; nothing of it is made yet.

    Args:
        path: A TOML file, as `docs/experiments.md` describes it. The paths in it are relative
            to its folder.

    Raises:
        UsageError: The file cannot be read; the message names file, table and key.
    """
    file = Path(path)
    source = Source(file)
    tables = _read(file)
    _refuse_what_comes_later(tables, source)
    if isinstance(tables.get("env"), list) and len(tables["env"]) == 1:
        tables["env"] = tables["env"][0]
    try:
        settings = Settings.model_validate(tables)
    except pydantic.ValidationError as error:
        raise UsageError(_first_problem(error, source)) from None
    if settings.run.attempts and "attempts" in tables.get("stream", {}):
        raise UsageError(f"{source.name('[run] attempts')} is also in [stream]: give it once")
    return Experiment(settings, source)


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not TOML: {error}") from error


def _refuse_what_comes_later(tables: Mapping[str, Any], source: Source) -> None:
    if "sweep" in tables:
        raise UsageError(
            f"{source.name('[sweep]')}: sweeps are not there yet; write a file for each setting, "
            "or call run_stream in a loop"
        )
    env = tables.get("env")
    if isinstance(env, list) and len(env) > 1:
        raise UsageError(
            f"{source.name('[[env]]')}: several environments in one stream are not there yet, "
            f"got {len(env)}; write a file for each"
        )


def _first_problem(error: pydantic.ValidationError, source: Source) -> str:
    """The first of what is wrong, in the words of the file."""
    found = error.errors()[0]
    place = [part for part in found["loc"] if not _is_union_branch(part)]
    table, rest = str(place[0]), place[1:]
    where = f"[{table}]"
    if rest and isinstance(rest[0], int):
        where, rest = f"[[{table}]] {rest[0] + 1}", rest[1:]
    key = ".".join(map(str, rest))
    if found["type"] == "missing":
        what = f"needs the key {key!r}" if key else "is missing: an experiment needs it"
        return f"{source.name(where)} {what}"
    if found["type"] == "extra_forbidden":
        return source.name(_unknown(table, where, key))
    reason = found["msg"].removeprefix("Input ").replace("should", "must", 1)
    reason = reason.replace("Tuple must", "there must").replace("Field required", "is missing")
    shown = f" {key}" if key else ""
    return f"{source.name(where + shown)} {reason}, got {found['input']!r}"


def _is_union_branch(part: int | str) -> bool:
    """Whether pydantic put the name of a type among the keys."""
    return isinstance(part, str) and ("[" in part or part in ("dict", "tuple"))


def _unknown(table: str, where: str, key: str) -> str:
    if not key:
        return f"there is no table [{table}]{_nearest(table, Settings.model_fields)}"
    return f"{where} has no key {key!r}{_nearest(key, _TABLES[table].model_fields)}"


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f", did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
