"""The sandbox providers that this machine has, each behind the same fixture."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifelong_gym.backends.sandbox import (
    Command,
    Limits,
    SandboxProvider,
    bash,
    open_sandboxes,
    register_sandbox,
)
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

MEBIBYTE = 1 << 20
LIMITS = Limits(
    memory_bytes=192 * MEBIBYTE,
    processes=48,
    file_bytes=24 * MEBIBYTE,
    disk_bytes=64 * MEBIBYTE,
)
ROOTFS = os.environ.get("LIFELONG_GYM_ROOTFS", "")


class Borrowed(SandboxProvider):
    """A provider of a user's own, as far as the package can tell."""

    name = "borrowed"

    def __init__(self, rootfs: str, limits: Limits) -> None:
        self._inner = open_sandboxes("bubblewrap", rootfs, limits)

    def create(self):
        return self._inner.create()

    @property
    def version(self):
        return f"borrowed {self._inner.version}"

    def close(self):
        self._inner.close()


register_sandbox("borrowed", Borrowed)


def opened(name: str, rootfs: str = "auto", limits: Limits = LIMITS) -> SandboxProvider:
    """A provider that works, or a skip that says why it does not."""
    provider = open_sandboxes(name, rootfs, limits)
    try:
        provider.create().close()
    except (BackendUnavailableError, MissingExtraError) as error:
        provider.close()
        pytest.skip(str(error))
    return provider


@pytest.fixture(scope="session", params=["bubblewrap", "bubblewrap-rootfs", "borrowed"])
def provider(request):
    """Every provider, on every root filesystem that there is."""
    name, _, rootfs = request.param.partition("-")
    if rootfs and not Path(ROOTFS or "/nonexistent").exists():
        pytest.skip("no Debian root filesystem: set LIFELONG_GYM_ROOTFS to a folder or tarball")
    provider = opened(name, ROOTFS if rootfs else "auto")
    yield provider
    provider.close()


@pytest.fixture
def sandbox(provider):
    sandbox = provider.create()
    yield sandbox
    sandbox.close()


@pytest.fixture
def sh(sandbox):
    """Runs a script in a fresh machine and returns the outcome."""

    def sh(script, **settings):
        return sandbox.run(Command(bash(script), **settings))

    return sh


@pytest.fixture
def check(sandbox):
    """Judges the machine with a script and returns the exit code."""

    def check(script, **settings):
        return sandbox.check(Command(bash(script), **settings)).exit_code

    return check
