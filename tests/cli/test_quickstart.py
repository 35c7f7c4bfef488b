"""The quickstart plays to its end with what ships, and the README has the table it ends with.

Acting with rules alone and with memory alone takes as long as half of all else: these two are
played with RPMS_SLOW=1, and by `make golden`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from rpms.cli import main
from rpms.report.comparison import Comparison
from rpms.report.gather import gather
from rpms.report.outcomes import condition_label
from rpms.report.tables import overview_table
from rpms.study.study_files import read_study
from tests.cli.command import Rpms

# the first test waits for all that is played
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
_TOP = Path(__file__).parents[2]
_CONDITIONS = ("baseline", "rules-only", "memory-only", "full")
_ACTING = _CONDITIONS if "RPMS_SLOW" in os.environ else ("baseline", "full")
_STUDIES = {
    "quickstart": _CONDITIONS,
    "quickstart_taught": _CONDITIONS,
    "quickstart_model": tuple(f"{name} + strict" for name in _ACTING),
}
"""What is played of each study."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The quickstart, as far as its recorded answers go."""
    out = tmp_path_factory.mktemp("quickstart")
    for study, conditions in _STUDIES.items():
        file = _TOP / "studies" / f"{study}.yaml"
        for condition in conditions:
            only = ["--only", condition, "--workers", "1", "--no-report"]
            words = ["study", "run", file, *only, "--out", out]
            with pytest.MonkeyPatch.context() as patch, contextlib.suppress(SystemExit):
                patch.setattr(sys, "argv", ["rpms", *map(str, words)])
                main()
    return out


@pytest.fixture(scope="module")
def results(played: Path) -> dict[str, Comparison]:
    """What was played, by model."""
    return {each.model: each for each in gather([played])}


def _cells(page: str) -> dict[tuple[str, str], str]:
    """The cells of the README's table, by condition and column."""
    block = page.partition("<!-- table overview -->")[2].partition("<!-- end of")[0]
    rows = [line for line in block.splitlines() if line.startswith("|")]
    split = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    columns, _, *lines = split
    cells: dict[tuple[str, str], str] = {}
    for name, *values in lines:
        for column, value in zip(columns[1:], values, strict=True):
            cells[name, column] = value
    return cells


@pytest.mark.parametrize(
    ("study", "condition"),
    [
        (study, condition)
        for study in ("quickstart_taught", "quickstart_model")
        for condition in _STUDIES[study]
    ],
)
def test_a_recorded_model_plays_each_condition_to_the_end(
    results: dict[str, Comparison], study: str, condition: str
):
    (model,) = read_study(_TOP / "studies" / f"{study}.yaml").models
    found = results[model].conditions[condition]
    assert not found.missing
    cells = _cells((_TOP / "README.md").read_text(encoding="utf-8"))
    name, _, acts = condition.partition(" + ")
    column = f"{model.rpartition('/')[2]}, {'acting' if acts else 'told'}"
    assert cells[condition_label(name), column] == str(found.won)


def test_every_condition_has_a_cell_for_each_player_in_the_readme():
    cells = _cells((_TOP / "README.md").read_text(encoding="utf-8"))
    columns = {column for _, column in cells}
    assert len(columns) == 4  # the three studies' players, and the control of the one that acts
    assert cells.keys() == {
        (condition_label(name), column) for name in _CONDITIONS for column in columns
    }


@pytest.mark.parametrize("name", _CONDITIONS)
def test_the_planner_wins_what_the_readme_says(results: dict[str, Comparison], name: str):
    cells = _cells((_TOP / "README.md").read_text(encoding="utf-8"))
    won = results["planner"].conditions[name].won
    assert cells[condition_label(name), "planner, no LLM"] == str(won)


@pytest.mark.skipif("RPMS_SLOW" not in os.environ, reason="all conditions: set RPMS_SLOW=1")
def test_the_readme_has_the_table_that_the_quickstart_ends_with(
    rpms: Rpms, played: Path, tmp_path: Path
):
    copy = tmp_path / "README.md"
    shutil.copy(_TOP / "README.md", copy)
    assert rpms("table", "overview", played, "--into", copy).code == 0
    assert copy.read_text(encoding="utf-8") == (_TOP / "README.md").read_text(encoding="utf-8")


def test_the_overview_names_models_told_and_acting_and_their_control(
    results: dict[str, Comparison],
):
    assert overview_table([results["planner"]]).columns == ("Condition", "planner, no LLM")


def test_a_page_without_a_place_for_the_table_is_left_as_it_is(
    rpms: Rpms, played: Path, tmp_path: Path
):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    ran = rpms("table", "overview", played, "--into", page)
    assert "write <!-- table overview --> and <!-- end of table overview --> in it" in ran.line
    assert page.read_text() == "nothing here\n"
