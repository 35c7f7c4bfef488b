"""Planning behind the paper's door: the object that adapts memories, notices surprises and
advises the model (`rpms.paper.beyond`), and the mind that has it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.arbitration import arbitrate
from rpms.paper.beyond import Noticed, StepContext
from rpms.paper.condition import Condition
from rpms.paper.consistency import Compat, CompatibilityFilter
from rpms.paper.decide import Arbitrate, Consistent, Mind
from rpms.paper.enforcement import Consistency, Enforcement, JudgedBy
from rpms.paper.recall import Recollection
from rpms.paper.verdict import Candidate
from rpms.paper.wording import PromptStyle
from rpms.planning.advice import Adviser, PlanAdvice, Spell, as_written
from rpms.planning.experience.adapt import Adapt, AdaptContext, adapted
from rpms.planning.experience.following import Following
from rpms.planning.from_here import arbitrate_by_action, executable_from_here, judge_here
from rpms.planning.noticed import PlanNoticed
from rpms.planning.surprise import notice
from rpms.planning.trust import UNSHAKEN
from rpms.planning.whereabouts import Whereabouts, likely_places

COMPACT = 250
"""Tokens that all injected blocks may have together where rules and memories act and are hardly
told."""

_JUDGEMENTS: Mapping[JudgedBy, Any] = {
    JudgedBy.ENTRY: arbitrate,
    JudgedBy.HERE: partial(arbitrate, by=judge_here),
    JudgedBy.ACTION: arbitrate_by_action,
}


@dataclass(frozen=True, eq=False)
class Planning:
    """Plans over the manual and the memory of one mind."""

    adviser: Adviser
    syntax: RuleManual
    """The world's manual, by which actions are read."""
    rules: RuleManual
    """The condition's manual, whose order of likely places experience corrects."""
    follows: Compat | None = None
    """State filter if memory acts without rules: a snippet rejected only for its place is
    followed to that place."""

    @property
    def enforcement(self) -> Enforcement:
        return self.adviser.enforcement

    def adapt(self, candidates: Iterable[Candidate], now: StepContext) -> Iterator[Candidate]:
        """Bind memories to the present: where they act alone, they are also followed from place to
        place.
        """
        bind = self.binding(now.experience)
        return bind(candidates, self._context(now)) if bind is not None else iter(candidates)

    def notice(
        self, earlier: Noticed, now: StepContext, before: Situation, *, won: bool = False
    ) -> PlanNoticed:
        return notice(earlier, now, before, won=won)

    def advise(
        self,
        now: StepContext,
        rules: ActiveRules,
        memories: Sequence[Candidate],
        noticed: Noticed,
    ) -> PlanAdvice:
        seen = noticed if isinstance(noticed, PlanNoticed) else PlanNoticed(UNSHAKEN)
        return PlanAdvice(self._context(now), rules, memories, self.adviser, seen)

    def _context(self, now: StepContext) -> AdaptContext:
        """The step at hand as memories are bound to it, one for adapting and advising."""
        key = (self, "context")
        if key not in now.kept:
            now.kept[key] = AdaptContext.of(now, self.whereabouts(now.experience))
        found: AdaptContext = now.kept[key]
        return found

    def binding(self, experience: Recollection) -> Adapt | None:
        """The way in which memories are bound to the present; None if they stay as stored."""
        if self.follows is None:
            return adapted if self.adviser.enforcement.adapt else None
        key = (self, "following")
        if key not in experience.kept:
            experience.kept[key] = Following(
                self.follows,
                experience.retrieval.similarity,
                experience.memory.entries,
                self.syntax.active(""),
                self.adviser.enforcement.slack or inf,
            )
        found: Following = experience.kept[key]
        return found

    def whereabouts(self, experience: Recollection) -> Whereabouts:
        """The memory's statistics of where things were found, made once for a memory."""
        key = (self, "whereabouts")
        if key not in experience.kept:
            memory = experience.memory
            ranks = likely_places(self.rules.active("")) if len(memory) else {}
            category = experience.retrieval.similarity.category
            experience.kept[key] = Whereabouts(
                memory.entries, self.syntax.active(""), category, ranks
            )
        found: Whereabouts = experience.kept[key]
        return found


def extend(mind: Mind, spell: Spell = as_written, plans: RuleManual | None = None) -> Mind:
    """Give a mind what its condition has past the paper, and plans.

    Guidance, doubt and consistency by preconditions need the actions of a manual, a menu any
    knowledge, and adapted memories a memory. `spell`: a command as the world wants it written;
    `plans`: a manual that only plans are made with.
    """
    condition = mind.condition
    enforcement = _possible(condition, mind)
    # a prompt with a menu or guidance would tell what only the planner is to know
    if not mind.manual.actions or enforcement.menu or condition.enforcement.guidance:
        plans = None
    adviser = Adviser(
        enforcement, spell, mind.tells, plans.of_tiers(condition.tiers) if plans else None
    )
    alone = enforcement.adapt and not condition.rules
    follows = _compat(mind) if alone else None
    planning = Planning(adviser, mind.schemas, mind.manual, follows)
    if enforcement.adapt:  # read now: the first step is not to wait for the statistics
        _ = planning.whereabouts(mind.experience).trust
    return replace(
        mind,
        beyond=planning,
        style=_styled(mind.style, enforcement),
        consistent=_consistency(mind, enforcement),
        arbitrate=_arbitration(mind, enforcement),
    )


def _possible(condition: Condition, mind: Mind) -> Enforcement:
    """The parts that are on, as far as the condition has the knowledge for them."""
    wanted = condition.enforcement
    acts = bool(mind.manual.actions)
    return replace(
        wanted,
        guidance=wanted.guidance and acts,
        menu=wanted.menu if condition.informed else 0,
        adapt=wanted.adapt and condition.memory,
        doubt=wanted.doubt and acts,
    )


def _compat(mind: Mind) -> Compat:
    assert isinstance(mind.consistent, CompatibilityFilter)
    return mind.consistent.compat


def _styled(style: PromptStyle, enforcement: Enforcement) -> PromptStyle:
    """A shorter prompt where knowledge acts, with the example of choosing where there is a menu."""
    wording = style.wording
    if enforcement.menu and wording.choosing:
        wording = replace(wording, example=wording.choosing)
    injected = COMPACT if enforcement.compact else 0
    budget = replace(style.budget, turns=enforcement.recent, injected=injected)
    return replace(style, wording=wording, budget=budget)


def _consistency(mind: Mind, enforcement: Enforcement) -> Consistent:
    """M_filt: by preconditions where that is on and the user has none of their own."""
    by_needs = enforcement.consistency is Consistency.PRECONDITION and bool(mind.manual.actions)
    own = isinstance(mind.consistent, CompatibilityFilter) and mind.consistent.own
    return executable_from_here if by_needs and not own else mind.consistent


def _arbitration(mind: Mind, enforcement: Enforcement) -> Arbitrate:
    """M_arb, in another scope than the paper's, unless the judge is the user's own."""
    judge = mind.arbitrate
    if not isinstance(judge, partial) or judge.func is not arbitrate:
        return judge
    return partial(_JUDGEMENTS[enforcement.judged_by], **judge.keywords)
