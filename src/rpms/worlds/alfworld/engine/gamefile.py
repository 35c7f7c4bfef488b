"""Official game files: JSON that holds a domain, a grammar and a problem."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError
from rpms.foreign.files import is_there, read_text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_GAME
from rpms.worlds.alfworld.engine.dialect import Dialect, read_domain, read_grammar, recognise
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.goal_test import compile_goal, mentions
from rpms.worlds.alfworld.engine.layout import lay_out
from rpms.worlds.alfworld.engine.pddl import Damage, about, read_problem


@dataclass(frozen=True, slots=True)
class GameFile:
    """A game read, checked and ready to play."""

    path: str
    engine: GameEngine
    goal: str
    """The goal as the game words it, such as `put a mug in desk.`"""
    dialect: Dialect
    walkthrough: tuple[str, ...]
    """Commands that win, where the file tells them; unchecked."""

    @classmethod
    def load(cls, path: str | Path) -> GameFile:
        """Read a `game.tw-pddl`. Whatever is wrong with it is a FileError of one line."""
        return cls.from_data(read_data(path), path)

    @classmethod
    def from_data(cls, data: Any, path: str | Path) -> GameFile:
        """The same from what the file holds; `path` is for messages alone."""
        try:
            return cls._read(data, str(path))
        except Damage as damage:
            raise FileError(path, None, damage.problem) from None

    @classmethod
    def _read(cls, data: Any, path: str) -> GameFile:
        if not isinstance(data, dict):
            raise Damage("is not a game file: it holds no JSON object")
        if data.get("solvable", True) is not True:
            raise Damage("is marked as not solvable")
        texts = {}
        for key in ("pddl_domain", "grammar", "pddl_problem"):
            if key not in data:
                raise Damage(f"is not a game file: {key!r} is missing")
            if not isinstance(data[key], str):
                raise Damage(f"is not a game file: {key!r} is not text")
            texts[key] = data[key]
        walkthrough = data.get("walkthrough") or []
        if not isinstance(walkthrough, list) or not all(isinstance(command, str) for command in walkthrough):
            raise Damage("has a 'walkthrough' that is not a list of commands")
        with about("pddl_domain"):
            domain = read_domain(texts["pddl_domain"])
        with about("grammar"):
            dialect, task = recognise(domain, read_grammar(texts["grammar"]))
        with about("pddl_problem"):
            problem = read_problem(texts["pddl_problem"], domain.name)
            layout, start = lay_out(problem, dialect)
            goal = compile_goal(problem, layout, start)
        engine = GameEngine(layout, start, dialect, task, goal, marks=mentions(problem.goal, "checked"))
        return cls(path, engine, task, dialect, tuple(walkthrough))


def read_data(path: str | Path) -> Any:
    """Content of a game file, not yet looked at."""
    if not is_there(Path(path)):
        raise FileError(path, None, "no such game file")
    text = read_text(path, LARGEST_GAME, encoding="utf-8")
    try:
        return loads(text)
    except NotJson as error:
        raise FileError(path, None, f"is not JSON that a game file can hold: {error}") from None
