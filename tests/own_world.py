"""Worlds written by `rpms worlds new` into a folder of a test, and forgotten with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from rpms.worlds.registry import find_world
from tests.cli.command import Rpms


@pytest.fixture
def new(rpms: Rpms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a new world called `half`, in the present folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rpms.worlds.registry._given", {})
    paths, modules = sys.path.copy(), set(sys.modules)
    assert rpms("worlds", "new", "half").code == 0
    yield tmp_path / "half"
    sys.path[:] = paths
    for module in set(sys.modules) - modules:
        if module.partition(".")[0].endswith("_world"):
            del sys.modules[module]
    find_world.cache_clear()


POINT = EntryPoint("half", "half_world:world", "rpms.worlds")
"""Its entry point, if it were installed."""


def edit(folder: Path, name: str, old: str, new: str) -> None:
    """Change one place of a file of the package."""
    file = folder / "half_world" / name
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
    file.write_text(text.replace(old, new), encoding="utf-8")
