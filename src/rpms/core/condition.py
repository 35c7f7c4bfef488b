"""Conditions of the experiments, composed of neutral elements: nothing in a step asks which one it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from math import inf

from rpms.core.acting.advice import Adviser, Spell, as_written
from rpms.core.acting.enforcement import PAPER, Calls, Consistency, Enforcement, JudgedBy, Repair
from rpms.core.arbitration import Arbitration, arbitrate, arbitrate_by_action, judge_here
from rpms.core.consistency import Compat, CompatibilityFilter, accept_everything, executable_from_here, same_occupancy
from rpms.core.decide import Mind, Update
from rpms.core.errors import InputError
from rpms.core.experience.recollection import Recollection
from rpms.core.names import nearest
from rpms.core.prompt import Budget, Form, Layout
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import RuleManual, Tier
from rpms.core.seams import Seams, judged_by
from rpms.core.verdict import Candidate
from rpms.core.wording import PromptStyle, Wording


class BeliefShown(StrEnum):
    """The part of the belief that a prompt shows."""

    PAPER = "paper"
    """As in the paper's listings: place, hand and open containers; room, inventory and progress."""
    EXTENDED = "extended"
    """Also what was seen where, what was not searched yet, and what objects are known to be."""


ALL_TIERS = tuple(Tier)


@dataclass(frozen=True)
class Condition:
    """The parts of RPMS that are switched on. The defaults are the paper's."""

    rules: bool = True
    memory: bool = True
    arbitration: Arbitration = Arbitration.HARD_SOFT
    state_filter: bool = True
    layout: Layout = Layout.PAPER
    form: Form = Form.CHAT
    belief: BeliefShown = BeliefShown.PAPER
    repair: Repair = Repair.FORM
    calls: Calls = Calls.TEXT
    tiers: tuple[Tier, ...] = ALL_TIERS
    """The tiers of the manual that the prompt and arbitration have, in the manual's order."""
    enforcement: Enforcement = PAPER
    """Settings beyond the paper."""

    @property
    def informed(self) -> bool:
        """True if there is anything to know: rules or memory. Goal and belief are shown where there is."""
        return self.rules or self.memory


BASELINE = Condition(rules=False, memory=False)
RULES_ONLY = Condition(memory=False)
MEMORY_ONLY = Condition(rules=False)
FULL = Condition()

COMPACT = 250
"""Tokens that all injected blocks may have together where rules and memories act and are hardly told."""

ABLATION = {"A": "baseline", "B": "rules-only", "C": "memory-only", "D": "full"}
"""The 2x2 ablation, by the paper's letters."""
CONDITIONS = {"baseline": BASELINE, "rules-only": RULES_ONLY, "memory-only": MEMORY_ONLY, "full": FULL}
"""By name: those of the ablation, and any that are added to them."""
LATER = ("full", "rules-only")
"""The conditions that rounds of learning after the first may have."""


def named_condition(name: str) -> Condition:
    """Find a condition by its name or the paper's letter."""
    found = CONDITIONS.get(ABLATION.get(name, name))
    if found is None:
        raise InputError(f"unknown condition {name!r}; {nearest(name, CONDITIONS)}")
    return found


@dataclass(frozen=True)
class Knowledge:
    """A world's knowledge, before a condition selects from it."""

    update: Update
    wording: Wording
    manual: RuleManual
    compat: Compat = same_occupancy
    retrieval: Retrieval = field(default_factory=Retrieval)
    budget: Budget = field(default_factory=Budget)
    seams: Seams = field(default_factory=Seams)
    """Parts of one's own in place of the paper's."""
    spell: Spell = as_written
    """Writes a command as the game at hand spells it."""
    plans: RuleManual | None = None
    """The manual to plan with, if it says more than `manual`; never shown in a prompt."""


_JUDGEMENTS: Mapping[JudgedBy, Callable[..., Iterator[Candidate]]] = {
    JudgedBy.ENTRY: arbitrate,
    JudgedBy.HERE: partial(arbitrate, by=judge_here),
    JudgedBy.ACTION: arbitrate_by_action,
}


def compose(condition: Condition, knowledge: Knowledge, memory: EpisodicMemory) -> Mind:
    """Put a neutral element in place of everything that a condition leaves out, in the prompt and beyond it.

    Goal and belief are shown whenever rules or memory are on; arbitration needs rules and is off without them. Guard,
    guidance, a menu from the manual and consistency by preconditions need its actions. Progress is part of the goal,
    and told by the same measure in all.
    """
    beyond = condition.enforcement
    manual = knowledge.manual.of_tiers(condition.tiers) if condition.rules else RuleManual()
    acts = bool(manual.actions)
    tells = manual if acts else knowledge.manual.bare()
    planned = knowledge.plans.of_tiers(condition.tiers) if knowledge.plans else None
    own = knowledge.seams
    by_needs = beyond.consistency is Consistency.PRECONDITION and acts
    finer = by_needs and condition.state_filter and own.consistency is None
    compat = (own.consistency or knowledge.compat) if condition.state_filter else accept_everything
    alone = beyond.adapt and condition.memory and not condition.rules
    mode = condition.arbitration if condition.rules else Arbitration.NONE
    budget = replace(knowledge.budget, turns=beyond.recent, injected=COMPACT if beyond.compact else 0)
    return Mind(
        update=knowledge.update,
        style=PromptStyle(
            _worded(knowledge.wording, condition), condition.layout, condition.form, budget, speak=own.prompt
        ),
        manual=manual,
        schemas=knowledge.manual,
        experience=Recollection(
            memory=memory if condition.memory else EpisodicMemory(),
            retrieval=knowledge.retrieval,
            retriever=own.retriever,
            syntax=knowledge.manual,
            rules=manual,
            adapts=beyond.adapt,
            follows=compat if alone else None,
            slack=beyond.slack or inf,
        ).prepared(),
        consistent=executable_from_here if finer else CompatibilityFilter(compat),
        arbitrate=partial(judged_by, judge=own.arbitration)
        if own.arbitration is not None and condition.rules
        else partial(_JUDGEMENTS[beyond.judged_by], mode=mode),
        adviser=Adviser(
            replace(
                beyond,
                guidance=beyond.guidance and acts,
                menu=beyond.menu if condition.informed else 0,
                doubt=beyond.doubt and acts,
            ),
            spell=knowledge.spell,
            tells=tells,
            plans=planned if planned is not None and acts and not (beyond.menu or beyond.guidance) else tells,
        ),
        enforcement=beyond,
    )


def _worded(wording: Wording, condition: Condition) -> Wording:
    """A world's wording: with the example of choosing from a menu where there is one, silent where nothing is known."""
    choosing = condition.enforcement.menu > 0 and condition.informed and bool(wording.choosing)
    spoken = replace(wording, example=wording.choosing) if choosing else wording
    spoken = spoken.terse() if condition.belief is BeliefShown.PAPER else spoken
    return spoken if condition.informed else spoken.silent()
