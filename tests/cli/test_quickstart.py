"""The quickstart's recorded answers suffice: every prompt of its strict conditions is one that
was recorded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Rpms

_STUDY = Path(__file__).parents[2] / "studies" / "quickstart_model.yaml"


@pytest.mark.parametrize("condition", ["rules-only + strict", "full + strict"])
def test_a_recorded_model_plays_the_quickstart_to_the_end(
    rpms: Rpms, tmp_path: Path, condition: str
):
    ran = rpms(
        "study", "run", _STUDY, "--only", condition, "--no-report", "--out", tmp_path / "quickstart"
    )
    assert ran.code == 0, ran.err
    assert "21/24" in ran.out
