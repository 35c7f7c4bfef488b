"""Conditions of the experiments, composed of neutral elements: nothing in a step asks which one it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rpms.core.advice import Adviser, Guide, no_guidance, no_notice
from rpms.core.arbitration import Arbitration, arbitrate, arbitrate_by_action
from rpms.core.belief import Belief
from rpms.core.consistency import Compat, accept_everything, compatible_by, executable_from_here, same_occupancy
from rpms.core.decide import Focus, Mind, Update, show_all
from rpms.core.enforcement import PAPER, Consistency, Enforcement, JudgedBy, Repair
from rpms.core.errors import InputError
from rpms.core.goal import Goal, Progress
from rpms.core.loops import find_loop
from rpms.core.menu import Suggest, suggest_nothing
from rpms.core.prompt import Budget, Form, Layout
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import RuleManual, Tier
from rpms.core.voice import Voice


class BeliefShown(StrEnum):
    """How much of the belief a prompt shows."""

    PAPER = "paper"
    """What the paper's listings show: place, hand and open containers; room, inventory and progress."""
    EXTENDED = "extended"
    """Also what was seen where, what was not searched yet, and what objects are known to be."""


ALL_TIERS = tuple(Tier)


@dataclass(frozen=True)
class Condition:
    """What of RPMS is switched on."""

    rules: bool = True
    memory: bool = True
    arbitration: Arbitration = Arbitration.HARD_SOFT
    state_filter: bool = True
    layout: Layout = Layout.CACHED
    form: Form = Form.SINGLE
    belief: BeliefShown = BeliefShown.EXTENDED
    repair: Repair = Repair.BELIEF
    tiers: tuple[Tier, ...] = ALL_TIERS
    """The tiers of the manual that the prompt and arbitration have, in the manual's order."""
    enforcement: Enforcement = PAPER
    """What goes past the paper."""


BASELINE = Condition(rules=False, memory=False)
RULES_ONLY = Condition(memory=False)
MEMORY_ONLY = Condition(rules=False)
FULL = Condition()

COMPACT = 800
"""Tokens that all injected blocks may have together where the rules shown are compact."""

CONDITIONS = {"baseline": BASELINE, "rules-only": RULES_ONLY, "memory-only": MEMORY_ONLY, "full": FULL}
"""The 2x2 ablation: (A), (B), (C) and (D)."""
LATER = ("full", "rules-only")
"""The conditions that rounds of learning after the first may have."""


def named_condition(name: str) -> Condition:
    """Find a condition by its name or the paper's letter."""
    found = CONDITIONS.get(name) or dict(zip("ABCD", CONDITIONS.values(), strict=True)).get(name)
    if found is None:
        raise InputError(f"unknown condition {name!r}; choose one of {', '.join(CONDITIONS)}")
    return found


@dataclass(frozen=True)
class Knowledge:
    """What a world knows, before a condition decides how much of it is used."""

    update: Update
    progress: Callable[[Goal, Belief], Progress]
    voice: Voice
    manual: RuleManual
    compat: Compat = same_occupancy
    retrieval: Retrieval = field(default_factory=Retrieval)
    budget: Budget = field(default_factory=Budget)
    suggest: Suggest = suggest_nothing
    guide: Guide = no_guidance
    focus: Focus = show_all


def compose(condition: Condition, knowledge: Knowledge, memory: EpisodicMemory) -> Mind:
    """Put a neutral element in place of everything that a condition leaves out.

    Goal and belief are shown whenever rules or memory are on; arbitration needs rules and is off without them.
    """
    informed = condition.rules or condition.memory
    beyond = condition.enforcement
    finer = beyond.consistency is Consistency.PRECONDITION
    consistent = executable_from_here if finer else compatible_by(knowledge.compat)
    return Mind(
        update=knowledge.update,
        progress=knowledge.progress,
        voice=_voice(knowledge.voice, condition, informed=informed),
        manual=knowledge.manual.of_tiers(condition.tiers) if condition.rules else RuleManual(),
        memory=memory if condition.memory else EpisodicMemory(),
        consistent=consistent if condition.state_filter else compatible_by(accept_everything),
        arbitrate=arbitrate_by_action if beyond.judged_by is JudgedBy.ACTION else arbitrate,
        arbitration=condition.arbitration if condition.rules else Arbitration.NONE,
        retrieval=knowledge.retrieval,
        layout=condition.layout,
        form=condition.form,
        budget=replace(knowledge.budget, turns=beyond.recent, injected=COMPACT if beyond.compact else 0),
        schemas=knowledge.manual,
        adviser=Adviser(
            guide=knowledge.guide if beyond.guidance else no_guidance,
            suggest=knowledge.suggest if beyond.menu else suggest_nothing,
            size=beyond.menu,
            ranked=beyond.ranked,
            notice=find_loop if beyond.loops else no_notice,
        ),
        focus=knowledge.focus if beyond.compact else show_all,
        repair=condition.repair,
        enforcement=beyond,
    )


def _voice(voice: Voice, condition: Condition, *, informed: bool) -> Voice:
    """A world's voice: with the example of choosing from a menu where there is one, silent where nothing is known."""
    choosing = condition.enforcement.menu > 0 and bool(voice.choosing)
    spoken = replace(voice, example=voice.choosing) if choosing else voice
    spoken = spoken.terse() if condition.belief is BeliefShown.PAPER else spoken
    return spoken if informed else spoken.silent()
