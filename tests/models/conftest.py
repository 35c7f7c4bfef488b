from __future__ import annotations

import pytest

from rpms.models.secrets import FORBID_VARIABLE
from tests.models.server import serve


@pytest.fixture(autouse=True)
def no_requests_elsewhere(monkeypatch):
    """No test may reach another machine."""
    monkeypatch.setenv(FORBID_VARIABLE, "1")


@pytest.fixture
def server():
    with serve() as running:
        yield running
