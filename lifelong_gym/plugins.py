"""Objects of the user's, named by import path."""

from __future__ import annotations

import importlib
import operator
from typing import Any

from lifelong_gym.errors import UsageError


def import_path(path: str, what: str) -> Any:
    """The object that `"module:name"` names.

    Args:
        path: The import path.
        what: What the path was given for, named in the error.

    Raises:
        UsageError: The path has another form, or there is no such module or name.
    """
    module_name, colon, name = path.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f'{what} must be an import path "module:name", got {path!r}')
    try:
        return operator.attrgetter(name)(importlib.import_module(module_name))
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{what}={path!r} cannot be imported: {error}") from error
