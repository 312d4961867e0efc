"""What every test finds: the repository, the real task data, the cheapest database."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no reason for a property to fail.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("LIFELONG_GYM_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real task data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no real task data in {DATA}: set LIFELONG_GYM_DATA to its folder")
    return DATA
