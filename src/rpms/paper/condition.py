"""Conditions of the experiments: which parts of RPMS are on. `compose` makes a mind of one."""

from dataclasses import dataclass
from enum import StrEnum

from rpms.logic.errors import InputError, nearest
from rpms.logic.rules import Tier
from rpms.paper.arbitration import Arbitration
from rpms.paper.enforcement import PAPER, Calls, Enforcement, Repair
from rpms.paper.prompt import Form, Layout


class MemoryWords(StrEnum):
    """The words of lessons and verified schemas."""

    MANUAL = "manual"
    """The stored words: with the needs and effects that the manual has for the action."""
    OBSERVED = "observed"
    """Only what was observed: the action, the world's answer, and how often it worked."""


class BeliefShown(StrEnum):
    """The part of the belief that a prompt shows."""

    PAPER = "paper"
    """The paper's listings: place, hand and open containers; room, inventory and progress."""
    EXTENDED = "extended"
    """Also where things were seen, which places were not searched yet, and the known states of
    objects."""


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
        """True if rules or memory are on. Then goal and belief are shown, too."""
        return self.rules or self.memory


BASELINE = Condition(rules=False, memory=False)
RULES_ONLY = Condition(memory=False)
MEMORY_ONLY = Condition(rules=False)
FULL = Condition()

ABLATION = {"A": "baseline", "B": "rules-only", "C": "memory-only", "D": "full"}
"""The 2x2 ablation, by the paper's letters."""
CONDITIONS = {
    "baseline": BASELINE,
    "rules-only": RULES_ONLY,
    "memory-only": MEMORY_ONLY,
    "full": FULL,
}
"""Conditions by name: those of the ablation, and any that are added to them."""
LATER = ("full", "rules-only")
"""The conditions that rounds of learning after the first may have."""


def named_condition(name: str) -> Condition:
    """Find a condition by its name or the paper's letter."""
    found = CONDITIONS.get(ABLATION.get(name, name))
    if found is None:
        raise InputError(f"{name!r} is no condition; {nearest(name, CONDITIONS)}")
    return found
