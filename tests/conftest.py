"""What every test shares: the clock's zone, reproducible properties, and no settings of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# Machines differ in speed: no deadline. The same examples each run, so a failure can be seen again.
settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of sample data."""
    return Path(__file__).parents[1] / "sample_data"


@pytest.fixture(autouse=True, scope="session")
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Audit and cache of this run only; keys and settings of the machine stay out of it."""
    folder = tmp_path_factory.mktemp("own")
    kept = dict(os.environ)
    for name in [
        name for name in os.environ if (name.startswith("QA_") and name != "QA_CHROMIUM") or name.endswith("_API_KEY")
    ]:
        del os.environ[name]
    os.environ |= {"QA_AUDIT": str(folder / "audit.sqlite"), "QA_CACHE": str(folder / "cache")}
    os.environ["QA_CROSSCHECK_WAIT"] = "20"  # a busy machine shows the same page as an idle one
    yield
    os.environ.clear()
    os.environ |= kept
