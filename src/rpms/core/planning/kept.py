"""Answers and derived values that planning keeps from one step to the next, as far as they still hold."""

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, Self

from rpms.core.belief import Belief, Situation
from rpms.core.goal import Goal
from rpms.core.planning.achievers import Achievers, Fact

Judged = tuple[bool | None, float, Fact | None]
"""A judged need: False if impossible, the price of assuming it, and the fact left to achieve."""


_INDEXES_AT_WORK = 128
"""Indexes that keep what they derived in one step for the next, at some 1 MB each."""
_used: dict[Achievers, None] = {}  # The latest used last
_using = Lock()


Passing = tuple[set[str], dict[Any, Any], frozenset[str]]
"""The names that pass a need, the answers that were asked for it, and what these are about."""
Found = tuple[Sequence[Any], dict[Any, Any], float, frozenset[str]]
"""Edges that lead to a fact, the answers they rest on, the cost of the cheapest way left out, and all names asked."""
Expanded = tuple[Goal | None, object, tuple[dict[Fact, Found], dict[Fact, Found]]]
"""The edges to each fact, for a goal and an order of places: all of them, and those that a best plan may have."""


class KnownNames:
    """Names that a situation knows, and all that follows from them and from the manual.

    The next step starts with all of it, but for what was derived about names that have other roles then.
    """

    def __init__(
        self, lasting: Mapping[str, Sequence[str]], known: Mapping[str, Sequence[str]], before: Self | None
    ) -> None:
        names: Mapping[str, Sequence[str]] = before.names if before is not None else {}
        same = {role: names[role] for role, every in known.items() if names.get(role) == every}
        self.known = known  # of what is the same, the same object
        self.names: Mapping[str, Sequence[str]] = {**lasting, **known, **same}
        was: Mapping[str, frozenset[str]] = before.called if before is not None else {}
        self.called: dict[str, frozenset[str]] = {
            role: was[role] if every is names.get(role) else frozenset(every) for role, every in self.names.items()
        }
        self.every = frozenset().union(*self.called.values())
        self.strangers: set[str] = set()
        """Names that were asked about and not known."""
        self.made: dict[tuple[str, tuple[str, ...], bool], bool] = {}
        """True if some action causes the fact."""
        self.judged: dict[tuple[int, tuple[str, ...], bool | None], Judged] = {}
        """Needs of one fact, by its value."""
        self.passed: dict[tuple[object, ...], Passing] = {}
        self.stones: dict[str, dict[object, Any]] = {}
        """Facts and things derived for progress."""
        self.expanded: Expanded = (None, None, ({}, {}))
        if before is not None:
            self._take_over(before)

    def _take_over(self, before: Self) -> None:
        nobody, old, new = frozenset[str](), before.called, self.called
        roles = frozenset(role for role in old.keys() | new.keys() if old.get(role) is not new.get(role))
        others = nobody.union(*[old.get(role, nobody) ^ new.get(role, nobody) for role in roles])
        changed = others & before.every | others & before.strangers
        self.strangers = before.strangers - self.every
        self.made, self.judged = before.made.copy(), before.judged.copy()
        if changed:
            self.made = {key: each for key, each in self.made.items() if changed.isdisjoint(key[1])}
            self.judged = {key: each for key, each in self.judged.items() if changed.isdisjoint(key[1])}
        same, (goal, order, (every, best)) = (changed | roles).isdisjoint, before.expanded
        self.passed = {key: each for key, each in before.passed.copy().items() if same(each[2])}
        self.stones = {key: each.copy() for key, each in before.stones.items()} if not changed else {}
        every = {fact: found for fact, found in every.copy().items() if same(found[3])}
        self.expanded = (goal, order, (every, {fact: each for fact, each in best.copy().items() if same(each[3])}))


def asked_about(read: Iterable[Any], names: Iterable[str] = ()) -> frozenset[str]:
    """All names that answers are about, and roles, beside some that are known."""
    return frozenset(names).union(*[key[1] if type(key) is tuple else (key,) for key in read])


class Answers(NamedTuple):
    """A belief's answers about a goal, filled on demand."""

    belief: Belief
    goal: Goal
    known: dict[tuple[str, tuple[str, ...]], bool | None]
    possible: dict[tuple[object, ...], Passing]
    here: dict[str, list[str]]
    reached: dict[tuple[object, ...], int]
    """Stages behind, by purpose and things."""


def known_names(achievers: Achievers, known: Mapping[str, Sequence[str]]) -> KnownNames:
    """The names of the step before with all that follows from them, as far as it still does.

    The index that was not used for longest loses what it kept of its last step.
    """
    kept: KnownNames | None = achievers.kept.get("names")
    if kept is None or kept.known != known:
        kept = achievers.kept["names"] = KnownNames(achievers.lasting_names, known, kept)
        with _using:
            _used.pop(achievers, None)
            _used[achievers] = None
            if len(_used) > _INDEXES_AT_WORK:
                del _used[unused := next(iter(_used))]
                for of_one_step in ("names", "answers", "doubting", "graph", "best graph"):
                    unused.kept.pop(of_one_step, None)
    return kept


def answers_of(achievers: Achievers, situation: Situation) -> Answers:
    """The cached answers of this belief in this step; progress and plan ask much alike."""
    kept = achievers.kept.get("answers")
    if kept is None or kept.belief is not situation.belief or kept.goal is not situation.goal:
        kept = achievers.kept["answers"] = Answers(situation.belief, situation.goal, {}, {}, {}, {})
    return kept
