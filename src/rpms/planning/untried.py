"""Actions with the goal's things that were never done: for when no plan trusts the manual."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from rpms.logic.achievers import command_of
from rpms.logic.actions import ActionSchema, Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.reason import reasoner_of
from rpms.planning.search import Option
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
    judge = _Objections(rules, situation, trust)
    found: list[_Untried] = []
    for instance in reasoner_of(rules).actions_with(situation, things):
        most = found[-1].against - 1 if len(found) == _TRIED else inf
        lacking = judge.known_against(instance, most)
        if lacking is None:
            continue
        written = spell(command_of(instance.schema, instance.binding))
        if written in done or trust.bars(written, rules, situation):
            continue
        found.append(_Untried(len(lacking), written, lacking))
        found = sorted(found, key=lambda one: one.against)[:_TRIED]
    return tuple(_option(one, rules, situation) for one in found)


class _Untried(NamedTuple):
    """An action that was never tried, and the needs that are known not to hold."""

    against: int
    command: str
    lacking: tuple[Clause, ...]


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


@dataclass
class _Objections:
    """Finds what is known against actions in one situation.

    Many actions ask for the same facts: each is judged once.
    """

    rules: ActiveRules
    situation: Situation
    trust: Trust
    _needs: dict[str, Sequence[_WeighedNeed]] = field(init=False, default_factory=dict)
    _false: dict[tuple[object, ...], bool] = field(init=False, default_factory=dict)

    def known_against(self, instance: Instance, most: float) -> tuple[Clause, ...] | None:
        """The needs of an action that are known not to hold; None if these are more than `most`,
        or if a refusal confirmed one of them.
        """
        lacking: list[Clause] = []
        for need in self._needs_of(instance.schema):
            if not self._is_false(need, instance.binding):
                continue
            lacking.append(need.clause)
            if need.confirmed or len(lacking) > most:
                return None
        return tuple(clause.bind(instance.binding) for clause in lacking)

    def _needs_of(self, schema: ActionSchema) -> Sequence[_WeighedNeed]:
        if schema.name not in self._needs:
            self._needs[schema.name] = tuple(self._weigh(schema))
        return self._needs[schema.name]

    def _weigh(self, schema: ActionSchema) -> Iterator[_WeighedNeed]:
        for clause in self.rules.needs_of(schema):
            named: set[str] = set()
            for literal in clause.literals:
                named.update(literal.atom.args)
            parameters = tuple(name for name in schema.variables if name in named)
            line = ManualLine.of_need(self.rules, schema, clause)
            confirmed = self.trust.evidence.get(line, 0.0) > 0
            yield _WeighedNeed(clause, parameters, confirmed)

    def _is_false(self, need: _WeighedNeed, binding: Mapping[str, str]) -> bool:
        """True if a need is known not to hold with some names."""
        key = (id(need.clause), *[binding[name] for name in need.parameters])
        if key not in self._false:
            self._false[key] = need.clause.truth(self.situation, binding) is Truth.FALSE
        return self._false[key]
