"""The example world of `examples/toolbox`, importable without being installed."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from rpms.worlds import registry

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "toolbox"

if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))

game = import_module("toolbox_world.game")
belief = import_module("toolbox_world.belief")
module = import_module("toolbox_world.world")
Toolbox = module.Toolbox
world = module.world


def register(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    """Let RPMS find worlds as if their packages were installed, beside those that are."""
    installed = registry.entry_points(group=registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints((*installed, *points)))
    registry.find_world.cache_clear()
