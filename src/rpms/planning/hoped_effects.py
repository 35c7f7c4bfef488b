"""Doubts about what an action does: an effect that did not come may come yet, and it may have one
that the manual does not state.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, DoubtfulAction
from rpms.logic.facts import Literal, Sort
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.planning.doubted_needs import doubted_needs
from rpms.planning.doubts import HOPED, ActionInDoubt, Doubt, without
from rpms.planning.facts_at_stake import facts_made, served_facts, wanted_facts
from rpms.planning.possible_facts import atoms_of
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
            yield Doubt(DoubtfulAction.of(hope), contradicted=True)


def hopes(
    action: ActionInDoubt, effects: Iterable[Literal], in_vain: Counter[Literal], *, made: bool
) -> Iterator[Doubt]:
    """An action that might bring about each of some facts that something needs, also without one of
    its needs if nothing is known to bring that about; such cost less.

    `made`: true if something is known to bring such facts about; `in_vain`: how often the action
    worked without bringing a fact about.
    """
    needs = () if made else doubted_needs(action)
    discount = _discount(action.rules, action.left)
    for effect in effects:
        line = ManualLine(action.key, LinePart.DOES, str(effect))
        price = action.left.steps + action.trust.upon(line, 0.0) - discount + SECOND * made
        price -= STEPS * CONTRADICTED * in_vain.get(effect, 0)
        make = partial(_hope, action.left, effect, price)
        hope = DoubtfulAction(price, action.left.variables, (effect,), (), make)
        yield Doubt(hope)
        for doubted in needs:
            yield Doubt(without(hope, doubted.price, doubted.need))


def _hope(action: ActionSchema, effect: Literal, price: float) -> ActionSchema:
    """An action that might bring about a fact."""
    doubt = f"{action.name} {HOPED} {effect}"
    return action.varied(effects=(effect,), observes=(), steps=price, doubt=doubt)


def least_of_hopes(rules: ActiveRules, action: ActionSchema) -> float:
    """The least steps that hope costs for an effect of an action as the episode has left it.

    Nothing ever speaks for an effect that nobody states: evidence makes hope dearer alone.
    """
    return action.steps + FULL * STEPS - _discount(rules, action)


def _discount(rules: ActiveRules, action: ActionSchema) -> float:
    """The steps by which hope costs less for an action that serves nothing else."""
    makes = facts_made([action])
    serves = bool(action.observes) or not makes.isdisjoint(served_facts(rules))
    return 0.0 if serves else STEPS * FULL / 2


class InVain(NamedTuple):
    """How often an action worked without bringing about each of some facts."""

    worked: Sequence[Worked]
    """The times that are counted."""
    times: Counter[Literal]
    facts: frozenset[tuple[Literal, int]]
    """The same to look doubts up by: it keeps its hash."""

    def counting(self, worked: Sequence[Worked], effects: Sequence[Literal]) -> "InVain":
        """The same for all times that an action worked: those that were counted in an earlier step
        are not counted again.
        """
        if worked == self.worked:
            return self
        counted = len(self.worked)
        if worked[:counted] != self.worked:  # of another episode
            return NEVER.counting(worked, effects)
        times = Counter(self.times)
        for one in worked[counted:]:
            times.update(one.without(effects))
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


class MayGive(NamedTuple):
    """An action, and what it might bring about of its parameters."""

    place: int
    """The action's place among all actions."""
    effects: tuple[Literal, ...]


@kept_with_rules
def may_give(rules: ActiveRules, sort: Sort) -> tuple[MayGive, ...]:
    """The actions that might bring about facts of a sort, if something needs these."""
    if sort not in _hoped_facts(rules):
        return ()
    predicate, negated = sort
    found: list[MayGive] = []
    for place, schema in enumerate(rules.all_actions):
        effects = [Literal(atom, negated) for atom in atoms_of(rules, schema, predicate)]
        if effects:
            found.append(MayGive(place, tuple(effects)))
    return tuple(found)
