"""Files that lie in the current folder and that nobody named are not obeyed, nor even read."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.worlds.registry import find_world

RPMS = (sys.executable, "-c", "from rpms.cli import main; main()")
IMPORT_ALL = """
import contextlib, importlib, os, pkgutil, sys, warnings
import rpms
from rpms.logic.errors import InputError
here, opened = os.getcwd(), []

def hear(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.append(arguments[0])

sys.addaudithook(hear)
warnings.simplefilter("ignore")
for module in pkgutil.walk_packages(rpms.__path__, "rpms."):
    if ".template" in module.name or module.name.endswith("_textworld_worker"):
        continue
    with contextlib.suppress(ImportError, InputError):
        importlib.import_module(module.name)
print(sorted({path for path in opened if os.path.dirname(os.path.abspath(path)) == here}))
"""
NAMES = (
    "matplotlibrc",
    ".env",
    ".netrc",
    "pyproject.toml",
    "fastmcp.json",
    "logging.ini",
    "style.mplstyle",
)


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of one short episode."""
    folder = tmp_path_factory.mktemp("run") / "run"
    model = PolicyModel("planner", follow_plan)
    world = find_world("alfworld")
    design = design_run(
        world, model.name, lend(model), limit=1, step_budget=2, memory=EpisodicMemory()
    )
    run(design, folder)
    return folder


def report(played: Path, here: Path) -> dict[str, bytes]:
    done = subprocess.run(
        [*RPMS, "report", str(played), "--out", "report"],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {file.name: file.read_bytes() for file in (here / "report" / "figures").iterdir()}


@pytest.fixture(scope="module")
def drawn(played, tmp_path_factory) -> dict[str, bytes]:
    """The run's figures, drawn in this process."""
    return draw(played, tmp_path_factory.mktemp("report"), size=10)


def draw(played: Path, out: Path, size: int) -> dict[str, bytes]:
    """Draw the run's figures in this process, whose parameters are others than the package's."""
    mpl = pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    write_report = importlib.import_module("rpms.report.pages").write_report
    with mpl.rc_context({"font.size": size, "savefig.bbox": "tight", "lines.linewidth": size}):
        write_report([played], out)
        assert mpl.rcParams["font.size"] == size
    return {file.name: file.read_bytes() for file in (out / "figures").iterdir()}


def test_figures_are_drawn_with_the_packages_own_parameters(played, drawn, tmp_path):
    for name in ("sizes", "bytes", "fifo"):
        (tmp_path / name).mkdir()
    sizes = "figure.figsize: 1, 1\nfont.size: 30\ntext.usetex: True\nsavefig.bbox: tight\n"
    (tmp_path / "sizes" / "matplotlibrc").write_text(sizes)
    (tmp_path / "bytes" / "matplotlibrc").write_bytes(bytes(range(256)) * 9)
    os.mkfifo(tmp_path / "fifo" / "matplotlibrc")
    assert drawn
    for name in ("sizes", "bytes", "fifo") if "RPMS_SLOW" in os.environ else ("fifo",):
        assert report(played, tmp_path / name) == drawn  # who opens the third waits for good


def test_parameters_that_a_program_set_change_no_figure(played, drawn, tmp_path):
    """In a process that drew before, with other parameters."""
    assert draw(played, tmp_path / "report", size=30) == drawn


@pytest.mark.timeout(300)
def test_no_module_reads_a_file_of_the_current_folder_when_it_is_imported(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_text("FASTMCP_LOG_LEVEL=nonsense\n")
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
