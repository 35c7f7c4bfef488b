"""The notebook runs from top to bottom, and gives what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the dependency group docs")
nbclient = pytest.importorskip("nbclient", reason="needs the dependency group docs")
pytest.importorskip("ipykernel", reason="needs the dependency group docs")
pytest.importorskip("matplotlib", reason="needs rpms[report]")

_FILE = Path(__file__).parents[1] / "examples" / "first_look.ipynb"
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Jupyter's own, of its own parts
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def _printed(notebook: Any) -> list[str]:
    """The text that each cell has printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(each.get("text", "") for each in cell.outputs) for cell in cells]


def test_it_runs_and_gives_what_it_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    shown = nbformat.read(_FILE, as_version=4)
    played = nbformat.read(_FILE, as_version=4)
    for cell in played.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbclient.NotebookClient(played, timeout=250, kernel_name="python3").execute()
    assert _printed(played) == _printed(shown)
    pictures = [
        output for output in played.cells[-2].outputs if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 1
