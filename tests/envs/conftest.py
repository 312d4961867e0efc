"""Environments over real database servers."""

import shutil
from importlib.util import find_spec

import gymnasium as gym
import pytest

import lifelong_gym  # noqa: F401 - registers
from lifelong_gym.backends.database.docker import IMAGES, find_image
from lifelong_gym.errors import BackendUnavailableError, MissingExtraError

DATABASES = {
    "local": shutil.which("mariadbd", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    or shutil.which("mysqld", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"),
    "seekdb": find_spec("pylibseekdb"),
}


def _image():
    """The image with MySQL that the docker driver would take here, or None."""
    try:
        return find_image(IMAGES)
    except (BackendUnavailableError, MissingExtraError) as error:
        WHY_MISSING["docker"] = str(error)
        return None


WHY_MISSING = {
    "local": "no MariaDB or MySQL server on this machine: apt-get install mariadb-server",
    "seekdb": 'pylibseekdb is not installed: pip install "lifelong-gym[seekdb]"',
}


def require(database):
    if database == "docker" and database not in DATABASES:
        DATABASES[database] = _image()
    if not DATABASES[database]:
        pytest.skip(WHY_MISSING[database])


@pytest.fixture(scope="session")
def database():
    """The quickest database of this machine."""
    for name, found in DATABASES.items():
        if found:
            return name
    pytest.skip("; ".join(WHY_MISSING.values()))


@pytest.fixture
def make(database):
    """Makes database environments and closes them when the test ends."""
    made = []

    def build(**options):
        made.append(gym.make("lifelong_gym/Database-v0", **{"database": database, **options}))
        return made[-1]

    yield build
    for env in made:
        env.close()
