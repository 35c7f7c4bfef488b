"""Where the agent has been with what in hand, by kinds: some actions are listed only with the right
thing at the right place, and nobody plans for an action that was never seen.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from rpms.induction.evidence.revelations import SeenStep
from rpms.induction.evidence.templates import ReadCommand
from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of


class Context(NamedTuple):
    """A kind of place, and the kinds of things in hand there."""

    place: str
    held: tuple[str, ...]


@dataclass
class Contexts:
    """The contexts that were seen, and commands that lead to others."""

    seen: set[Context] = field(default_factory=set)
    ways: dict[str, int] = field(default_factory=dict)
    """By template of a command that leads to a place it names, the slot of that place."""
    just_entered: bool = False  # True if the last step led to a context that was never seen

    def add(self, reading: ReadCommand, step: SeenStep) -> None:
        """Take over a step."""
        place = step.after.location
        self.just_entered = False
        if place is None:
            return
        context = _context(step.after, place)
        self.just_entered = context not in self.seen
        self.seen.add(context)
        if place != step.before.location and place in reading.names:
            self.ways.setdefault(reading.template, reading.names.index(place))

    def is_new(self, reading: ReadCommand, belief: Belief) -> bool:
        """True if a command leads to a context that was never seen."""
        slot = self.ways.get(reading.template)
        if slot is None:
            return False
        return _context(belief, reading.names[slot]) not in self.seen

    def chance_of_news(self, actions: int) -> float:
        """The chance that a new context lists an action that was never seen, by Laplace's rule of
        succession: every action known so far was listed first in some context.
        """
        return (actions + 1) / (len(self.seen) + 2)


def _context(belief: Belief, place: str) -> Context:
    held = sorted({kind_of(name) for name in belief.holding})
    return Context(kind_of(place), tuple(held))
