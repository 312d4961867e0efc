"""Whether the packages of each model provider are there; no model is loaded or asked."""

from __future__ import annotations

from collections.abc import Iterator

from lifelong_gym.diagnosis import Check
from lifelong_gym.diagnosis.machine import package_check


def checks() -> Iterator[Check]:
    """One for each provider that needs packages."""
    yield package_check("model", "openai", "openai", "openai", "An endpoint")
    yield package_check("model", "transformers", "transformers", "transformers", "A local model")
