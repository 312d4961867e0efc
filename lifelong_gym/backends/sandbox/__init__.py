"""Sandboxes: small Linux machines for the OperatingSystem environments."""

from __future__ import annotations

from lifelong_gym.backends.sandbox.contract import (
    Command,
    Limits,
    Outcome,
    Sandbox,
    SandboxBroken,
    SandboxProvider,
    bash,
)
from lifelong_gym.backends.sandbox.providers import open_sandboxes, register_sandbox

__all__ = [
    "Command",
    "Limits",
    "Outcome",
    "Sandbox",
    "SandboxBroken",
    "SandboxProvider",
    "bash",
    "open_sandboxes",
    "register_sandbox",
]
