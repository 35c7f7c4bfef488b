"""Goals that a request may mean: those of the manual, narrowed by its rules and what is here."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Truth, kind_of, unseen_of
from rpms.logic.rules import ANYTHING, ActiveRules, Purpose, RuleManual
from rpms.planning.achievers import Achievers
from rpms.planning.wanted_facts import Achiever, Fact, fact_of

FIELDS = ("object", "destination")
"""Fields of a goal that a request names; the rest follows from its type."""
_DEPTH = 2
"""Actions before an action that are looked at: what is to be put somewhere must be taken."""


@dataclass(frozen=True)
class RequestForm:
    """A goal of the manual with its slots."""

    type: str
    purpose: Purpose

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that a request has to name, in the order in which they are asked for."""
        named = set(self.purpose.over.values())
        return tuple(each for each in FIELDS if each in named)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Facts that must hold in the end, over the purpose's variables."""
        facts: list[Fact] = []
        for step in self.purpose.steps:
            for clause in step.until:
                if clause.literals:
                    facts.append(fact_of(clause.literals[0]))
        return tuple(facts)

    def words(self, rules: ActiveRules) -> str:
        """The goal in words: `look(object, destination): you hold object, destination has been
        turned on`.
        """
        wanted: dict[str, None] = {}
        for fact in self.facts:
            bound = fact.bound(self.purpose.over)
            wanted[rules.say(bound.atom, Truth.of(not bound.negated))] = None
        counts = Counter(self.purpose.over.values())
        slots: list[str] = []
        for name in self.fields:
            count = counts[name]
            slots.append(f"{name} ({count} of them)" if count > 1 else name)
        return f"{self.type}({', '.join(slots)}): {', '.join(wanted)}"


def forms_of(manual: RuleManual) -> tuple[RequestForm, ...]:
    """Goals of a manual that a request can name: those over an object and a destination alone."""
    found: dict[str, RequestForm] = {}
    for purpose in manual.purposes:
        sources = {*purpose.over.values(), *purpose.each.values()}
        if "object" in sources and sources.issubset(FIELDS):
            for type_ in sorted(purpose.goals):
                found.setdefault(type_, RequestForm(type_, purpose))
    return tuple(found.values())


def unsearched(achievers: Achievers, belief: Belief, kind: str) -> float:
    """Share of the places and containers in which a thing of this kind may still be."""
    all_places = 0
    not_searched = 0
    for look in chain.from_iterable(achievers.revealers.values()):
        for fact in _facts_to_find(achievers, look, belief, kind):
            all_places += 1
            if belief.truth(fact) is Truth.UNKNOWN:
                not_searched += 1
    return not_searched / all_places if all_places else 1.0


def _facts_to_find(
    achievers: Achievers, look: Achiever, belief: Belief, kind: str
) -> Iterator[Atom]:
    """For each place that an action looks into: the fact that a thing of the kind is there."""
    role = _role_of_places(achievers, look)
    if not role:
        return
    thing = unseen_of(kind)
    for place in belief.names.get(role, ()):
        args = [thing if arg == ANYTHING else place for arg in look.fact.args]
        yield Atom(look.fact.predicate, tuple(args))


def _role_of_places(achievers: Achievers, look: Achiever) -> str:
    """The parameter that stands for the places in which an action shows what objects there are;
    empty if it shows no such thing.
    """
    declared = achievers.rules.predicates.get(look.fact.predicate)
    if declared is None or "object" not in declared.args:
        return ""
    roles = [name for name in look.fact.args if name != ANYTHING]
    if len(look.fact.args) != 2 or len(roles) != 1:
        return ""
    return roles[0]


class Objected(NamedTuple):
    """A reason against a goal or a fact."""

    reason: str = ""
    """The reason in words; empty if none is certain."""
    untried: bool = False
    """True if a lasting fact that it needs is unknown: nobody has tried such a thing."""


_FINE = Objected()


def _how_blocked(objected: Objected) -> tuple[bool, bool]:
    """A key for order: what is certain counts more against a way than what nobody has tried."""
    return bool(objected.reason), objected.untried


@dataclass(frozen=True)
class Narrowing:
    """Objections to readings, from the manual's rules about kinds and from the belief; either
    may be left out.
    """

    manual: RuleManual
    """Names its facts; its rules count only where `rules` is on."""
    belief: Belief
    rules: bool = True
    here: bool = True
    """True if the belief counts: which places and things are here."""
    _objections: dict[Fact, Objected] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _gone: dict[tuple[frozenset[str], str], str] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    @cached_property
    def _achievers(self) -> Achievers:
        return Achievers(self.manual.active(""))

    @cached_property
    def kinds_named(self) -> tuple[str, ...]:
        """Kinds that the manual names."""
        named: dict[str, None] = {}
        for rule in self.manual.rules:
            if rule.locality is not None:
                named |= dict.fromkeys((*rule.locality.objects, *rule.locality.places))
        for kinds in self.manual.lore.kinds.values():
            for row in sorted(kinds.yes):
                named |= dict.fromkeys(row)
        return tuple(named)

    def roles(self, form: RequestForm, field_: str) -> frozenset[str]:
        """Parameters that a field of a goal may stand for: `place` for a destination that
        something is put in.
        """
        found: set[str] = set()
        for fact in form.facts:
            declared = self.manual.predicates.get(fact.predicate)
            if declared is None:
                continue
            for arg, role in zip(fact.args, declared.args, strict=False):
                if form.purpose.over.get(arg) == field_:
                    found.add(role)
        return frozenset(found)

    def judge(self, form: RequestForm, named: Mapping[str, str]) -> Objected:
        """Judges a goal with some of its slots filled."""
        reason = self._not_here(form, named) if self.here else ""
        if reason:
            return Objected(reason)
        if not self.rules or not self.manual.actions:
            return _FINE
        return self._unreachable(form, named)

    def _not_here(self, form: RequestForm, named: Mapping[str, str]) -> str:
        """The first reason that a kind in a slot cannot be anything that is here."""
        for field_, kind in named.items():
            reason = self._misplaced(self.roles(form, field_), kind)
            if reason:
                return reason
        return ""

    def _unreachable(self, form: RequestForm, named: Mapping[str, str]) -> Objected:
        """The objections to those of the goal's facts whose slots are filled."""
        binding: dict[str, str] = {}
        for name, source in form.purpose.over.items():
            if source in named:
                binding[name] = unseen_of(named[source])
        reason = ""
        untried = False
        for fact in form.facts:
            if binding.keys() >= set(fact.args):
                found = self._blocked(fact.bound(binding), _DEPTH)
                reason = reason or found.reason
                untried = untried or found.untried
        return Objected(reason, untried)

    def _misplaced(self, roles: frozenset[str], kind: str) -> str:
        """The reason that nothing here of a kind can be what a field means; nothing where
        something may.
        """
        key = (roles, kind)
        if key not in self._gone:
            self._gone[key] = self._find_misplaced(roles, kind)
        return self._gone[key]

    def _find_misplaced(self, roles: frozenset[str], kind: str) -> str:
        seen_as = self._roles_seen(kind)
        if seen_as:
            other = sorted(roles - seen_as)
            return f"a {kind} is no {other[0]}" if other else ""
        for name in self._tell_presence(roles):
            if self.belief.truth(Atom(name, (unseen_of(kind),))) is Truth.FALSE:
                return f"there is no {kind} here"
        return ""

    def kinds_here(self, roles: Iterable[str]) -> dict[str, None]:
        """Kinds that the belief has names of in some roles, in the order of the roles."""
        kinds: dict[str, None] = {}
        for role in sorted(roles):
            kinds |= dict.fromkeys(map(kind_of, self.belief.names.get(role, ())))
        return kinds

    def _roles_seen(self, kind: str) -> set[str]:
        """Roles in which the belief has names of a kind."""
        seen: set[str] = set()
        for role, names in self.belief.names.items():
            if kind in map(kind_of, names):
                seen.add(role)
        return seen

    def _tell_presence(self, roles: frozenset[str]) -> Iterator[str]:
        """Predicates that only say whether one thing in a role is here: they are about nothing
        else, not about its kind, and no action changes them.
        """
        for name, predicate in self.manual.predicates.items():
            of_one_thing = len(predicate.args) == 1 and predicate.args[0] in roles
            if of_one_thing and not predicate.lasting and not self._achievers.makers(name):
                yield name

    def truth(self, fact: Fact) -> Truth:
        """The truth of a fact about kinds or things, by the manual's tables or the belief."""
        kinds = self.manual.lore.kinds.get(fact.predicate)
        value = kinds.truth(fact.args) if kinds is not None else self.belief.truth(fact.atom)
        return ~value if fact.negated else value

    def is_lasting(self, predicate: str) -> bool:
        """True if no action changes a fact."""
        if predicate in self.manual.lore.kinds:
            return True
        declared = self.manual.predicates.get(predicate)
        return declared is not None and declared.lasting

    def _blocked(self, fact: Fact, depth: int) -> Objected:
        """The lasting fact that keeps every way to a fact from working; fine where some way may
        work.
        """
        if fact not in self._objections:
            self._objections[fact] = self._find_blocked(fact, depth)
        return self._objections[fact]

    def _find_blocked(self, fact: Fact, depth: int) -> Objected:
        if self.is_lasting(fact.predicate):
            return self._objected([fact], fact)
        makers = self._achievers.makers(fact.predicate, fact.negated)
        blocked = [self._way_blocked(way, fact, depth) for way in makers]
        return min(blocked, key=_how_blocked, default=_FINE)

    def _way_blocked(self, way: Achiever, fact: Fact, depth: int) -> Objected:
        """The objection to one way: to the first need that cannot be met."""
        binding = dict(zip(way.fact.args, fact.args, strict=True))
        untried = False
        for need in way.needs:
            if len(need.literals) != 1:
                continue  # a choice: some other literal of it may hold
            found = self._need_blocked(need.literals[0], binding, fact, depth)
            if found.reason:
                return found
            untried = untried or found.untried
        return Objected("", untried)

    def _need_blocked(
        self, need: Fact, binding: Mapping[str, str], fact: Fact, depth: int
    ) -> Objected:
        """The objection to one need of a way to a fact. Being somewhere is never in the way."""
        if need.predicate in self._achievers.positional:
            return _FINE
        if self.is_lasting(need.predicate):
            return self._objected(self._bound(need, binding), fact)
        if depth and binding.keys() >= set(need.args):
            return self._blocked(need.bound(binding), depth - 1)
        return _FINE

    def _objected(self, facts: Sequence[Fact], fact: Fact) -> Objected:
        """The objection to a choice among facts that never change: none if one may hold."""
        values = set(map(self.truth, facts))
        if not values or Truth.TRUE in values:
            return _FINE
        if Truth.UNKNOWN in values:
            return Objected("", True)
        if len(facts) > 1:
            return Objected(f"nothing here gives {fact.atom}")
        [lacking] = facts
        said = self._achievers.rules.say(lacking.atom, Truth.of(lacking.negated))
        return Objected(said.replace(" ?", ""))

    def _bound(self, literal: Fact, binding: Mapping[str, str]) -> list[Fact]:
        """A need with each name that its one free parameter may have; nothing where several
        are free.
        """
        free = [arg for arg in literal.args if arg not in binding and arg in self._parameters]
        match free:
            case []:
                return [literal.bound(binding)]
            case [parameter]:
                bound: list[Fact] = []
                for name in self._names_for(parameter):
                    bound.append(literal.bound({**binding, parameter: name}))
                return bound
            case _:
                return []

    def _names_for(self, parameter: str) -> Sequence[str]:
        """Names that a parameter may have: names known here, else a made-up one for each kind that
        the manual names.
        """
        here = self.belief.names.get(parameter, ()) if self.here else ()
        return here or list(map(unseen_of, self.kinds_named))

    @cached_property
    def _parameters(self) -> frozenset[str]:
        names: set[str] = set()
        for action in self.manual.actions:
            names.update(action.variables)
        return frozenset(names)
