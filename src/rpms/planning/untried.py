"""Actions with the goal's things that were never done: for when no plan trusts the manual."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from operator import attrgetter
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.achievers import command_of
from rpms.planning.edges import Option
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.reason import reasoner_of
from rpms.planning.trust import ManualLine, Trust

Spelling = Callable[[str], str]
"""A command as a game wants it written."""
_TRIED = 3
"""Untried actions that are offered."""


def untried(
    context: AdaptContext, rules: ActiveRules, spell: Spelling, trust: Trust
) -> tuple[Option, ...]:
    """A few actions with the goal's things that were never done, those first of which least is
    known against; a need that a refusal confirmed is gone against no more.
    """
    search = _Search(context, rules, spell, trust)
    for schema in rules.environment:
        search.add(schema)
    return tuple(_option(one, rules, context.situation) for one in search.best.actions)


class _Untried(NamedTuple):
    """An action that was never tried, and the needs that are known not to hold."""

    command: str
    lacking: tuple[Clause, ...]

    @property
    def against(self) -> int:
        return len(self.lacking)


class _Best:
    """The few untried actions against which least is known; of equals, those found first."""

    def __init__(self) -> None:
        self.actions: list[_Untried] = []

    @property
    def bound(self) -> float:
        """An action that lacks so many needs is not among the best."""
        if len(self.actions) < _TRIED:
            return inf
        return self.actions[-1].against

    def add(self, one: _Untried) -> None:
        self.actions.append(one)
        self.actions.sort(key=attrgetter("against"))
        del self.actions[_TRIED:]


def _option(one: _Untried, rules: ActiveRules, situation: Situation) -> Option:
    """An untried action as something to do, with what is known against it in words."""
    facts = [clause.literals[0].atom for clause in one.lacking if clause.literals]
    said = ", ".join(rules.say(atom, situation.truth(atom)) for atom in facts)
    evidence = f"never tried; against it: {said}" if said else "never tried"
    return Option(one.command, float(one.against), evidence=evidence)


class _WeighedNeed(NamedTuple):
    """A need of an action, prepared to be judged with many names."""

    clause: Clause
    parameters: tuple[str, ...]
    """Those of the action's parameters that it is about."""
    confirmed: bool
    """True if a refusal in this episode confirmed it: without it, the action is known to fail."""
    literal: Literal | None
    """The fact that it is, if it is a single one of the belief's."""


class _Needs:
    """The needs of an action. One is judged as soon as its things are named, and once for all
    choices with these.
    """

    def __init__(self, search: "_Search", schema: ActionSchema) -> None:
        self._situation = search.situation
        self._values = search.values
        self._false: dict[tuple[object, ...], bool] = {}
        self._by_place: list[list[_WeighedNeed]] = [[] for _ in (*schema.variables, "none")]
        """The needs that can be judged once so many variables have names."""
        for clause in search.rules.needs_of(schema):
            line = ManualLine.of_need(search.rules, schema, clause)
            confirmed = search.trust.evidence.get(line, 0.0) > 0
            named = _named_in(clause, schema)
            need = _WeighedNeed(clause, named, confirmed, _asked(clause, schema))
            places = [schema.variables.index(name) + 1 for name in need.parameters]
            self._by_place[max(places, default=0)].append(need)

    def false_with(self, binding: Mapping[str, str]) -> list[_WeighedNeed]:
        """The needs known not to hold of those that can be judged with the last variable named."""
        values = self._values
        found: list[_WeighedNeed] = []
        for need in self._by_place[len(binding)]:
            literal = need.literal
            if literal is None:
                is_false = self._is_false(need, binding)
            else:
                args = literal.atom.args
                named = tuple(map(binding.get, args, args))
                is_false = values[literal.atom.predicate, named] is literal.negated
            if is_false:
                found.append(need)
        return found

    def _is_false(self, need: _WeighedNeed, binding: Mapping[str, str]) -> bool:
        """True if a need of several facts is known not to hold with some names."""
        key = (id(need.clause), *[binding[name] for name in need.parameters])
        if key not in self._false:
            self._false[key] = need.clause.truth(self._situation, binding) is Truth.FALSE
        return self._false[key]


def _asked(clause: Clause, schema: ActionSchema) -> Literal | None:
    """The one fact that a belief is asked for a need; None if it is not one, or if it is about
    something that the command leaves out.
    """
    if len(clause.literals) != 1:
        return None
    literal = clause.literals[0]
    args = literal.atom.args
    if literal.kinds is not None or any(
        args[place] not in schema.variables for place in literal.parameters
    ):
        return None
    return literal


class _Action(NamedTuple):
    """An action whose variables are named one after the other."""

    schema: ActionSchema
    names: Sequence[Sequence[str]]
    """The names that each variable may have."""
    last_of_things: int
    """The last variable that may have one of the goal's things as its name."""
    needs: _Needs


class _Search:
    """A branch-and-bound search for the best untried actions with one of the goal's things."""

    def __init__(
        self, context: AdaptContext, rules: ActiveRules, spell: Spelling, trust: Trust
    ) -> None:
        self.best = _Best()
        situation = context.situation
        belief = situation.belief
        goal = situation.goal
        self.situation = situation
        self.rules = rules
        self.trust = trust
        self._spell = spell
        self._things = {*belief.called(goal.object), *belief.called(goal.destination)}
        self._done = {turn.action for turn in context.history}
        reasoner = reasoner_of(rules)
        self._names = reasoner.names(situation)
        self.values = reasoner.achievers.groundwork.answers_of(situation).by_belief
        """What the belief says of facts: planning asked for many before."""

    def add(self, schema: ActionSchema) -> None:
        """Search the choices of names for one more action."""
        names = [names_for(variable, self._names) for variable in schema.variables]
        of_things = [place for place, some in enumerate(names) if not self._things.isdisjoint(some)]
        action = _Action(schema, names, max(of_things, default=-1), _Needs(self, schema))
        self._complete(action, {}, (), has_thing=False)

    def _complete(
        self,
        action: _Action,
        binding: Mapping[str, str],
        lacking: tuple[Clause, ...],
        *,
        has_thing: bool,
    ) -> None:
        """Name the variables that are left, unless what has names is bad enough.

        `lacking`: needs of the earlier names that do not hold; `has_thing`: True if one of the
        goal's things is among the names.
        """
        false = action.needs.false_with(binding)
        for need in false:
            if need.confirmed:
                return
            lacking = (*lacking, need.clause)
        if len(lacking) >= self.best.bound:
            return
        variables = action.schema.variables
        place = len(binding)
        if place == len(variables):
            if has_thing:
                self._offer(action.schema, binding, lacking)
            return
        for name in action.names[place]:
            has_one = has_thing or name in self._things
            if not has_one and place >= action.last_of_things:
                continue
            bound = {**binding, variables[place]: name}
            self._complete(action, bound, lacking, has_thing=has_one)

    def _offer(
        self, schema: ActionSchema, binding: Mapping[str, str], lacking: Sequence[Clause]
    ) -> None:
        """Count an action among the best, unless it was done or may not be done."""
        command = self._spell(command_of(schema, binding))
        if command in self._done or self.trust.refusals.bars(command, self.rules, self.situation):
            return
        against = tuple(clause.bind(binding) for clause in lacking)
        self.best.add(_Untried(command, against))


def _named_in(clause: Clause, schema: ActionSchema) -> tuple[str, ...]:
    """The variables of an action that a need is about."""
    named: set[str] = set()
    for literal in clause.literals:
        named.update(literal.atom.args)
    return tuple(name for name in schema.variables if name in named)
