"""Conditions of the experiments, composed of neutral elements: nothing in a step asks which one it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rpms.core.arbitration import Arbitration
from rpms.core.belief import Belief
from rpms.core.consistency import Compat, accept_everything, same_occupancy
from rpms.core.decide import Mind, Update
from rpms.core.errors import InputError
from rpms.core.goal import Goal, Progress
from rpms.core.prompt import Budget, Layout
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import RuleManual
from rpms.core.voice import Voice


@dataclass(frozen=True)
class Condition:
    """What of RPMS is switched on."""

    rules: bool = True
    memory: bool = True
    arbitration: Arbitration = Arbitration.HARD_SOFT
    state_filter: bool = True
    layout: Layout = Layout.CACHED


BASELINE = Condition(rules=False, memory=False)
RULES_ONLY = Condition(memory=False)
MEMORY_ONLY = Condition(rules=False)
FULL = Condition()

CONDITIONS = {"baseline": BASELINE, "rules-only": RULES_ONLY, "memory-only": MEMORY_ONLY, "full": FULL}
"""The 2x2 ablation: (A), (B), (C) and (D)."""


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


def compose(condition: Condition, knowledge: Knowledge, memory: EpisodicMemory) -> Mind:
    """Put a neutral element in place of everything that a condition leaves out.

    Goal and belief are shown whenever rules or memory are on; arbitration needs rules and is off without them.
    """
    informed = condition.rules or condition.memory
    return Mind(
        update=knowledge.update,
        progress=knowledge.progress,
        voice=knowledge.voice if informed else knowledge.voice.silent(),
        manual=knowledge.manual if condition.rules else RuleManual(),
        memory=memory if condition.memory else EpisodicMemory(),
        compat=knowledge.compat if condition.state_filter else accept_everything,
        arbitration=condition.arbitration if condition.rules else Arbitration.NONE,
        retrieval=knowledge.retrieval,
        layout=condition.layout,
        budget=knowledge.budget,
    )
