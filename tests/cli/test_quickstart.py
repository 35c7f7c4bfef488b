"""The quickstart plays to its end with what ships, and the README has the table it ends with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.report.gather import gather
from rpms.report.outcomes import condition_label
from rpms.report.tables import overview_table
from rpms.study.study_files import read_study
from tests.cli.command import Rpms

_TOP = Path(__file__).parents[2]
_STUDIES = ("quickstart", "quickstart_taught", "quickstart_model")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every condition of the quickstart, as far as its recorded answers go."""
    out = tmp_path_factory.mktemp("quickstart")
    for study in _STUDIES:
        file = _TOP / "studies" / f"{study}.yaml"
        for case in read_study(file).cases:
            words = ["study", "run", file, "--only", case.name, "--no-report", "--out", out]
            subprocess.run([sys.executable, "-m", "rpms", *map(str, words)], check=False)
    return out


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


_CONDITIONS = ("baseline", "rules-only", "memory-only", "full")


@pytest.mark.parametrize("study", _STUDIES[1:])
@pytest.mark.parametrize("name", _CONDITIONS)
def test_a_recorded_model_plays_each_condition_to_the_end(played: Path, study: str, name: str):
    found = {each.model: each for each in gather([played])}
    acts = study == "quickstart_model"
    (model,) = read_study(_TOP / "studies" / f"{study}.yaml").models
    results = found[model].conditions[f"{name} + strict" if acts else name]
    assert not results.missing
    cells = _cells((_TOP / "README.md").read_text(encoding="utf-8"))
    column = f"{model.rpartition('/')[2]}, {'acting' if acts else 'told'}"
    assert cells[condition_label(name), column] == str(results.won)


@pytest.mark.parametrize("name", _CONDITIONS)
def test_the_planner_wins_what_the_readme_says(played: Path, name: str):
    found = {each.model: each for each in gather([played])}
    cells = _cells((_TOP / "README.md").read_text(encoding="utf-8"))
    won = found["planner"].conditions[name].won
    assert cells[condition_label(name), "planner, no LLM"] == str(won)


def test_the_readme_has_the_table_that_the_quickstart_ends_with(
    rpms: Rpms, played: Path, tmp_path: Path
):
    copy = tmp_path / "README.md"
    shutil.copy(_TOP / "README.md", copy)
    assert rpms("table", "overview", played, "--into", copy).code == 0
    assert copy.read_text(encoding="utf-8") == (_TOP / "README.md").read_text(encoding="utf-8")


def test_the_overview_names_models_told_and_acting_and_their_control(played: Path):
    comparisons = [each for each in gather([played]) if each.model == "planner"]
    assert overview_table(comparisons).columns == ("Condition", "planner, no LLM")


def test_a_page_without_a_place_for_the_table_is_left_as_it_is(
    rpms: Rpms, played: Path, tmp_path: Path
):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n")
    ran = rpms("table", "overview", played, "--into", page)
    assert "write <!-- table overview --> and <!-- end of table overview --> in it" in ran.line
    assert page.read_text() == "nothing here\n"
