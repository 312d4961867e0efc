"""Model references: the one string that says which model is meant.

`NAME=PROVIDER:MODEL[?key=value&...]`, such as
`main=openai:gpt-4o-mini?temperature=0.7&max_tokens=512` or
`main=transformers:./models/qwen?dtype=bfloat16`. Without `NAME=` the name is `main`.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from lifelong_gym.errors import UsageError
from lifelong_gym.models.addresses import without_password
from lifelong_gym.models.contract import LanguageModel, Sampling
from lifelong_gym.models.keys import stamps
from lifelong_gym.plugins import import_path

PROVIDERS: Mapping[str, str] = {
    "openai": "lifelong_gym.models.openai:OpenAIModel",
    "transformers": "lifelong_gym.models.transformers:TransformersModel",
    "scripted": "lifelong_gym.models.scripted:ScriptedModel.from_file",
}
"""What makes a model of each provider; any other name is an import path `module:Class`."""

FORM = "NAME=PROVIDER:MODEL[?key=value&...]"

_REFERENCE = re.compile(
    r"(?:(?P<name>[A-Za-z_][\w-]*)=)?(?P<provider>[\w.]+):(?P<model>[^?]+)(?:\?(?P<query>.*))?",
    re.DOTALL,
)
_SAMPLING = frozenset(one.name for one in dataclasses.fields(Sampling))
_SECRETS = frozenset({"api_key", "api_key_env"})


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost, in any one currency.

    Attributes:
        prompt: A million tokens read.
        completion: A million tokens drawn.
    """

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, usage: Mapping[str, int]) -> float:
        """What one completion cost."""
        prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        return (self.prompt * prompt + self.completion * completion) / 1e6


@dataclass(frozen=True, slots=True)
class ModelReference:
    """Which model is meant and how it is asked; nothing is loaded.

    Attributes:
        name: What the model is called here; an agent uses `main`.
        provider: A key of `PROVIDERS`, or the module of a class of one's own.
        model: What the provider calls it: a name, a folder, a class.
        options: The arguments of the provider's class.
        sampling: How replies are drawn, unless the agent says otherwise.
        price: What its tokens cost; from the keys `prompt_price` and `completion_price`.

    Raises:
        UsageError: The provider does not know an option.

    Examples:
        >>> reference = ModelReference.parse("main=openai:llama3:8b?temperature=0.7&retries=2")
        >>> reference.model, reference.sampling.temperature, reference.options
        ('llama3:8b', 0.7, {'retries': 2})
    """

    name: str
    provider: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    sampling: Sampling = field(default_factory=Sampling)
    price: Price = field(default_factory=Price)

    def __post_init__(self) -> None:
        """Refuses a provider that is none, before anything runs."""
        if self.provider not in PROVIDERS and "." not in self.provider:
            raise UsageError(
                f"no provider is called {self.provider!r}: a model is {FORM}, the providers "
                f"are {', '.join(PROVIDERS)}, or the module of your own class"
            )

    @classmethod
    def parse(cls, text: str) -> ModelReference:
        """Takes a reference apart.

        Args:
            text: `NAME=PROVIDER:MODEL[?key=value&...]`. Values are JSON or else texts,
                percent-encoded; the keys are those of `Sampling`, `prompt_price`,
                `completion_price`, and the arguments of the provider's class.

        Raises:
            UsageError: The text is no reference, or has a key that nothing knows.
        """
        found = _REFERENCE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise UsageError(f"a model is {FORM}, got {text!r}")
        values = _values(found["query"] or "", text)
        table = {"provider": found["provider"], "model": unquote(found["model"]), **values}
        return cls.from_table(found["name"] or "main", table)

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> ModelReference:
        """Reads a table of settings, as `[models.main]` in a TOML file has them.

        Args:
            name: What the model is called here.
            table: `provider` and `model`, and beside them the keys that `parse` takes.

        Raises:
            UsageError: A key is missing, or nothing knows it.
        """
        options = dict(table)
        try:
            provider, model = str(options.pop("provider")), str(options.pop("model"))
        except KeyError as error:
            raise UsageError(f"the model {name!r} needs the key {error.args[0]!r}") from None
        sampling = {key: options.pop(key) for key in sorted(_SAMPLING & set(options))}
        if str(sampling.get("temperature", "")).lower() in ("none", "null"):
            sampling["temperature"] = None
        prices = {key: options.pop(f"{key}_price", 0.0) for key in ("prompt", "completion")}
        try:
            reference = cls(name, provider, model, options, Sampling(**sampling), Price(**prices))
            reference._check_options()
        except TypeError as error:
            raise UsageError(f"the model {name!r}: {error}") from error
        return reference

    @property
    def fingerprint(self) -> dict[str, Any]:
        """What the model is, for the settings of a run: not loaded, and without secrets."""
        harmless = _SECRETS | getattr(self._maker(), "harmless_options", frozenset())
        told = {key: value for key, value in self.options.items() if key not in harmless}
        if self.provider == "openai":
            url = self.options.get("base_url") or os.environ.get("OPENAI_BASE_URL") or ""
            told["base_url"] = without_password(str(url))
        return {"provider": self.provider, "model": self.model, **told}

    @property
    def identity(self) -> dict[str, Any]:
        """The same for the keys of a response cache: which files a local model is, too."""
        return {**self.fingerprint, "files": stamps(self.model)}

    def load(self) -> LanguageModel:
        """Makes the model.

        Raises:
            MissingExtraError: Its provider's packages are not installed.
            UsageError: It cannot be made so: no key, no such folder.
        """
        return cast("LanguageModel", self._maker()(*self._arguments(), **self.options))

    def __repr__(self) -> str:
        """Everything but the key."""
        return f"ModelReference({self.name}={self.fingerprint})"

    def _arguments(self) -> tuple[str, ...]:
        return (self.model,) if self.provider in PROVIDERS else ()

    def _maker(self) -> Callable[..., Any]:
        path = PROVIDERS.get(self.provider, f"{self.provider}:{self.model}")
        return cast("Callable[..., Any]", import_path(path, "provider"))

    def _check_options(self) -> None:
        parameters = inspect.signature(self._maker()).parameters.values()
        if any(one.kind is one.VAR_KEYWORD for one in parameters):
            return
        first = len(self._arguments())
        known = [one.name for one in parameters][first:]
        if unknown := sorted(set(self.options) - set(known)):
            allowed = [*sorted(_SAMPLING), "prompt_price", "completion_price", *known]
            raise UsageError(
                f"the model {self.name!r} has no setting {unknown[0]!r}; "
                f"{self.provider} takes {', '.join(allowed)}"
            )


def resolve_model(reference: ModelReference, base: Path) -> ModelReference:
    """`reference` with the relative path of a local model under `base`, as a TOML file means it.

    Only a path that begins with `.` or ends in `.json`, or a folder that is there, is one: a
    hub's name has a slash too.
    """
    if reference.provider not in ("transformers", "scripted"):
        return reference
    path = base / reference.model
    if not (reference.model.startswith(".") or path.exists()):
        return reference
    return dataclasses.replace(reference, model=str(path))


def _values(query: str, text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            shown = re.sub(r"(api_key=)[^&]*", r"\1***", text)
            raise UsageError(f"expected key=value behind the '?' of {shown!r}, got {key!r}")
        if key == "stop":  # several stop texts are given one by one
            values[key] = (*values.get(key, ()), unquote(value))
        elif key in values:
            raise UsageError(f"the key {key!r} is given twice in a model reference")
        else:
            values[key] = _value(key, unquote(value))
    return values


def _value(key: str, text: str) -> Any:
    if key in ("api_key", "api_key_env", "base_url", "revision"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
