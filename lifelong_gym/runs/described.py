"""Any argument as a JSON value that says what it is and keeps secrets."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pydantic

_HIDDEN = "***"
_SECRETS = frozenset({"api_key", "authorization", "password", "secret", "token"})
_URL_PASSWORD = re.compile(r"(://[^\s:/@]*):(?!\d+/)(?:[^/\n]*|\S*)@")  # blanks and all
_QUERY_SECRET = re.compile(rf"([?&](?:{'|'.join(sorted(_SECRETS))})=)[^&\s]*")


def flat(prefix: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Described arguments under dotted names.

    Examples:
        >>> flat("env", {"database": "mysql://root:hunter2@db:3306", "retry": {"times": 2}})
        {'env.database': 'mysql://root:***@db:3306', 'env.retry.times': 2}
    """
    settings: dict[str, Any] = {}
    for name, value in arguments.items():
        told = _field(name, value)
        if isinstance(told, dict) and told:
            settings |= flat(f"{prefix}.{name}", told)
        else:
            settings[f"{prefix}.{name}"] = told
    return settings


def described(value: Any) -> Any:
    """`value` as JSON.

    Plain values stay, containers are described item by item, functions and classes become
    their import name. An object says what it is with an attribute or method `fingerprint`;
    data classes and pydantic models are their fields; any other object is its class.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | Path):
        return hide_secrets(str(value))
    if isinstance(value, bytes):
        return f"sha256:{hashlib.sha256(value).hexdigest()}"
    if isinstance(value, Mapping):
        return {str(key): _field(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [described(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((described(item) for item in value), key=repr)
    return _described_object(value)


def hide_secrets(text: str) -> str:
    """`text` without the passwords and keys in its URLs.

    Examples:
        >>> hide_secrets("openai:m?base_url=http://me:pw@host/v1&api_key=k3y")
        'openai:m?base_url=http://me:***@host/v1&api_key=***'
        >>> hide_secrets("mysql://me:two words@host"), hide_secrets("mysql://me:a/b@c@host")
        ('mysql://me:***@host', 'mysql://me:***@host')
    """
    return _QUERY_SECRET.sub(rf"\1{_HIDDEN}", _URL_PASSWORD.sub(rf"\1:{_HIDDEN}@", text))


def import_name(value: Any) -> str:
    """Where a function or class is defined: `"module:name"`."""
    return f"{value.__module__}:{value.__qualname__}"


def _field(name: str, value: Any) -> Any:
    return _HIDDEN if name.lower() in _SECRETS and value is not None else described(value)


def _described_object(value: Any) -> Any:
    if inspect.isclass(value) or inspect.isroutine(value):
        return import_name(value) if hasattr(value, "__qualname__") else repr(type(value))
    if hasattr(value, "fingerprint"):
        told = value.fingerprint
        return described(told() if callable(told) else told)
    if isinstance(value, enum.Enum):
        return described(value.value)
    if isinstance(value, functools.partial):
        return {"function": described(value.func), "arguments": described(value.keywords)}
    if isinstance(value, pydantic.BaseModel):
        return {name: _field(name, getattr(value, name)) for name in type(value).model_fields}
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        return {field.name: _field(field.name, getattr(value, field.name)) for field in fields}
    return import_name(type(value))
