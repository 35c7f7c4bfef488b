"""The Dockerfile: what it copies is there and enough, and what it runs works.

No daemon is needed: its commands are run on its files, in a folder of their own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

_TOP = Path(__file__).parents[1]
_LINES = (_TOP / "Dockerfile").read_text(encoding="utf-8").splitlines()


def _copied() -> list[str]:
    """Names of what the image gets, each of which keeps its name there."""
    names: list[str] = []
    for line in _LINES:
        if line.startswith("COPY "):
            *sources, target = line.split()[2:]
            assert target in ("./", *sources)
            names += sources
    return names


def test_what_it_copies_is_there_and_not_ignored():
    ignored = (_TOP / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    for name in _copied():
        assert (_TOP / name).exists(), name
        assert f"!{name}" in ignored


def _image(folder: Path) -> Path:
    """A folder with what the image gets, and nothing else."""
    for name in _copied():
        whole = _TOP / name
        if whole.is_dir():
            shutil.copytree(whole, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(whole, folder / name)
    return folder


def test_it_has_what_the_quickstart_and_the_package_name(tmp_path: Path):
    package = (_TOP / "pyproject.toml").read_text(encoding="utf-8")
    included = re.findall(r'^"([^"]+)" = "rpms/', package, re.MULTILINE)
    copied = set(_copied())
    for name in ("README.md", "LICENSE", "src", *included):
        assert copied.intersection((name, *map(str, Path(name).parents))), name
    (command,) = [json.loads(line[4:]) for line in _LINES if line.startswith("CMD ")]
    assert command == ["make", "quickstart"]
    planned = subprocess.run(
        ["make", "-n", *command[1:]],
        cwd=_image(tmp_path),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    studies = re.findall(r"rpms study run (\S+)", planned)
    assert len(studies) == 3
    assert all((tmp_path / study).is_file() for study in studies)


@pytest.mark.skipif(not os.environ.get("RPMS_SLOW"), reason="installs anew; RPMS_SLOW=1 runs it")
def test_its_commands_work_on_its_files_alone(tmp_path: Path):
    _image(tmp_path)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    for line in _LINES:
        if line.startswith("RUN make "):
            subprocess.run(line.split()[1:], cwd=tmp_path, env=own, check=True)
    play = ["rpms", "run", "alfworld", "--split", "builtin", "--model", "planner", "--limit", "1"]
    play[0] = str(tmp_path / ".venv" / "bin" / "rpms")
    subprocess.run([*play, "--out", str(tmp_path / "run")], cwd=tmp_path, env=own, check=True)
