"""A game in the other release's dialect: the same problem and goal under the other domain and grammar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.worlds.alfworld.engine import GameFile
from rpms.worlds.alfworld.games.domain import DIALECTS, Dialect, domain
from rpms.worlds.alfworld.games.grammar import grammar


def reworded(data: Mapping[str, Any], dialect: str, path: str | Path) -> Mapping[str, Any]:
    """Content of a game file in a dialect, without a walkthrough; unchanged if it has that one already."""
    known = known_dialect(dialect)
    if known is None:
        return data
    game = GameFile.from_data(data, path)
    if game.dialect.name == known:
        return data
    kept = {name: value for name, value in data.items() if name != "walkthrough"}
    return {**kept, "pddl_domain": domain(known), "grammar": grammar(known, game.goal)}


def known_dialect(name: str) -> Dialect | None:
    """The dialect of that name; None for no name, where each game keeps its own."""
    found = next((each for each in DIALECTS if each == name), None)
    if found is None and name:
        raise InputError(f"ALFWorld has no dialect {name!r}; choose one of {', '.join(DIALECTS)}")
    return found
