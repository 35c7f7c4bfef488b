"""Official game files: JSON that holds a domain, a grammar and a problem."""

from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import is_there, read_text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_GAME
from rpms.logic.errors import FileError
from rpms.worlds.alfworld.engine.dialect import read_domain, read_grammar, recognise
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.goal_test import compile_goal
from rpms.worlds.alfworld.engine.layout import GameLayout, first_state
from rpms.worlds.alfworld.engine.pddl import Damage, read_problem


def load_engine(path: str | Path) -> GameEngine:
    """Read a `game.tw-pddl`, check it, and make it ready to play.

    What is wrong with it is a FileError of one line.
    """
    return read_engine(read_data(path), path)


def read_engine(data: Any, path: str | Path) -> GameEngine:
    """The same from what the file holds; `path` is for messages alone."""
    if not isinstance(data, dict):
        raise FileError(path, None, "is not a game file: it holds no JSON object")
    if data.get("solvable", True) is not True:
        raise FileError(path, None, "is marked as not solvable")
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if key not in data:
            raise FileError(path, None, f"is not a game file: {key!r} is missing")
        if not isinstance(data[key], str):
            raise FileError(path, None, f"is not a game file: {key!r} is not text")
    walkthrough = data.get("walkthrough") or []
    if not isinstance(walkthrough, list) or not all(
        isinstance(command, str) for command in walkthrough
    ):
        raise FileError(path, None, "has a 'walkthrough' that is not a list of commands")
    about = "pddl_domain"
    try:
        domain = read_domain(data["pddl_domain"])
        about = "grammar"
        dialect, task = recognise(domain, read_grammar(data["grammar"]))
        about = "pddl_problem"
        problem = read_problem(data["pddl_problem"], domain.name)
        layout = GameLayout(problem, dialect)
        start = first_state(layout, problem.facts)
        goal = compile_goal(problem, layout, start)
    except Damage as damage:
        raise FileError(path, None, f"{about} {damage.problem}") from None
    return GameEngine(layout, start, dialect, task, goal, marks="'checked'" in str(problem.goal))


def read_data(path: str | Path) -> Any:
    """Content of a game file, not yet looked at."""
    if not is_there(Path(path)):
        raise FileError(path, None, "no such game file")
    try:
        return loads(read_text(path, LARGEST_GAME, encoding="utf-8"))
    except NotJson as error:
        raise FileError(path, None, f"is not JSON that a game file can hold: {error}") from None
