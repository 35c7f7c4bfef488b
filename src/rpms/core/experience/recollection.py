"""A memory with all that is derived from it, so that what is learned reaches every part at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Self

from rpms.core.belief import Situation
from rpms.core.consistency import Compat
from rpms.core.experience.adapt import Adapt, adapted
from rpms.core.experience.follow import Following
from rpms.core.goal import GoalSignature
from rpms.core.memory import Entry, Kind, told_kinds
from rpms.core.planning.reason import likely_places
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.recall import EpisodicMemory, Ranking, Retrieval
from rpms.core.rules import RuleManual
from rpms.core.seams import Ranked, Retriever
from rpms.core.wording import entry_text

_GOALS_KEPT = 256
"""Goals, by kind of entry, whose recalled entries are kept."""


@dataclass(frozen=True)
class Recollection:
    """A memory, its retrieval, and its binding to the present."""

    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    retrieval: Retrieval = field(default_factory=Retrieval)
    syntax: RuleManual = field(default_factory=RuleManual)
    """The world's manual, by which actions are read."""
    rules: RuleManual = field(default_factory=RuleManual)
    """The condition's manual, whose order of likely places experience corrects."""
    adapts: bool = False
    """True if memories are bound to the present room before they are judged; in the paper they stay as stored."""
    follows: Compat | None = None
    """The state filter of a memory that acts alone: what it keeps for other places is followed there."""
    retriever: Retriever | None = None
    slack: float = inf
    """Steps a followed snippet may be farther from done than the nearest one."""

    def prepared(self) -> Self:
        """The same with its statistics read where steps need them: the first step is not to wait for that."""
        _ = self.whereabouts.trust if self.adapts else None
        return self

    def recall(self, kind: Kind, situation: Situation) -> Ranking | Ranked:
        """M_cand of Eq. 4, best first, cached by goal; by a custom retriever if there is one."""
        goal = situation.goal
        if self.retriever is None:
            key = (kind, goal.signature)
            if key not in self._recalled:
                if len(self._recalled) >= _GOALS_KEPT:
                    self._recalled.clear()
                self._recalled[key] = self.memory.recall(kind, goal.signature, self.retrieval)
            return self._recalled[key].again()
        entries, texts = self._texts.get(kind, ((), ()))
        return Ranked(self.retriever(goal, situation, entries, texts) if entries else (), entries)

    @cached_property
    def _texts(self) -> Mapping[Kind, tuple[Sequence[Entry], Sequence[str]]]:
        """The entries by kind, each as a prompt words it."""
        kinds = {kind: [entry for entry in self.memory.entries if entry.kind is kind] for kind in told_kinds()}
        return {kind: (entries, [entry_text(entry) for entry in entries]) for kind, entries in kinds.items()}

    @cached_property
    def _recalled(self) -> dict[tuple[Kind, GoalSignature], Ranking]:
        return {}

    @cached_property
    def whereabouts(self) -> Whereabouts:
        """The memory's statistics of where things were found."""
        category = self.retrieval.similarity.category
        ranks = likely_places(self.rules.active("")) if len(self.memory) else {}
        return Whereabouts(self.memory.entries, self.syntax.active(""), category, ranks)

    @cached_property
    def adapt(self) -> Adapt:
        """Binds memories to the present: where they act alone, they are also followed from place to place."""
        if self.follows is None:
            return adapted if self.adapts else lambda candidates, _context: iter(candidates)  # the paper's: as stored
        similarity, syntax = self.retrieval.similarity, self.syntax.active("")
        return Following(self.follows, similarity, self.memory.entries, syntax, self.slack)
