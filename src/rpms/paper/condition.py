"""Conditions of the experiments, composed of neutral elements: nothing in a step asks which one
it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import inf

from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError, nearest
from rpms.logic.rules import ActiveRules, RuleManual, Tier
from rpms.paper.arbitration import Arbitration, arbitrate, arbitrate_by_action, judge_here
from rpms.paper.consistency import (
    Compat,
    CompatibilityFilter,
    accept_everything,
    executable_from_here,
)
from rpms.paper.decide import HARD_SOFT, Mind, Update
from rpms.paper.memory import Entry, as_observed
from rpms.paper.prompt import Form, Layout, Speak
from rpms.paper.recall import EpisodicMemory, Retriever
from rpms.paper.verdict import Candidate, Verdict
from rpms.paper.wording import Wording
from rpms.planning.enforcement import PAPER, Calls, Consistency, Enforcement, JudgedBy, Repair


class MemoryWords(StrEnum):
    """The words of lessons and verified schemas."""

    MANUAL = "manual"
    """As they were stored: with the needs and effects that the manual has for the action."""
    OBSERVED = "observed"
    """Only what was observed: the action, the world's answer, and how often it worked."""


class BeliefShown(StrEnum):
    """The part of the belief that a prompt shows."""

    PAPER = "paper"
    """As in the paper's listings: place, hand and open containers; room, inventory and progress."""
    EXTENDED = "extended"
    """Also what was seen where, what was not searched yet, and what objects are known to be."""


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
    notes: bool = False
    """True if notes are added to the world's texts: how an action was read, and that an answer
    held none."""
    outcomes: bool = True
    """True if the belief tracks what became of objects: heated, cooled, cleaned, sliced."""
    memory_words: MemoryWords = MemoryWords.MANUAL
    tiers: tuple[Tier, ...] = tuple(Tier)
    """The tiers of the manual that the prompt and arbitration have, in the manual's order."""
    enforcement: Enforcement = PAPER
    """Settings beyond the paper."""

    @property
    def informed(self) -> bool:
        """True if there is anything to know: rules or memory.

        Goal and belief are shown where there is.
        """
        return self.rules or self.memory


BASELINE = Condition(rules=False, memory=False)
RULES_ONLY = Condition(memory=False)
MEMORY_ONLY = Condition(rules=False)
FULL = Condition()

COMPACT = 250
"""Tokens that all injected blocks may have together where rules and memories act and are hardly
told."""

ABLATION = {"A": "baseline", "B": "rules-only", "C": "memory-only", "D": "full"}
"""The 2x2 ablation, by the paper's letters."""
CONDITIONS = {
    "baseline": BASELINE,
    "rules-only": RULES_ONLY,
    "memory-only": MEMORY_ONLY,
    "full": FULL,
}
"""By name: those of the ablation, and any that are added to them."""
LATER = ("full", "rules-only")
"""The conditions that rounds of learning after the first may have."""


def named_condition(name: str) -> Condition:
    """Find a condition by its name or the paper's letter."""
    found = CONDITIONS.get(ABLATION.get(name, name))
    if found is None:
        raise InputError(f"unknown condition {name!r}; {nearest(name, CONDITIONS)}")
    return found


OwnJudge = Callable[[Entry, ActiveRules, Situation], Verdict | None]
"""φ: the verdict on an entry that suits the state, dropped or kept with a warning; None keeps
the entry as it is."""


@dataclass(frozen=True)
class Seams:
    """Parts of one's own, by the paper's names: functions, or what is called like one.

    None stands for the paper's.
    """

    retriever: Retriever | None = None
    consistency: Compat | None = None
    """COMPAT: takes the belief and an entry, and says why they do not suit each other; nothing
    if they do."""
    arbitration: OwnJudge | None = None
    prompt: Speak | None = None
    """Takes the prompt's blocks in order and gives the messages that the model is sent."""


def judged_by(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, judge: OwnJudge
) -> Iterator[Candidate]:
    """M_arb by a judge of one's own: it is asked of each candidate that nothing rejected before."""
    for candidate in candidates:
        verdict = judge(candidate.entry, rules, situation) if candidate.verdict.fate.shown else None
        yield candidate if verdict is None else candidate.judged(verdict)


_JUDGEMENTS: Mapping[JudgedBy, Callable[..., Iterator[Candidate]]] = {
    JudgedBy.ENTRY: arbitrate,
    JudgedBy.HERE: partial(arbitrate, by=judge_here),
    JudgedBy.ACTION: arbitrate_by_action,
}


def compose(condition: Condition, known: Mind, memory: EpisodicMemory) -> Mind:
    """Put a neutral element in place of everything that a condition leaves out of what a world
    knows.

    Goal and belief are shown whenever rules or memory are on; arbitration needs rules and is off
    without them. Guard, guidance, a menu from the manual and consistency by preconditions need its
    actions. Progress is part of the goal, and told by the same measure in all.
    """
    beyond, style, adviser, by_state = (
        condition.enforcement,
        known.style,
        known.adviser,
        known.consistent,
    )
    manual = known.manual.of_tiers(condition.tiers) if condition.rules else RuleManual()
    acts = bool(manual.actions)
    plans = adviser.plans if acts and not (beyond.menu or beyond.guidance) else None
    assert isinstance(by_state, CompatibilityFilter)
    if not condition.state_filter:
        by_state = CompatibilityFilter(accept_everything, own=True)
    by_needs = beyond.consistency is Consistency.PRECONDITION and acts and not by_state.own
    judged = known.arbitrate is not HARD_SOFT and condition.rules
    mode = condition.arbitration if condition.rules else Arbitration.NONE
    return replace(
        known,
        update=known.update if condition.outcomes else without_outcomes(known.update),
        style=replace(
            style,
            wording=_worded(style.wording, condition),
            layout=condition.layout,
            form=condition.form,
            notes=condition.notes,
            budget=replace(
                style.budget, turns=beyond.recent, injected=COMPACT if beyond.compact else 0
            ),
        ),
        manual=manual,
        schemas=known.manual,
        experience=replace(
            known.experience,
            memory=_worded_memory(memory, condition) if condition.memory else EpisodicMemory(),
            syntax=known.manual,
            rules=manual,
            adapts=beyond.adapt,
            follows=by_state.compat
            if beyond.adapt and condition.memory and not condition.rules
            else None,
            slack=beyond.slack or inf,
        ).prepared(),
        consistent=executable_from_here if by_needs else by_state,
        arbitrate=known.arbitrate if judged else partial(_JUDGEMENTS[beyond.judged_by], mode=mode),
        adviser=replace(
            adviser,
            how=replace(
                beyond,
                guidance=beyond.guidance and acts,
                menu=beyond.menu if condition.informed else 0,
                adapt=beyond.adapt and condition.memory,
                doubt=beyond.doubt and acts,
            ),
            tells=manual if acts else known.manual.bare(),
            plans=plans.of_tiers(condition.tiers) if plans is not None else None,
        ),
    )


def _worded_memory(memory: EpisodicMemory, condition: Condition) -> EpisodicMemory:
    """The memory in the words that a condition has it told in."""
    if condition.memory_words is MemoryWords.MANUAL:
        return memory
    return EpisodicMemory(map(as_observed, memory.entries), memory.world)


def without_outcomes(update: Update) -> Update:
    """f_UPD as in Section 3.1: what became of objects is not tracked."""

    def updated(belief: Belief, action: str | None, observation: str) -> Belief:
        return update(belief, action, observation).without_outcomes()

    return updated


def _worded(wording: Wording, condition: Condition) -> Wording:
    """A world's wording: with the example of choosing from a menu where there is one, silent
    where nothing is known.
    """
    choosing = condition.enforcement.menu > 0 and condition.informed and bool(wording.choosing)
    spoken = replace(wording, example=wording.choosing) if choosing else wording
    spoken = spoken.terse() if condition.belief is BeliefShown.PAPER else spoken
    return spoken if condition.informed else spoken.silent()
