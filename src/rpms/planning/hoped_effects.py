"""Doubts about what an action does: an effect that did not come may come yet, and it may have one
that the manual does not state.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Literal, Sort
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.planning.doubted_needs import doubted_needs, single_literals
from rpms.planning.doubts import HOPED, ActionInDoubt, Doubt, without
from rpms.planning.facts_at_stake import facts_made, served_facts, wanted_facts
from rpms.planning.possible_facts import atoms_over
from rpms.planning.trust import CONTRADICTED, FULL, STEPS, LinePart, ManualLine, Worked

SECOND = FULL * STEPS
"""Price in steps by which hope for an effect that another action is known to have comes after
other doubts."""


def effects_in_doubt(action: ActionInDoubt) -> Iterator[Doubt]:
    """An action with an effect alone that did not come when it was due."""
    for effect in action.stated.effects:
        price = action.trust.upon(ManualLine.of_effect(action.rules, action.stated, effect))
        if price and effect not in action.left.effects:
            doubt = f"{action.left.name} may not do {effect}"
            steps = action.left.steps + price
            hope = action.left.varied(effects=(effect,), observes=(), steps=steps, doubt=doubt)
            yield Doubt(hope, contradicted=True)


def hopes(
    action: ActionInDoubt, made: frozenset[Sort], in_vain: Counter[Literal]
) -> Iterator[Doubt]:
    """An action that might bring about what something needs, also without one of its needs if
    nothing is known to bring that about; such cost less. `made`: facts that something is known to
    bring about; `in_vain`: how often it worked without bringing a fact about.
    """
    told = {*action.left.effects, *single_literals(action.left.preconditions)}
    needs = doubted_needs(action)
    for effect in _effects_to_hope_for(action.rules, action.stated):
        if effect in told:
            continue
        is_made = effect.signed in made
        price = _price_of_hope(action, effect) + SECOND * is_made
        price -= STEPS * CONTRADICTED * in_vain.get(effect, 0)
        doubt = f"{action.left.name} {HOPED} {effect}"
        hope = action.left.varied(effects=(effect,), observes=(), steps=price, doubt=doubt)
        yield Doubt(hope)
        if is_made:
            continue
        for doubted in needs:
            yield Doubt(without(hope, doubted.price, doubted.need))


def _price_of_hope(action: ActionInDoubt, effect: Literal) -> float:
    """The steps of an action that may have an effect; fewer if it serves nothing else."""
    line = ManualLine(action.key, LinePart.DOES, str(effect))
    price = action.left.steps + action.trust.upon(line, 0.0)
    makes = facts_made([action.left])
    if not action.left.observes and makes.isdisjoint(served_facts(action.rules)):
        price -= STEPS * FULL / 2
    return price


class InVain(NamedTuple):
    """How often an action worked without bringing about each fact over its parameters."""

    worked: Sequence[Worked]
    """The times that are counted."""
    times: Counter[Literal]
    facts: frozenset[tuple[Literal, int]]
    """The same to look doubts up by: it keeps its hash."""

    def counting(self, worked: Sequence[Worked]) -> "InVain":
        """The same for all times that an action worked: those that were counted in an earlier step
        are not counted again.
        """
        if worked == self.worked:
            return self
        counted = len(self.worked)
        if worked[:counted] != self.worked:  # of another episode
            return NEVER.counting(worked)
        times = Counter(self.times)
        for one in worked[counted:]:
            times.update(one.false_after)
        return InVain(worked, times, frozenset(times.items()))


NEVER = InVain((), Counter(), frozenset())
"""For an action that never worked."""


@kept_with_rules
def _hoped_facts(rules: ActiveRules) -> frozenset[Sort]:
    """Facts that an action might bring about without saying so: all that something needs.

    Left out is the end of an exclusive fact, such as being in one place: the next one ends it.
    """
    found: set[Sort] = set()
    for predicate, negated in wanted_facts(rules):
        if not (negated and rules.predicates[predicate].exclusive):
            found.add((predicate, negated))
    return frozenset(found)


@kept_with_rules
def _effects_to_hope_for(rules: ActiveRules, schema: ActionSchema) -> tuple[Literal, ...]:
    """All that an action might bring about of its parameters and that something needs."""
    hoped = _hoped_facts(rules)
    found: list[Literal] = []
    for atom in atoms_over(rules, schema):
        for negated in (False, True):
            effect = Literal(atom, negated)
            if effect.signed in hoped:
                found.append(effect)
    return tuple(found)
