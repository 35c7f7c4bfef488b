"""Manuals that do not say where things belong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual

SCRIPT = Path(__file__).parent.parent / "common_sense.py"


def hidden(share: str, out: Path) -> subprocess.CompletedProcess[str]:
    options = ["--hide", share, "--seed", "1", "--out", str(out)]
    return subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False
    )


def homes_in(path: Path) -> set[str]:
    """Every sort of thing that a manual has a place for."""
    facts = read_manual(manual_text(path)).lore.facts
    sorts: set[str] = set()
    for predicate in ("belongs", "fits"):
        sorts.update(*facts.get(predicate, {}).values())
    return sorts


def test_a_share_of_the_sorts_is_hidden_the_same_for_the_same_seed(tmp_path):
    for share in ("0", "0.5", "1"):
        assert hidden(share, tmp_path / share).returncode == 0
    assert hidden("0.5", tmp_path / "again").returncode == 0
    whole, half = homes_in(tmp_path / "0"), homes_in(tmp_path / "0.5")
    assert half < whole
    assert len(half) == len(whole) // 2
    assert homes_in(tmp_path / "1") == set()
    assert (tmp_path / "again").read_bytes() == (tmp_path / "0.5").read_bytes()


@pytest.mark.parametrize(("share", "out"), [("2", "manual.yaml"), ("1", "nowhere/manual.yaml")])
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path, share, out):
    refused = hidden(share, tmp_path / out)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / out).exists()
