"""docs/your_own_world.md, followed to the letter in an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "docs" / "your_own_world.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "rpms": [sys.executable, "-m", "rpms"],
    "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
}


def follow(command: str, shown: list[str], folder: Path) -> None:
    """Run a command; it prints what the page says, and fails where the page shows a failure."""
    program, *arguments = shlex.split(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200", "NO_COLOR": "1"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins load for a second
    run = [*PROGRAMS[program], *arguments]
    ran = subprocess.run(
        run, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert [line for line in shown if line not in ran.stdout] == [], (
        f"{command}\n{ran.stdout}{ran.stderr}"
    )
    assert ran.returncode == any(line.startswith("failed") for line in shown), command


def change(file: Path, text: str) -> None:
    """Apply a difference: what stands there, with the lines that begin with a minus, becomes
    what has the pluses.
    """
    lines = text.splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in signs) for signs in (" -", " +"))
    before = file.read_text(encoding="utf-8")
    assert before.count(old) == 1, f"{before.count(old)} times in {file.name}:\n{old}"
    file.write_text(before.replace(old, new), encoding="utf-8")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_it_can_be_followed_to_the_letter(tmp_path: Path):
    done = {"console": 0, "diff": 0, "file": 0}
    for language, title, text in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        if language == "console":
            for command, *shown in (
                piece.splitlines() for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
            ):
                follow(command, shown, tmp_path)
        elif language == "diff":
            change(tmp_path / title, text)
        else:
            file = (ROOT if title.startswith("examples/") else tmp_path) / title
            assert text in file.read_text(encoding="utf-8"), f"not in {title}:\n{text}"
        done[language if language in done else "file"] += 1
    assert done == {"console": 5, "diff": 10, "file": 7}
