"""The PDDL domain and the text grammar of ALFWorld's games: `alfred.pddl` and `alfred.twl2` beside
this module.

Their meaning is that of the official games, their wording is this project's. The files hold release
0.3's texts.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

ReleaseName = Literal["0.3", "0.4"]
"""The release whose commands a game understands: 0.3 says `put … in/on …`, 0.4 says `move … to
…` and has `help`."""

DIALECTS: tuple[ReleaseName, ...] = get_args(ReleaseName)

_HELP = files(__package__).joinpath("help.txt").read_text(encoding="utf-8")
_CHANGES = {
    "(receptacleType ?r SinkType) ": "",  # no official game has a receptacle of that type
    "You arrive at {lend.name}.": "You arrive at {r.name}.",
    "You put the {o.name} in/on the {r.name}.": "You move the {o.name} to the {r.name}.",
    "put {o} in/on {r}": "move {o} to {r}",
    '", and "\n}\n]': (
        f'", and "\n}}\n],\n"help.feedback": [\n{{\n"rhs": {json.dumps(_HELP)}\n}}\n]'
    ),
}
"""Text of release 0.3 → text of release 0.4 in its place."""
_ADDED = {
    "alfred.pddl": (
        "(:action help\n :parameters (?a - agent)\n :precondition ()\n :effect (and (checked"
        " ?a)))\n)\n"
    ),
    "alfred.twl2": '\naction help {\n template :: "help";\n feedback :: "#help.feedback#";\n}\n',
}


@cache
def _text(file: str, dialect: ReleaseName) -> str:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    if dialect == "0.4":
        text = text.removesuffix(")\n") + _ADDED[file]
        for old, new in _CHANGES.items():
            text = text.replace(old, new)
    return text


def domain(dialect: ReleaseName) -> str:
    """The domain of a dialect: what every action needs and does."""
    return _text("alfred.pddl", dialect)


def grammar(dialect: ReleaseName, goal: str) -> str:
    """The grammar of a game whose goal sentence is `goal`, as `Your task is to: …` shows it."""
    return _text("alfred.twl2", dialect).replace("GOAL", json.dumps(goal)[1:-1])
