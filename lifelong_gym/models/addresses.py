"""Where an endpoint is, and which key is meant for it."""

from __future__ import annotations

import os
from urllib.parse import urlsplit, urlunsplit

from lifelong_gym.models.errors import ModelSetupError

OPENAI = "https://api.openai.com/v1"
"""OpenAI's own endpoint."""

NO_KEY = "none"
"""What goes to servers of one's own, which take any key."""


def key_for(given: str | None, variable: str | None, base_url: str | None, url: str) -> str:
    """The key for an endpoint.

    Args:
        given: The key itself, if the caller has it.
        variable: The environment variable that holds it.
        base_url: The endpoint that the caller named, if any: `OPENAI_API_KEY` was not meant
            for that one.
        url: The endpoint.

    Raises:
        ModelSetupError: The variable is empty, or OpenAI's own endpoint would get no key.
    """
    if given:
        return given
    name = variable or (None if base_url else "OPENAI_API_KEY")
    found = os.environ.get(name) if name else None
    if found:
        return found
    if variable or url.rstrip("/") == OPENAI:
        raise ModelSetupError(
            f"the variable {name or 'OPENAI_API_KEY'} holds no key for {without_password(url)}: "
            "set it, or name another with api_key_env"
        )
    return NO_KEY


def without_password(url: str) -> str:
    """`url` without a user's name and password, and without its query.

    Examples:
        >>> without_password("https://me:secret@host:8000/v1?key=k")
        'https://host:8000/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
