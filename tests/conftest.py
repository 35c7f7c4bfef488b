"""What all tests share: no model request leaves this machine, and data beside the repository is optional."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["RPMS_FORBID_REQUESTS"] = "1"

# The same examples on every machine and run; RPMS_EXPLORE=1 draws new ones.
settings.register_profile(
    "default", deadline=None, max_examples=60, derandomize="RPMS_EXPLORE" not in os.environ, database=None
)
settings.load_profile("default")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded material beside the repository, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder beside the repository")
    return SHARED
