"""Answers and conclusions of one step, and those that still hold in the next."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from rpms.logic.actions import role_of
from rpms.logic.belief import Belief, Situation
from rpms.logic.goal import Goal
from rpms.planning.needs_by_name import NeedByName
from rpms.planning.wanted_facts import Achiever, Fact, Judged, Level, NamedFact, Need
from rpms.planning.whereabouts import PlaceRanks


class Passing(NamedTuple):
    """Names with which a need may hold."""

    names: set[str]
    holding: set[str]
    """The names among them with which it holds."""
    read: dict[Any, Any]
    """The answers from which this follows."""
    asked: frozenset[str]
    """The names these answers are about."""


class Found(NamedTuple):
    """Edges that lead to a fact."""

    edges: Sequence[Any]
    read: dict[Any, Any]
    """The answers they rest on."""
    left_out: float
    """The cost of the cheapest way left out."""
    asked: frozenset[str]
    """All names that were asked about."""


class Expanded(NamedTuple):
    """The edges to each fact."""

    ranks: PlaceRanks | None
    """The goal and the order of places that they are for."""
    every: dict[Fact, Found]
    best: dict[Fact, Found]
    """Only the edges that a best plan may have."""


class Fill(NamedTuple):
    """The names that fill a way's parameters for one fact."""

    filled: Sequence[Any]
    read: dict[Any, Any]
    """The answers from which this follows."""
    asked: frozenset[str]
    """All names that these are about."""


class Grounded(NamedTuple):
    """A way to one fact as edges."""

    way: Achiever
    filled: Sequence[Any]
    """The choices of names that they are made of."""
    ordered: Sequence[Any]
    """The same in the order in which edges are made of them; of a doubt those first with which
    least is left to do."""
    edges: list[Any]
    """Those that were made so far."""


class KnownNames:
    """The names that a situation knows, and all that follows from them and the manual; the next
    step begins with what is still right of it.
    """

    def __init__(
        self,
        lasting: Mapping[str, Sequence[str]],
        known: Mapping[str, Sequence[str]],
        before: Self | None,
        numbered: Iterable[str] = (),
    ) -> None:
        self.known = known
        self.names: dict[str, Sequence[str]] = {**lasting, **known}
        """Names by parameter; where they are the same as a step before, the same object."""
        if before is not None:
            self._keep_equal(known, before)
        for parameter in numbered:
            self.names.setdefault(parameter, self.names.get(role_of(parameter), ()))
        self.called = self._as_sets(before)
        """The same as sets, for asking if a name is among them."""
        self.every = frozenset().union(*self.called.values())
        self.strangers: set[str] = set()
        """Names that were asked about and not known."""
        self.made: dict[tuple[str, tuple[str, ...], bool], bool] = {}
        """True if some action causes the fact."""
        self.judged: dict[tuple[int, tuple[str, ...], bool | None], Judged] = {}
        """Needs of one fact, by its value."""
        self.passed: dict[tuple[object, ...], Passing] = {}
        self.expanded = Expanded(None, {}, {})
        self.fills: dict[tuple[int, bool, tuple[str, ...]], Fill] = {}
        """Names for the parameters of ways, by shape, for the best plan alone or for all, and by
        fact; for the goal and order of `expanded`."""
        self.ranks: PlaceRanks | None = None
        """The ranks of places that were asked for, for one goal and order."""
        if before is not None:
            self._take_over(before)

    def _keep_equal(self, known: Mapping[str, Sequence[str]], before: Self) -> None:
        """Keep the object of a step before for each role whose names are equal to its own."""
        for role, names in known.items():
            earlier = before.names.get(role)
            if earlier == names:
                self.names[role] = earlier

    def _as_sets(self, before: Self | None) -> dict[str, frozenset[str]]:
        """The names of each role as a set; if they have not changed, the set of the step before."""
        found: dict[str, frozenset[str]] = {}
        for role, names in self.names.items():
            if before is not None and before.names.get(role) is names:
                found[role] = before.called[role]
            else:
                found[role] = frozenset(names)
        return found

    def _take_over(self, before: Self) -> None:
        """Keep what was derived from names and roles that have not changed."""
        roles = self._changed_roles(before)
        changed = self._changed_names(before, roles)
        self.strangers = before.strangers - self.every
        # copied at once: another episode may write to them meanwhile
        self.made = before.made.copy()
        self.judged = before.judged.copy()
        if changed:
            self._forget(changed)
        changed_or_role = changed | roles
        for key, passing in before.passed.copy().items():
            if changed_or_role.isdisjoint(passing.asked):
                self.passed[key] = passing
        self.ranks = before.ranks
        expanded = before.expanded
        self.expanded = expanded._replace(
            every=_apart_from(changed_or_role, expanded.every),
            best=_apart_from(changed_or_role, expanded.best),
        )
        for key, fill in before.fills.copy().items():
            if changed_or_role.isdisjoint(fill.asked):
                self.fills[key] = fill

    def _changed_roles(self, before: Self) -> frozenset[str]:
        """Roles whose names have changed; unchanged names are the same object as before."""
        every = before.called.keys() | self.called.keys()
        was = before.called.get
        is_now = self.called.get
        return frozenset([role for role in every if was(role) is not is_now(role)])

    def _changed_names(self, before: Self, roles: Iterable[str]) -> frozenset[str]:
        """Names that have come or gone in these roles, and that something was derived about."""
        nobody = frozenset[str]()
        changed: set[str] = set()
        for role in roles:
            changed |= before.called.get(role, nobody) ^ self.called.get(role, nobody)
        return frozenset(changed & before.every | changed & before.strangers)

    def _forget(self, changed: frozenset[str]) -> None:
        """Drop what was derived about some names."""
        made = self.made.items()
        self.made = {key: each for key, each in made if changed.isdisjoint(key[1])}
        judged = self.judged.items()
        self.judged = {key: each for key, each in judged if changed.isdisjoint(key[1])}


def _apart_from(names: frozenset[str], edges: dict[Fact, Found]) -> dict[Fact, Found]:
    """The edges that rest on no answer about these names."""
    kept: dict[Fact, Found] = {}
    for fact, found in edges.copy().items():
        if names.isdisjoint(found.asked):
            kept[fact] = found
    return kept


def asked_about(read: Iterable[Any], names: Iterable[str] = ()) -> frozenset[str]:
    """All names and roles that answers are about, beside some that are known."""
    # asked for every edge of a plan: a loop takes a quarter longer
    about = [key[1] if type(key) is tuple else (key,) for key in read]
    return frozenset(names).union(*about)


class BeliefAnswers(dict[NamedFact, bool | None]):
    """A belief's own answers about a goal, each asked for once: indexes with doubts ask much that
    others have asked.
    """

    def __init__(self, situation: Situation) -> None:
        super().__init__()
        self._situation = situation

    def __missing__(self, fact: NamedFact) -> bool | None:
        value = self[fact] = self._situation.value(*fact)
        return value


class PlacedAnswers(dict[NamedFact, bool | None]):
    """A belief's answers, and what indexes that judge alike conclude about the agent's places."""

    def __init__(self) -> None:
        super().__init__()
        self.find: Callable[[NamedFact], bool | None] | None = None
        """Finds an answer that was not asked for yet: that of the first index that asks."""

    def __missing__(self, fact: NamedFact) -> bool | None:
        assert self.find is not None, "an index asks"
        value = self[fact] = self.find(fact)
        return value


class Answers(NamedTuple):
    """A belief's answers about a goal, filled on demand."""

    belief: Belief
    goal: Goal
    by_belief: BeliefAnswers
    """The belief's own answers, for all indexes over the same rules."""
    with_places: PlacedAnswers
    possible: dict[tuple[object, ...], Passing]
    needs_by_name: dict[tuple[object, ...], NeedByName]
    here: dict[str, list[str]]
    fills: dict[tuple[int, bool, tuple[str, ...]], Fill]
    """Those of the names for parameters of ways (`KnownNames.fills`) that follow now."""


class Groundwork:
    """All that is derived for one index and holds for every other with the same `reach`.

    It keeps the needs alive, since judgements are kept by their identity.
    """

    def __init__(self, asker: Self | None = None) -> None:
        """`asker`: the groundwork that asks the belief for this one too."""
        self._asker = asker
        self.names: KnownNames | None = None
        self.answers: Answers | None = None
        self._needs: dict[Need, Need] = {}
        self._shapes: dict[object, int] = {}
        self.made: dict[object, Achiever] = {}
        """Actions and doubts as ways to their effects."""
        self.made_of: dict[tuple[int, int], Achiever] = {}
        """These ways by the identity of action and effect, which is a faster key; a way keeps its
        action alive."""
        self.levels: dict[int, tuple[Level, ...]] = {}
        """The parameters that a way's fact leaves open, by its shape."""
        self.grounds: dict[tuple[int, Fact, float], Grounded] = {}
        """Ways as edges, by the identity of the way, which is kept alive, the fact and the price
        of a look.
        """

    def need(self, need: Need) -> Need:
        """The one object for all needs that are equal."""
        return self._needs.setdefault(need, need)

    def shape(self, *parts: object) -> int:
        """A number for all ways with the same parts."""
        return self._shapes.setdefault(parts, len(self._shapes))

    def answers_of(self, situation: Situation) -> Answers:
        """The answers of a belief, asked for in one step."""
        belief = situation.belief
        goal = situation.goal
        kept = self.answers
        if kept is not None and kept.belief is belief and kept.goal is goal:
            return kept
        if self._asker is not None:
            by_belief = self._asker.answers_of(situation).by_belief
        else:
            by_belief = BeliefAnswers(situation)
        self.answers = Answers(
            belief,
            goal,
            by_belief,
            with_places=PlacedAnswers(),
            possible={},
            needs_by_name={},
            here={},
            fills={},
        )
        return self.answers

    def forget(self) -> None:
        """Drop what was kept for the next step."""
        self.made_of = {}
        self.grounds = {}
        self.names = None
        self.answers = None
