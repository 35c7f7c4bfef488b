"""The guide's Python is run as it stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from rpms.store.protocol import TABLES

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide.md"


def test_the_guides_python_runs(played, tmp_path, monkeypatch, capsys):
    shutil.copytree(played["baseline"], tmp_path / "runs" / "baseline")
    shutil.copytree(played["full"], tmp_path / "runs" / "full")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    exec(compile(code, str(GUIDE), "exec"), {})
    assert capsys.readouterr().out.startswith("full vs. baseline ")


def test_the_guide_names_every_table():
    text = GUIDE.read_text()
    assert all(f"`{name}`" in text for name in TABLES)


def test_the_guides_pictures_are_there():
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", GUIDE.read_text()):
        assert (GUIDE.parent / picture).is_file()
