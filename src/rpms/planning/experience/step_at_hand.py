"""The step at hand, as memories are bound to it: what was done, tried and refused so far."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from rpms.logic.facts import Literal, Truth
from rpms.paper.beyond import StepContext
from rpms.paper.prompt import Turn
from rpms.planning.whereabouts import Whereabouts


@dataclass(frozen=True)
class StepAtHand(StepContext):
    """The step at hand, with where things were found before."""

    whereabouts: Whereabouts = field(default_factory=Whereabouts)

    @cached_property
    def turns_here(self) -> list[Turn]:
        """The turns that were decided in this very state."""
        return [turn for turn in self.history if turn.state == self.state]

    @cached_property
    def done(self) -> list[str]:
        """The commands so far that the world took."""
        return [each.command for each in self.situation.past]

    @cached_property
    def tried(self) -> list[str]:
        """The commands that were given in this very state, and led back to it."""
        return [turn.action for turn in self.turns_here]

    @cached_property
    def refused(self) -> list[str]:
        """Those of them that the world refused."""
        return [turn.action for turn in self.turns_here if turn.failed]

    def is_done(self, command: str, *, deed: bool = True) -> bool:
        """True if an action's effects are known to hold; for an action without effects, if it
        was done.

        A known action without effects that is no `deed` only led to another, so it is never due.
        An effect that is unknown counts as there once the action was done, unless it is a passing
        one.
        """
        instance = self.schemas.instance(command)
        if instance is None:
            return command in self.done
        effects = instance.effects
        if not effects:
            return not deed or command in self.done
        values = [effect.truth(self.situation) for effect in effects]
        if all(value is Truth.TRUE for value in values):
            return True
        if command not in self.done or Truth.FALSE in values:
            return False
        return not self._is_passing(effects)

    def _is_passing(self, effects: Iterable[Literal]) -> bool:
        """True if the next action of the kind undoes an effect, as going elsewhere undoes being
        here.
        """
        for effect in effects:
            known = self.schemas.predicates.get(effect.atom.predicate)
            if known is not None and known.exclusive:
                return True
        return False
