"""Whether machines for agents can be made here: one is, runs a command and goes."""

from __future__ import annotations

from collections.abc import Iterator

from lifelong_gym.backends.sandbox import Command, Limits, bash, open_sandboxes
from lifelong_gym.diagnosis import Check
from lifelong_gym.errors import BackendUnavailableError


def checks() -> Iterator[Check]:
    """The embedded driver on the host's own files."""
    yield Check("sandbox", "bubblewrap", _bubblewrap, fix='pip install "lifelong-gym[sandbox]"')


def _bubblewrap() -> str:
    sandboxes = open_sandboxes("bubblewrap", rootfs="host", limits=Limits())
    try:
        machine = sandboxes.create()
        try:
            outcome = machine.run(Command(bash("echo ready")))
        finally:
            machine.close()
        if outcome.exit_code != 0:
            raise BackendUnavailableError(f"a command ended with {outcome.exit_code}")
        return sandboxes.version
    finally:
        sandboxes.close()
