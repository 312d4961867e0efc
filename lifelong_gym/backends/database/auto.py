"""`auto`: the first database that works on this machine."""

from __future__ import annotations

from lifelong_gym.backends.database.docker import DockerDriver
from lifelong_gym.backends.database.drivers import Driver, Endpoint
from lifelong_gym.backends.database.local import LocalDriver
from lifelong_gym.backends.database.seekdb import SeekdbDriver
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

ORDER = (LocalDriver, SeekdbDriver, DockerDriver)
"""What is tried, in this order: what needs the least of the machine comes first."""


class AutoDriver(Driver):
    """Becomes the first of `ORDER` that starts; later starts keep to it."""

    def __init__(self) -> None:
        self._chosen: Driver | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """`auto` until a driver is chosen, then its name."""
        return self._chosen.name if self._chosen else "auto"

    def start(self) -> Endpoint:
        """The endpoint of the first driver that starts; see `Driver.start`."""
        if self._chosen:
            return self._chosen.start()
        reasons = []
        for kind in ORDER:
            driver = kind()
            try:
                endpoint = driver.start()
            except (BackendUnavailableError, MissingExtraError) as error:
                reasons.append(f"{driver.name}: {error}")
            else:
                self._chosen = driver
                return endpoint
        raise BackendUnavailableError(
            "no database works on this machine:\n" + "\n".join(f"- {reason}" for reason in reasons)
        )

    def stop(self) -> None:
        """Lets go of the chosen driver's server."""
        if self._chosen:
            self._chosen.stop()
