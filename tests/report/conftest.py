"""Real runs, played once for all tests of reports."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.paper.condition import FULL
from rpms.paper.enforcement import Enforcement
from rpms.report.page_files import Report
from rpms.report.pages import write_report
from tests.report.runs import play_conditions


@pytest.fixture(scope="session")
def played(tmp_path_factory) -> dict[str, Path]:
    """Run folders of the 2x2, six tasks each. Not to be changed; `copied` may be."""
    return play_conditions(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def report(played, tmp_path_factory) -> Report:
    """The report of these runs."""
    return write_report(
        list(played.values()), tmp_path_factory.mktemp("pages") / "report", with_published=True
    )


@pytest.fixture(scope="session")
def compact(tmp_path_factory) -> Path:
    """A run whose prompts show what matters at each sub-goal. Not to be changed."""
    conditions = {"compact": replace(FULL, enforcement=Enforcement(compact=True))}
    return play_conditions(tmp_path_factory.mktemp("compact"), conditions=conditions)["compact"]


@pytest.fixture
def copied(played, tmp_path) -> dict[str, Path]:
    """The same, for a test to damage."""
    return {
        name: Path(shutil.copytree(folder, tmp_path / "runs" / name))
        for name, folder in played.items()
    }
