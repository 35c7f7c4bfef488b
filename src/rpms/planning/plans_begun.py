"""The plans that were begun in an episode: where one leads back to its beginning, it is not begun
again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from typing import NamedTuple, Self

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.planning.edges import Link, Option

Chain = tuple[Link, ...]
"""A plan: its actions, the first one first."""


class Begun(NamedTuple):
    """A plan that was begun, and where."""

    state: str
    command: str
    situation: Situation
    chain: Chain
    weighed: bool = False
    """True if its lines were blamed for leading back, or if it only walked where another plan
    begins."""


class Neighbour(NamedTuple):
    """A state to which one command leads, as it did before."""

    way: Begun
    """The plan that led there from the present state."""
    situation: Situation
    begun: frozenset[str]
    """Commands that plans began with there."""


@dataclass(frozen=True)
class PlansBegun:
    """The plans at hand, and those that were begun since something new was learned."""

    first: str = ""
    """The command that the plan at hand begins with."""
    offered: Mapping[str, Chain] = field(default_factory=dict)
    """Commands that the plans at hand begin with, and these plans."""
    walk: str = ""
    """The command that only walks where another plan begins."""
    walked: tuple[Begun, ...] = ()
    """The plans that were begun: the same command given there again would lead back again."""

    def doubt(self, command: str) -> str:
        """The line that a command goes against by the plans at hand."""
        return self.offered[command][0].doubt if command in self.offered else ""

    def offering(self, options: Iterable[Option], walk: str = "") -> Self:
        """The same with other plans at hand; of those that begin alike, the first."""
        offered: dict[str, Chain] = {}
        for option in options:
            if option.chain:
                offered.setdefault(option.command, option.chain)
        return type(self)(self.first, offered, walk, self.walked)

    def having_begun(self, state: str, command: str, situation: Situation) -> Self:
        """The same once the plan that a command begins was begun."""
        chain = self.offered.get(command, ())
        begun = Begun(state, command, situation, chain, weighed=command == self.walk)
        return type(self)(self.first, self.offered, self.walk, (*self.walked, begun))

    def having_weighed(self, plans: Iterable[Begun]) -> Self:
        """The same once some plans were blamed for leading back."""
        weighed = set(map(id, plans))
        walked: list[Begun] = []
        for one in self.walked:
            walked.append(one._replace(weighed=True) if id(one) in weighed else one)
        return replace(self, walked=tuple(walked))

    def since(self, state: str) -> tuple[Begun, ...]:
        """The plans that were begun since a state was left last, the one begun there first."""
        for place in reversed(range(len(self.walked))):
            if self.walked[place].state == state:
                return self.walked[place:]
        return ()

    def begun_in(self, state: str) -> frozenset[str]:
        """Commands that plans began with in a state: what they lead to is known."""
        return frozenset(begun.command for begun in self.walked if begun.state == state)

    def neighbours(self, state: str) -> list[Neighbour]:
        """The other states to which those commands led, as they were when they were left last."""
        left_last = {begun.state: begun for begun in self.walked}
        found: dict[str, Neighbour] = {}
        for begun, then in pairwise(self.walked):
            if begun.state == state and then.state != state:
                left = left_last[then.state]
                found[then.state] = Neighbour(begun, left.situation, self.begun_in(then.state))
        return list(found.values())


def doubts_of(chain: Chain) -> tuple[str, ...]:
    """The doubts that a plan rests on."""
    return tuple(link.doubt for link in chain if link.doubt)


def is_unchanged(rules: ActiveRules, before: Situation, now: Situation) -> bool:
    """True if all that is known of the goal's things and what is in hand is as it was before."""
    things = dict.fromkeys(now.belief.holding)
    for word in (now.goal.object, now.goal.destination):
        if word:
            things |= dict.fromkeys(now.belief.called(word))
    for name, predicate in rules.predicates.items():
        if predicate.lasting:
            continue
        for args in permutations(things, len(predicate.args)):
            if before.value(name, args) is not now.value(name, args):
                return False
    return True
