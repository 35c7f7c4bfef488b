"""The simulator is loaded where it is played, which takes seconds."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(autouse=True, scope="session")
def loaded() -> None:
    """Load it; what others' packages warn of while they are imported is not ours to mend."""
    pytest.importorskip("inspect_evals", reason="needs τ²-bench: pip install inspect-evals")
    from tau2_telecom_world.game import load_package  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_package()
