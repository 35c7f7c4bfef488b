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
    """The engine from the file's content; `path` is only for messages."""
    wrong = _wrong_form(data)
    if wrong:
        raise FileError(path, None, wrong)
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


def _wrong_form(data: Any) -> str:
    """The reason that JSON is no game file, before its texts are read; empty if there is none."""
    if not isinstance(data, dict):
        return "is not a game file: it holds no JSON object"
    if data.get("solvable", True) is not True:
        return "is marked as not solvable"
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if key not in data:
            return f"is not a game file: {key!r} is missing"
        if not isinstance(data[key], str):
            return f"is not a game file: {key!r} is not text"
    if not _are_commands(data.get("walkthrough") or []):
        return "has a 'walkthrough' that is not a list of commands"
    return ""


def _are_commands(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def read_data(path: str | Path) -> Any:
    """Content of a game file, not yet looked at."""
    if not is_there(Path(path)):
        raise FileError(path, None, "no such game file")
    try:
        return loads(read_text(path, LARGEST_GAME, encoding="utf-8"))
    except NotJson as error:
        raise FileError(path, None, f"is not JSON that a game file can hold: {error}") from None
