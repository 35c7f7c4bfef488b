"""Builtin ALFWorld games for tests: opened, saved as files, and played to the end."""

import json
from pathlib import Path

from rpms.worlds.alfworld.engine.engine import NOTHING_HAPPENS, GameEngine
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.games.listing import builtin_game
from rpms.worlds.alfworld.games.make import GAME_FILE


def load_builtin(name: str) -> GameEngine:
    return read_engine(builtin_game(name), f"builtin/{name}")


def save_builtin(name: str, folder: Path) -> Path:
    path = folder / name / GAME_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(builtin_game(name)), encoding="utf-8", newline="\n")
    return path


def wins_at_the_end(engine: GameEngine, commands: tuple[str, ...]) -> bool:
    """True if each command does something and exactly the last one wins."""
    state = engine.start
    for command in commands:
        if engine.won(state):
            return False
        state, observation = engine.step(state, command)
        if observation == NOTHING_HAPPENS:
            return False
    return engine.won(state)
