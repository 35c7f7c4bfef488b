"""ALFWorld's engine, native: reads official game files and plays them exactly as TextWorld does.

`GameFile.load` checks a file and prepares its `GameEngine`; an engine is a set of pure functions over `State` values.
"""

from __future__ import annotations

from rpms.worlds.alfworld.engine.dialect import Dialect
from rpms.worlds.alfworld.engine.engine import NOTHING_HAPPENS, EngineTurn, GameEngine
from rpms.worlds.alfworld.engine.gamefile import GameFile, read_data
from rpms.worlds.alfworld.engine.layout import GameLayout
from rpms.worlds.alfworld.engine.state import State

__all__ = ["NOTHING_HAPPENS", "Dialect", "EngineTurn", "GameEngine", "GameFile", "GameLayout", "State", "read_data"]
