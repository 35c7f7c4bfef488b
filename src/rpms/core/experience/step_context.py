"""The step at hand: belief, goal, progress and history, measured alike in every condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.goal import NOTHING_DONE, Progress
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules
from rpms.core.verdict import NO_MASK, Mask


def turn_state(belief: Belief, progress: Progress) -> str:
    """Key of the state a turn was decided in: if equal, nothing was achieved since."""
    return f"{belief.signature()}|{progress.text}|{progress.done}|{belief.fingerprint}"


@dataclass(frozen=True)
class StepContext:
    """Belief, goal, progress and history at one step, by the world's whole manual: alike in every condition."""

    situation: Situation
    schemas: ActiveRules
    """The part of the manual that bears on the goal: syntax of commands, and effects that tell if one is done."""
    progress: Progress = NOTHING_DONE
    history: Sequence[Turn] = ()
    whereabouts: Whereabouts = field(default_factory=Whereabouts)
    mask: Mask = NO_MASK
    """Entries hidden at random in this episode: another does not give way to these."""

    @cached_property
    def signature(self) -> StateSignature:
        """σ(b_t), with the stage of a procedure where there is one."""
        return self.situation.belief.signature().at_stage(self.situation.stage)

    @cached_property
    def state(self) -> str:
        """Key of the present state, as turns of the history keep it."""
        return turn_state(self.situation.belief, self.progress)

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

    @cached_property
    def failed(self) -> list[str]:
        """All that the world refused in this episode."""
        return [turn.action for turn in self.history if turn.failed]
