"""Prompts: how an agent's system text is made from the environment's rules.

Each is a Markdown file in which `{rules}` stands for what the environment says first.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from lifelong_gym.errors import UsageError

_RULES = "{rules}"


def names() -> list[str]:
    """The prompts that come with the package.

    Examples:
        >>> "direct" in names()
        True
    """
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md"))


def load(prompt: str | Path) -> str:
    """The text of a prompt.

    Args:
        prompt: One of `names()`, or the path of a file of one's own that ends in `.md` or
            `.txt`.

    Raises:
        UsageError: There is no such prompt, or `{rules}` is not in it exactly once.

    Examples:
        >>> load("direct")
        '{rules}'
    """
    text = _read(prompt).strip()
    if text.count(_RULES) != 1:
        raise UsageError(
            f"the prompt {str(prompt)!r} must have {_RULES} in it once, where the "
            f"environment's rules go; it is there {text.count(_RULES)} times"
        )
    return text


def fill(text: str, rules: str) -> str:
    """The prompt `text` with the environment's rules in their place.

    Examples:
        >>> fill("Be brief. {rules}", "Say {x}.")
        'Be brief. Say {x}.'
    """
    return text.replace(_RULES, rules).strip()


def _read(prompt: str | Path) -> str:
    if str(prompt) in names():
        return (resources.files(__name__) / f"{prompt}.md").read_text(encoding="utf-8")
    path = Path(prompt)
    if path.suffix not in (".md", ".txt"):
        raise UsageError(
            f"no prompt is called {str(prompt)!r}; there are {', '.join(names())}, or the "
            "path of a .md or .txt file"
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt {path} cannot be read: {error}") from error
