"""Answers and derived values that planning keeps from one step to the next, as far as they still hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

from rpms.core.belief import Belief, Situation
from rpms.core.goal import Goal
from rpms.core.planning.achievers import Achievers, Fact

Judged = tuple[bool | None, float, Fact | None]
"""A judged need: False if impossible, the price of assuming it, and the fact left to achieve."""


_INDEXES_AT_WORK = 128
"""Indexes that keep what they derived in one step for the next, at some 1 MB each."""
_used: dict[Achievers, None] = {}  # The latest used last
_using = Lock()


Found = tuple[Sequence[Any], dict[Any, Any], float]
"""Edges that lead to a fact, the answers they rest on, and the cost of the cheapest way that was left out."""
Expanded = tuple[Goal | None, object, tuple[dict[Fact, Found], dict[Fact, Found]]]
"""The edges to each fact, for a goal and an order of places: all of them, and those that a best plan may have."""


class KnownNames:
    """Names that a situation knows, and all that follows from them and from the manual.

    When only names are added, the next step starts with all of it: nothing that was derived asked about the new ones.
    """

    def __init__(
        self, lasting: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]], before: KnownNames | None
    ) -> None:
        names: Mapping[str, Sequence[str]] = before.names if before is not None else {}
        same = {role: names[role] for role, every in known.items() if names.get(role) == every}
        self.known = known  # of what is the same, the same object
        self.names: Mapping[str, Sequence[str]] = {**lasting, **known, **same}
        self.called = {role: frozenset(every) for role, every in self.names.items()}
        self.every = frozenset().union(*self.called.values())
        kept = before if before is not None and before.grown_to(self) else None
        self.strangers: set[str] = set(kept.strangers) if kept else set()
        """Names that were asked about and not known."""
        self.made: dict[tuple[str, tuple[str, ...], bool], bool] = dict(kept.made) if kept else {}
        """True if some action causes the fact."""
        self.judged: dict[tuple[object, ...], Judged] = dict(kept.judged) if kept else {}
        """Needs of one fact, by its value."""
        self.stones: dict[str, dict[object, Any]] = (
            {key: dict(each) for key, each in kept.stones.items()} if kept else {}
        )
        """Facts and things derived for progress, and the names that passed a need."""
        goal, order, (every, best) = kept.expanded if kept else (None, None, ({}, {}))
        self.expanded: Expanded = (goal, order, (dict(every), dict(best)))

    def grown_to(self, other: KnownNames) -> bool:
        """True if all names have the roles they had, and of the new ones none was asked about."""
        nobody = frozenset[str]()
        return self.strangers.isdisjoint(other.every) and all(
            other.called.get(role, nobody) & self.every == self.called.get(role, nobody)
            for role in self.called.keys() | other.called.keys()
        )


class Answers(NamedTuple):
    """A belief's answers about a goal, filled on demand."""

    belief: Belief
    goal: Goal
    known: dict[tuple[str, tuple[str, ...]], bool | None]
    possible: dict[tuple[object, ...], tuple[set[str], dict[Any, Any]]]
    """The names that pass a need, and the facts that were asked for it."""
    here: dict[str, list[str]]
    reached: dict[tuple[object, ...], int]
    """Stages behind, by purpose and things."""


def known_names(achievers: Achievers, known: Mapping[str, Sequence[str]]) -> KnownNames:
    """The names of the step before with all that follows from them, as far as it still does."""
    kept: KnownNames | None = achievers.kept.get("names")
    if kept is None or kept.known != known:
        kept = achievers.kept["names"] = KnownNames(achievers.lasting_names, known, kept)
        _note_use(achievers)
    return kept


def _note_use(achievers: Achievers) -> None:
    """Make an index the latest used; the one that was not used for longest loses what it kept of its last step."""
    with _using:
        _used.pop(achievers, None)
        _used[achievers] = None
        if len(_used) > _INDEXES_AT_WORK:
            del _used[unused := next(iter(_used))]
            for of_one_step in ("names", "answers", "doubting", "graph", "best graph"):
                unused.kept.pop(of_one_step, None)


def answers_of(achievers: Achievers, situation: Situation) -> Answers:
    """The cached answers of this belief in this step; progress and plan ask much alike."""
    kept = achievers.kept.get("answers")
    if kept is None or kept.belief is not situation.belief or kept.goal is not situation.goal:
        kept = achievers.kept["answers"] = Answers(situation.belief, situation.goal, {}, {}, {}, {})
    return kept
