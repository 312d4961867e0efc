"""Sandbox drivers by name: the package's own, and those that a user registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from lifelong_gym.backends.sandbox.contract import Limits, SandboxProvider
from lifelong_gym.errors import UsageError
from lifelong_gym.plugins import import_path

SandboxFactory: TypeAlias = Callable[[str, Limits], SandboxProvider]
"""Makes a provider from the environment's `rootfs` and the limits; starts nothing."""

_AUTO = "bubblewrap"


def _bubblewrap(rootfs: str, limits: Limits) -> SandboxProvider:
    from lifelong_gym.backends.sandbox.bubblewrap import BubblewrapSandboxes

    return BubblewrapSandboxes("host" if rootfs == "auto" else rootfs, limits)


_FACTORIES: dict[str, SandboxFactory] = {"bubblewrap": _bubblewrap}


def register_sandbox(name: str, factory: SandboxFactory) -> None:
    """Makes a provider of yours known under a name, which `sandbox=` then takes.

    Args:
        name: Any name that no other provider has and that holds no colon.
        factory: Called with the environment's `rootfs` (`"auto"` where nothing was said)
            and the limits.

    Raises:
        UsageError: The name is taken or holds a colon.
    """
    if ":" in name or name == "auto":
        raise UsageError(f"a provider's name holds no colon and is not 'auto', got {name!r}")
    if _FACTORIES.get(name, factory) is not factory:
        raise UsageError(f"a sandbox called {name!r} is registered already: choose another name")
    _FACTORIES[name] = factory


def open_sandboxes(
    sandbox: str = "auto", rootfs: str = "auto", limits: Limits | None = None
) -> SandboxProvider:
    """The provider that a name stands for; nothing is started.

    Args:
        sandbox: `"auto"`, `"bubblewrap"`, a registered name, or the import path
            `"module:factory"` of a `SandboxFactory`.
        rootfs: What machines are made from; what may stand here is the provider's to say.
        limits: What one machine may use.

    Raises:
        UsageError: There is no such provider.
    """
    name = _AUTO if sandbox == "auto" else sandbox
    factory: SandboxFactory
    if ":" in name:
        factory = import_path(name, "sandbox")
    elif name in _FACTORIES:
        factory = _FACTORIES[name]
    else:
        raise UsageError(
            f"no sandbox is called {sandbox!r}: choose auto, {', '.join(sorted(_FACTORIES))} or "
            'an import path "module:factory"'
        )
    return factory(rootfs, limits or Limits())
