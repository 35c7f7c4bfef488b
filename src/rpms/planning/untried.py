"""Actions with the goal's things that were never done: for when no plan trusts the manual."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth
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
    situation, goal = context.situation, context.situation.goal
    things = {*situation.belief.called(goal.object), *situation.belief.called(goal.destination)}
    done = {turn.action for turn in context.history}
    names = reasoner_of(rules).names(situation)
    found: list[_Untried] = []
    for schema in rules.environment:
        choosing = _Choosing(rules, situation, trust, schema)
        every = [names_for(name, names) for name in schema.variables]
        for binding, lacking in choosing.choices(every, things, found):
            written = spell(command_of(schema, binding))
            if written in done or trust.refusals.bars(written, rules, situation):
                continue
            against = tuple(clause.bind(binding) for clause in lacking)
            found.append(_Untried(len(against), written, against))
            found.sort(key=_against)
            del found[_TRIED:]
    return tuple(_option(one, rules, situation) for one in found)


class _Untried(NamedTuple):
    """An action that was never tried, and the needs that are known not to hold."""

    against: int
    command: str
    lacking: tuple[Clause, ...]


def _against(one: _Untried) -> int:
    return one.against


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


class _Choosing:
    """Finds the choices of names for an action of which little is known against.

    A need is judged as soon as its things are named, and once for all choices with these.
    """

    def __init__(
        self, rules: ActiveRules, situation: Situation, trust: Trust, schema: ActionSchema
    ) -> None:
        self._situation = situation
        self._variables = schema.variables
        self._false: dict[tuple[object, ...], bool] = {}
        self._needs: list[list[_WeighedNeed]] = [[] for _ in (*schema.variables, "none")]
        """The needs that can be judged once so many variables have names."""
        for clause in rules.needs_of(schema):
            line = ManualLine.of_need(rules, schema, clause)
            need = _WeighedNeed(
                clause, _named_in(clause, schema), trust.evidence.get(line, 0.0) > 0
            )
            places = [schema.variables.index(name) + 1 for name in need.parameters]
            self._needs[max(places, default=0)].append(need)

    def choices(
        self, names: Sequence[Sequence[str]], things: Container[str], found: Sequence[_Untried]
    ) -> Iterator[tuple[dict[str, str], Sequence[Clause]]]:
        """The choices with one of some things among them, in the order of the names, each with
        the needs that are known not to hold: fewer than of the worst that was found so far, once
        there are enough.
        """
        return self._complete(names, things, found, {}, [])

    def _complete(
        self,
        names: Sequence[Sequence[str]],
        things: Container[str] | None,
        found: Sequence[_Untried],
        binding: dict[str, str],
        lacking: Sequence[Clause],
    ) -> Iterator[tuple[dict[str, str], Sequence[Clause]]]:
        """Name the variables that are left; `things` is None once one of them is named."""
        false = self._false_once_named(binding)
        if any(need.confirmed for need in false):
            return
        lacking = [*lacking, *[need.clause for need in false]]
        if len(found) == _TRIED and len(lacking) >= found[-1].against:
            return
        if len(binding) < len(self._variables):
            for bound, left in self._with_next(names, things, binding):
                yield from self._complete(names, left, found, bound, lacking)
        elif things is None:
            yield binding, lacking

    def _false_once_named(self, binding: Mapping[str, str]) -> list[_WeighedNeed]:
        """The needs known not to hold of those that can be judged with the last variable named."""
        return [need for need in self._needs[len(binding)] if self._is_false(need, binding)]

    def _with_next(
        self, names: Sequence[Sequence[str]], things: Container[str] | None, binding: dict[str, str]
    ) -> Iterator[tuple[dict[str, str], Container[str] | None]]:
        """The choices with one more variable named, each with the things of which one is still to
        be among them; the last variable takes only such a thing, if none is yet.
        """
        place = len(binding)
        is_last = place + 1 == len(self._variables)
        for name in names[place]:
            is_thing = things is None or name in things
            if is_thing or not is_last:
                yield {**binding, self._variables[place]: name}, None if is_thing else things

    def _is_false(self, need: _WeighedNeed, binding: Mapping[str, str]) -> bool:
        """True if a need is known not to hold with some names."""
        key = (id(need.clause), *[binding[name] for name in need.parameters])
        if key not in self._false:
            self._false[key] = need.clause.truth(self._situation, binding) is Truth.FALSE
        return self._false[key]


def _named_in(clause: Clause, schema: ActionSchema) -> tuple[str, ...]:
    """The variables of an action that a need is about."""
    named: set[str] = set()
    for literal in clause.literals:
        named.update(literal.atom.args)
    return tuple(name for name in schema.variables if name in named)
