"""Caches of planning: from step to step whatever follows from names alone, within a step the belief's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rpms.core.belief import Belief, Situation
from rpms.core.goal import Goal
from rpms.core.planning.achievers import Achievers, Fact

Judged = tuple[bool | None, float, Fact | None]
"""A judged need: False if impossible, the price of assuming it, and the fact left to achieve."""


class KnownNames:
    """The names that a situation knows, and all that follows from them alone: kept while no name is added."""

    def __init__(self, lasting: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]]) -> None:
        self.known = dict(known)
        self.names = {**lasting, **known}
        self.roles: dict[str, set[str]] = {}
        for role, names in self.names.items():
            for name in names:
                self.roles.setdefault(name, set()).add(role)
        self.made: dict[tuple[str, tuple[str, ...], bool], bool] = {}
        """True if some action causes the fact."""
        self.judged: dict[tuple[object, ...], Judged] = {}
        """Needs of facts that never change."""
        self.possible: dict[tuple[object, ...], set[str]] = {}
        self.stones: dict[object, Any] = {}
        """Facts and things derived for progress."""


class Answers(NamedTuple):
    """A belief's answers about a goal, filled on demand."""

    belief: Belief
    goal: Goal
    known: dict[tuple[str, tuple[str, ...]], bool | None]
    judged: dict[tuple[object, ...], Judged]
    possible: dict[tuple[object, ...], set[str]]
    here: dict[str, list[str]]


def known_names(ways: Achievers, known: Mapping[str, Sequence[str]]) -> KnownNames:
    """The names of the step before with all that follows from them, unless there are other names now."""
    kept = ways.kept.get("names")
    if kept is None or kept.known != known:
        kept = ways.kept["names"] = KnownNames(ways.lasting_names, known)
    return kept


def answers_of(ways: Achievers, situation: Situation) -> Answers:
    """The cached answers of this belief in this step; progress and plan ask much alike."""
    kept = ways.kept.get("answers")
    if kept is None or kept.belief is not situation.belief or kept.goal is not situation.goal:
        kept = ways.kept["answers"] = Answers(situation.belief, situation.goal, {}, {}, {}, {})
    return kept
