"""A memory with all that is derived from it, so that what is learned reaches every part at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from rpms.core.consistency import Compat
from rpms.core.experience.adapt import Adapt, adapted, as_stored
from rpms.core.experience.follow import Following
from rpms.core.goal import GoalSignature
from rpms.core.index import Ranking
from rpms.core.memory import Kind
from rpms.core.planning.reason import likely_places
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import RuleManual

_GOALS_KEPT = 256
"""Goals, by kind of entry, whose recalled entries are kept."""


@dataclass(frozen=True)
class Recollection:
    """What is remembered, how it is recalled, and how it is bound to the present."""

    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    retrieval: Retrieval = field(default_factory=Retrieval)
    syntax: RuleManual = field(default_factory=RuleManual)
    """The world's manual, by which actions are read."""
    rules: RuleManual = field(default_factory=RuleManual)
    """The condition's manual, whose order of likely places experience corrects."""
    adapts: bool = False
    """Whether memories are bound to the present room before they are judged; in the paper they stay as stored."""
    follows: Compat | None = None
    """The state filter of a memory that acts alone: what it keeps for other places is followed there."""
    slack: float = inf
    """How many steps farther than the nearest a snippet may be that is followed."""

    def learning(self, memory: EpisodicMemory) -> Recollection:
        """The same with another memory, and all that is derived from it."""
        return replace(self, memory=memory)

    def recall(self, kind: Kind, goal: GoalSignature) -> Ranking:
        """M_cand, best first. An episode asks for the same goal at each step, and gets what was found before."""
        key = (kind, goal)
        if key not in self._recalled:
            if len(self._recalled) >= _GOALS_KEPT:
                self._recalled.clear()
            self._recalled[key] = self.memory.recall(kind, goal, self.retrieval)
        return self._recalled[key].again()

    @cached_property
    def _recalled(self) -> dict[tuple[Kind, GoalSignature], Ranking]:
        return {}

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """Where the memory found things."""
        category = self.retrieval.similarity.category
        ranks = likely_places(self.rules.active("")) if len(self.memory) else {}
        return Whereabouts(self.memory.entries, self.syntax.active(""), category, ranks)

    @cached_property
    def adapt(self) -> Adapt:
        """Binds memories to the present: where they act alone, they are also followed from place to place."""
        if self.follows is None:
            return adapted if self.adapts else as_stored
        similarity, syntax = self.retrieval.similarity, self.syntax.active("")
        return Following(self.follows, similarity, self.memory.entries, syntax, self.slack)
