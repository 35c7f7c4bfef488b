"""The plans that were begun in an episode: where one leads back to its beginning, it is not begun
again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
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


@dataclass(frozen=True)
class PlansBegun:
    """The plans at hand, and those that were begun since something new was learned."""

    first: str = ""
    """The command that the plan at hand begins with."""
    offered: Mapping[str, Chain] = field(default_factory=dict)
    """Commands that the plans at hand begin with, and these plans."""
    walked: tuple[Begun, ...] = ()
    """The plans that were begun: the same one begun there again would lead back again."""

    def doubt(self, command: str) -> str:
        """The line that a command goes against by the plans at hand."""
        return self.offered[command][0].doubt if command in self.offered else ""

    def offering(self, options: Iterable[Option]) -> Self:
        """The same with other plans at hand; of those that begin alike, the first."""
        offered: dict[str, Chain] = {}
        for option in options:
            if option.chain:
                offered.setdefault(option.command, option.chain)
        return replace(self, offered=offered)

    def having_begun(self, state: str, command: str, situation: Situation) -> Self:
        """The same once the plan that a command begins was begun."""
        begun = Begun(state, command, situation, self.offered.get(command, ()))
        return replace(self, walked=(*self.walked, begun))

    def has_begun(
        self, option: Option, state: str, is_unchanged: Callable[[Situation], bool]
    ) -> bool:
        """True if a plan with the same first command and doubts was begun in this very state,
        nothing having been learned since.

        `is_unchanged`: true if all that matters is as it was in a situation.
        """
        doubts = doubts_of(option.chain)
        for begun in self.walked:
            if begun.state != state or begun.command != option.command:
                continue
            is_same = doubts_of(begun.chain) == doubts
            if is_same and is_unchanged(begun.situation):
                return True
        return False


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
