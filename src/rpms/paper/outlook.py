"""What holds in one situation, and what the manual's actions may still bring about or show."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, Sort, is_unseen, kind_of
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


class Outlook:
    """The facts of one situation, judged by the manual."""

    def __init__(self, rules: ActiveRules, situation: Situation) -> None:
        self.rules = rules
        self.situation = situation
        self._values: dict[Atom, bool | None] = {}
        self._makeable: dict[Literal, bool] = {}

    def holds(self, clause: Clause, binding: Mapping[str, str]) -> bool:
        """True if one of some facts is known to hold."""
        for literal in clause.literals:
            value = self._value(literal.atom.bind(binding))
            if value is not None and value is not literal.negated:
                return True
        return False

    def still_possible(self, clause: Clause, binding: Mapping[str, str]) -> list[Literal]:
        """The facts of a clause, none of which holds, that an action may still give or show."""
        facts = [literal.bind(binding) for literal in clause.literals]
        return [fact for fact in facts if self.can_make(fact) or self._may_be_shown(fact)]

    def is_lacking(self, clause: Clause, binding: Mapping[str, str]) -> bool:
        """True if an action has to see to a need first: it does not hold, and is not taken for
        granted.
        """
        if self.holds(clause, binding):
            return False
        facts = [literal.bind(binding) for literal in clause.literals]
        if any(self._is_granted(fact) for fact in facts):
            return False
        return bool(self.still_possible(clause, binding))

    def _is_granted(self, fact: Literal) -> bool:
        """True if a need that nobody knows is taken for granted: there is no way to see to it, or
        it is about a thing that was seen, which is probably as it should be.
        """
        if self._value(fact.atom) is not None:
            return False
        if not self.can_make(fact):
            return not self._may_be_shown(fact)
        if fact.atom.predicate in self.rules.positional:
            return False
        return fact.negated or not is_unseen(fact.atom.args)

    def _may_be_shown(self, fact: Literal) -> bool:
        """True if nobody knows a fact, and some action would tell."""
        return self._value(fact.atom) is None and fact.atom.predicate in self.rules.shown

    def can_make(self, fact: Literal) -> bool:
        """True if some action gives such a fact, with these names in their roles."""
        if fact not in self._makeable:
            ways = _ways_to(self.rules, fact.signed)
            made = any(self._gives(way, fact.atom.args) for way in ways)
            self._makeable[fact] = made or _goes_together(self.rules, fact)
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
        return parameter not in self.rules.lasting_names

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        """The names of things, by the parameters that they can fill."""
        return {**self.rules.lasting_names, **self.situation.belief.names}

    @cached_property
    def _every_name(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(self._names.values()))

    def _value(self, atom: Atom) -> bool | None:
        """The truth of a fact; None if nobody knows."""
        try:
            return self._values[atom]
        except KeyError:
            value = self._values[atom] = self._find_value(atom)
        return value

    def _find_value(self, atom: Atom) -> bool | None:
        lore = self.rules.lore
        if atom.predicate in lore.facts:
            return lore.holds(*atom)
        if atom.predicate in lore.kinds:
            return lore.kinds[atom.predicate].truth(atom.args).known
        value = self.situation.value(*atom)
        return True if value is None and self._is_beside_agent(atom) else value

    def _is_beside_agent(self, atom: Atom) -> bool:
        """True if a fact about a place holds because the agent is at another that goes together
        with it.
        """
        companion = self.rules.companions.get(atom.predicate)
        place = self.situation.belief.location
        if companion is None or place is None:
            return False
        return self.situation.value(companion, (place, *atom.args)) is True
