"""Facts that hold in any room and state a memory is used in: the hard filter judges by them.

They are the state the entry was learned in, the kinds of things, the goal, and the effects of the entry's own steps;
this room's places, hand and containers do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rpms.core.belief import GOAL_PREDICATES, Situation, StateSignature
from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.goal import Goal, GoalSignature
from rpms.core.rules import ActiveRules

_ANY_STATE = StateSignature()


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Facts of a situation that do not depend on the present room, place or hand; all others are unknown."""

    situation: Situation
    rules: ActiveRules
    learned_for: GoalSignature
    """The goal of the entry that is judged: its tomato stands for the apple that is asked for now."""
    learned_in: StateSignature = _ANY_STATE
    """The state in which the entry that is judged was learned."""

    def truth(self, atom: Atom, /) -> Truth:
        if atom.predicate in GOAL_PREDICATES:
            return self.situation.truth(atom) | Situation(self.situation.belief, self._own_goal).truth(atom)
        then = self.situation.belief.recalled(self.learned_in).truth(atom)
        if then is not Truth.UNKNOWN:
            return then
        predicate = self.rules.predicates.get(atom.predicate)
        if predicate is not None and predicate.lasting:
            return self.situation.truth(atom)
        return self._done(atom) if atom.predicate in self.rules.deeds else Truth.UNKNOWN

    @property
    def _own_goal(self) -> Goal:
        own = self.learned_for
        return Goal(own.type, own.object, own.state, own.destination)

    def _done(self, atom: Atom) -> Truth:
        """Truth of a deed of this episode, done to the entry's object or to its stand-in here."""
        values = {self.situation.truth(each) for each in (atom, *self._stand_ins(atom))}
        return next(value for value in (Truth.TRUE, Truth.UNKNOWN, Truth.FALSE) if value in values)

    def _stand_ins(self, atom: Atom) -> Iterator[Atom]:
        for held in self.situation.belief.holding:
            args = tuple(held if kind_of(held) == kind_of(arg) else arg for arg in atom.args)
            if args != atom.args:
                yield Atom(atom.predicate, args)
