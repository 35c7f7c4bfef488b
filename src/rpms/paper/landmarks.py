"""The landmarks on the way to a fact: what the manual's actions need before it, of the things
that are known.

They follow from the manual and the known names alone, and are kept for the next step, where the
names are mostly the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.facts import Atom, Clause, Literal, Sort, kind_of
from rpms.logic.rules import ActiveRules, kept_with_rules


class UsualWay(NamedTuple):
    """The way to a sort of fact that the manual names first."""

    action: str
    args: tuple[str, ...]
    """The action's parameters in the fact that it brings about."""
    before: tuple[Clause, ...]
    """The action's needs that other actions can see to before it."""


@kept_with_rules
def usual_way(rules: ActiveRules, sort: Sort) -> UsualWay | None:
    """The usual way to a sort of fact; None if no action brings it about."""
    giving = rules.giving.get(sort)
    if not giving:
        return None
    effect = giving[0].effect
    schema = giving[0].schema
    before: list[Clause] = []
    for clause in rules.needs_to_plan(schema):
        if clause.literals and _can_come_before(rules, clause.literals[0], schema, effect):
            before.append(clause)
    return UsualWay(schema.name, effect.atom.args, tuple(before))


def _can_come_before(
    rules: ActiveRules, needed: Literal, schema: ActionSchema, effect: Literal
) -> bool:
    """True if some action can see to a need of `schema` before the effect is there. An action that
    itself needs the effect cannot: to put a mug down, one must have taken it.
    """
    if _goes_together(rules, needed) or _is_circular(rules, schema, effect):
        return True
    for given in rules.giving.get(needed.signed, ()):
        other = given.schema
        # the other action's variables, told apart from those of `schema` by an apostrophe
        binding = {name: f"{name}'" for name in other.variables}
        binding |= dict(zip(given.effect.atom.args, needed.atom.args, strict=True))
        if not other.requires(effect, binding):
            return True
    return False


def _goes_together(rules: ActiveRules, fact: Literal) -> bool:
    """True for a fact that can come to hold together with another of its predicate: whoever is at
    one drawer is at all drawers beside it.
    """
    return fact.atom.predicate in rules.companions and not fact.negated


def _is_circular(rules: ActiveRules, schema: ActionSchema, effect: Literal) -> bool:
    """True if an action needs the very fact that it brings about: one goes to a room that is
    near, and then it is near.
    """
    return Clause((effect,)) in rules.needs_to_plan(schema)


class _Way(NamedTuple):
    args: tuple[str, ...]
    """The parameters and names in the fact that it brings about."""
    parameters: frozenset[str]


@kept_with_rules
def _ways_to(rules: ActiveRules, sort: Sort) -> Sequence[_Way]:
    """The actions that bring about a sort of fact without needing it."""
    ways: list[_Way] = []
    for given in rules.giving.get(sort, ()):
        if not _is_circular(rules, given.schema, given.effect):
            ways.append(_Way(given.effect.atom.args, frozenset(given.schema.variables)))
    return ways


class Milestone(NamedTuple):
    """A landmark of the goal: a fact about one thing that comes true on the way to it, such as
    found, in hand, heated.
    """

    fact: Literal
    name: str
    thing: str
    found: bool = False


class _Need(NamedTuple):
    """A need of the usual way to a fact: its clause, and the first fact of it with names."""

    clause: Clause
    fact: Literal


class NeedsBefore(NamedTuple):
    """The needs that have to hold before a fact can, by the usual way to it."""

    binding: Mapping[str, str]
    """Names of that way's parameters."""
    needs: Sequence[_Need]
    """Those about the goal's things."""


_NOTHING_BEFORE = NeedsBefore({}, ())


class Landmarks:
    """The facts that actions can bring about with some names, and what comes before each."""

    def __init__(self, rules: ActiveRules, known: Mapping[str, Sequence[str]]) -> None:
        """`known`: the names of things, by the parameters that they can fill."""
        self.known = known
        self._rules = rules
        self._names = {**rules.lasting_names, **known}
        self._every_name = frozenset(chain.from_iterable(self._names.values()))
        self._makeable: dict[Literal, bool] = {}
        self._needs: dict[object, NeedsBefore] = {}
        """By fact and things: the needs before it."""
        self._on_the_way: dict[object, tuple[Milestone, ...]] = {}
        """By fact, things, and the facts that it is on the way to: the milestones."""

    def can_make(self, fact: Literal) -> bool:
        """True if some action gives such a fact, with these names in their roles."""
        if fact not in self._makeable:
            ways = _ways_to(self._rules, fact.signed)
            made = any(self._gives(way, fact.atom.args) for way in ways)
            self._makeable[fact] = made or _goes_together(self._rules, fact)
        return self._makeable[fact]

    def _gives(self, way: _Way, names: Sequence[str]) -> bool:
        """True if a way gives a fact about some names, by their roles or kinds."""
        for parameter, name in zip(way.args, names, strict=True):
            is_role = parameter in way.parameters
            suits = self._suits(parameter, name) if is_role else kind_of(name) == parameter
            if not suits:
                return False
        return True

    def _suits(self, parameter: str, name: str) -> bool:
        """True if a name can fill a parameter. One that is known only in another role cannot, nor
        can an unknown one if the manual lists all names.
        """
        if name in self._every_name:
            return name in names_for(parameter, self._names)
        return parameter not in self._rules.lasting_names

    def needs_before(self, fact: Literal, things: tuple[str, ...]) -> NeedsBefore:
        """The needs of the usual way to a fact that are about the things, and that an action can
        meet.
        """
        key = (fact, things)
        if key not in self._needs:
            self._needs[key] = self._find_needs_before(fact, things)
        return self._needs[key]

    def _find_needs_before(self, fact: Literal, things: tuple[str, ...]) -> NeedsBefore:
        usual = self._usual_way_about(fact, things)
        if usual is None:
            return _NOTHING_BEFORE
        binding = dict(zip(usual.args, fact.atom.args, strict=True))
        needs: list[_Need] = []
        for clause in usual.before:
            needed = clause.literals[0].bind(binding)
            if self._is_about(needed, things) and self.can_make(needed):
                needs.append(_Need(clause, needed))
        return NeedsBefore(binding, needs)

    def _usual_way_about(self, fact: Literal, things: tuple[str, ...]) -> UsualWay | None:
        """The usual way to a fact about some things."""
        return usual_way(self._rules, fact.signed) if self._is_about(fact, things) else None

    def _is_about(self, fact: Literal, things: tuple[str, ...]) -> bool:
        """True if a fact is about some things, and not about where the agent is."""
        if fact.atom.predicate in self._rules.positional:
            return False
        return not set(things).isdisjoint(fact.atom.args)

    def milestones(
        self, fact: Literal, things: tuple[str, ...], later: frozenset[Literal] = frozenset()
    ) -> tuple[Milestone, ...]:
        """The milestones of one thing up to a fact, in their order: found, then in hand, then
        heated. `later`: the facts that this one is on the way to.
        """
        key = (fact, things, later)
        if key not in self._on_the_way:
            self._on_the_way[key] = tuple(self._find_milestones(fact, things, later))
        return self._on_the_way[key]

    def _find_milestones(
        self, fact: Literal, things: tuple[str, ...], later: frozenset[Literal]
    ) -> Iterator[Milestone]:
        """The milestones of the needs come first, then the fact's own; a thing that nothing comes
        before has to be found first.
        """
        usual = self._usual_way_about(fact, things)
        if usual is None or fact in later:
            return
        thing = next(arg for arg in fact.atom.args if arg in things)
        before = self.needs_before(fact, things)
        role = _role_of(thing, before.binding)
        earlier: list[Milestone] = []
        for need in before.needs:
            for milestone in self.milestones(need.fact, things, later | {fact}):
                if milestone.thing == thing:
                    earlier.append(milestone)
        if not earlier:
            found = Literal(Atom("found", (thing,)))
            earlier.append(Milestone(found, f"find_{role}", thing, found=True))
        yield from earlier
        yield Milestone(fact, f"{usual.action}_{role}", thing)


def _role_of(thing: str, binding: Mapping[str, str]) -> str:
    """The variable that is bound to a thing."""
    for name, bound in binding.items():
        if bound == thing:
            return name
    return "object"


def landmarks_of(rules: ActiveRules, known: Mapping[str, Sequence[str]]) -> Landmarks:
    """The landmarks by some names: those of the step before, where it knew the same names."""
    kept: Landmarks | None = rules.kept.get(Landmarks)
    if kept is None or kept.known != known:
        kept = Landmarks(rules, known)
        rules.kept[Landmarks] = kept
    return kept
