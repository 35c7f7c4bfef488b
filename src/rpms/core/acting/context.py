"""The present of a step: the belief with its goal, and how far the goal is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rpms.core.acting.advice import plan_for, turn_state
from rpms.core.belief import Belief, Done, Situation, StateSignature
from rpms.core.experience.adapt import AdaptContext
from rpms.core.goal import Goal, Progress
from rpms.core.mask import NO_MASK, Mask
from rpms.core.planning.reason import Plan
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules, RuleManual


@dataclass(frozen=True)
class StepContext:
    """Where a step stands, measured by the world's whole manual: the same in every condition."""

    situation: Situation
    schemas: ActiveRules
    """What of the manual bears on the goal."""
    tracked: Plan
    """What all there is to know would do now, for the progress and the stage that it tells."""
    history: Sequence[Turn]
    whereabouts: Whereabouts
    mask: Mask

    @classmethod
    def of(
        cls,
        belief: Belief,
        goal: Goal,
        manual: RuleManual,
        history: Sequence[Turn],
        whereabouts: Whereabouts,
        mask: Mask = NO_MASK,
    ) -> StepContext:
        """The present of a goal, given what is believed, what was done, and where experience found things."""
        schemas = manual.active(goal.type, goal.object, goal.destination)
        past = tuple(Done(turn.action, turn.gained) for turn in history if turn.action and not turn.failed)
        tracked = plan_for(schemas, Situation(belief, goal, past=past))
        return cls(Situation(belief, goal, tracked.stage, past), schemas, tracked, history, whereabouts, mask)

    @property
    def progress(self) -> Progress:
        return self.tracked.progress

    @cached_property
    def signature(self) -> StateSignature:
        """σ(b_t), with the stage of a procedure where there is one."""
        return self.situation.belief.signature().at_stage(self.situation.stage)

    @cached_property
    def state(self) -> str:
        """What a turn of the history remembers of the state it was decided in."""
        return turn_state(self.situation.belief, self.progress)

    @property
    def turns_here(self) -> list[Turn]:
        """The turns that were decided in this very state."""
        return [turn for turn in self.history if turn.state == self.state]

    @cached_property
    def room(self) -> AdaptContext:
        """As far as adapting memories needs it."""
        done = [each.command for each in self.situation.past]
        tried = [turn.action for turn in self.turns_here]
        refused = [turn.action for turn in self.turns_here if turn.failed]
        failed = [turn.action for turn in self.history if turn.failed]
        sub_goal = self.progress.sub_goal
        return AdaptContext(
            self.situation, self.schemas, self.whereabouts, done, sub_goal, tried, refused, self.mask, failed
        )
