"""Numbers that others printed: the paper's tables, and its Tables 9 and 10 of other methods.

They may stand beside measured ones, each row marked as published; nothing here is ever averaged with, tested against
or plotted as a measurement. Values are as printed, to the digit, contradictions included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "RPMS: Enhancing LLM-Based Embodied Planning through Rule-Augmented Memory Synergy"


@dataclass(frozen=True, slots=True)
class PublishedMethod:
    """One line of Tables 9 and 10: a method as its own authors reported it."""

    name: str
    backbone: str
    regime: str
    setting: str
    """Trials in Table 9, split in Table 10."""
    reference: str
    value: str
    """As printed: a number, a pair or a range."""


@dataclass(frozen=True, slots=True)
class MainResult:
    """One line of the main table: success in per cent on 134 unseen tasks."""

    model: str
    baseline: float
    full: float


MAIN = (
    MainResult("Llama 3.1 8B", 35.8, 59.7),
    MainResult("Llama 3.1 70B", 72.4, 88.1),
    MainResult("Claude Sonnet 4.5", 86.6, 98.5),
)
SETTINGS: Mapping[str, str] = {
    "alfworld": "Llama 3.1 8B where no model is named, 134 unseen games, one attempt each",
    "scienceworld": "GPT-4, 241 episodes of 26 tasks",
}
"""Tasks and models of the paper's own numbers, by world."""
TASKS = 134
WON: Mapping[str, int] = {"baseline": 48, "memory-only": 55, "rules-only": 68, "full": 80}
"""The 2x2 on ALFWorld with Llama 3.1 8B, of 134."""
PER_TYPE: Mapping[str, Mapping[str, float]] = {
    "baseline": {"Look": 55.6, "Place": 33.3, "Clean": 29.0, "Cool": 42.9, "Heat": 30.4, "Two": 29.4},
    "memory-only": {"Look": 11.1, "Place": 70.8, "Clean": 38.7, "Cool": 52.4, "Heat": 26.1, "Two": 41.2},
    "rules-only": {"Look": 33.3, "Place": 75.0, "Clean": 41.9, "Cool": 61.9, "Heat": 52.2, "Two": 35.3},
    "full": {"Look": 66.7, "Place": 79.2, "Clean": 54.8, "Cool": 47.6, "Heat": 65.2, "Two": 41.2},
}
ARBITRATION: Mapping[str, int] = {"none": 64, "soft": 71, "hard": 74, "hard+soft": 80}
"""Won of 134, by mode."""
SCIENCEWORLD: Mapping[str, float] = {"baseline": 44.9, "memory-only": 46.0, "rules-only": 51.3, "full": 54.0}
"""Average score with GPT-4 over 241 episodes."""
STEPS: Mapping[str, tuple[float, float]] = {
    "baseline": (37.3, 14.6),
    "memory-only": (35.1, 13.8),
    "rules-only": (32.1, 14.7),
    "full": (30.9, 14.0),
}
"""Average steps over all and over won tasks."""
FAILURES: Mapping[str, Mapping[str, int]] = {
    "Timeout (50 steps)": {"baseline": 86, "memory-only": 79, "rules-only": 27, "full": 18},
    "Env-done (wrong)": {"baseline": 0, "memory-only": 0, "rules-only": 39, "full": 36},
}
LEARNING = (
    ("R0 (no mem)", 0, 35.8, 50.7),
    ("R1", 223, 38.8, 53.0),
    ("R2", 331, 41.8, 54.5),
    ("R3", 449, 42.5, 56.0),
)
"""Round, entries, Mem-only and Rules+Mem in per cent. The text says 233 where the table says 223."""
DISCORDANT: Mapping[tuple[str, str], tuple[int, int, float]] = {
    ("baseline", "rules-only"): (36, 16, 0.008),
    ("baseline", "full (soft)"): (43, 20, 0.006),
    ("memory-only", "full (soft)"): (37, 21, 0.049),
    ("rules-only", "full (soft)"): (28, 25, 0.783),
}
"""n01, n10 and the printed p-value, which is called exact and is the continuity-corrected one."""

ALFWORLD_METHODS = (
    PublishedMethod("BUTLER8", "Trained policy (IL / seq2seq)", "Trained", "best-of-8", "Shridhar et al. 2020", "37"),
    PublishedMethod(
        "ReAct", "PaLM-540B / text-davinci-002", "Prompt-only", "single-run", "Yao et al. 2023", "70.9/78.4"
    ),
    PublishedMethod(
        "Reflexion", "GPT-3.5", "Prompt-only (iterative reflection)", "11 iter.", "Shinn et al. 2023", "97"
    ),
    PublishedMethod("RAFA", "GPT-4", "Prompt-only (iterative replanning)", "8 iter.", "Liu et al. 2023", "99"),
    PublishedMethod("A3T", "Trained (self-training)", "Trained", "single-run", "Yang et al. 2024", "86–96"),
    PublishedMethod("RPMS (paper)", "Llama-3.1-8B", "Prompt-only (rule+mem)", "single-run", "the paper", "59.7"),
    PublishedMethod("RPMS (paper)", "Llama-3.1-70B", "Prompt-only (rule+mem)", "single-run", "the paper", "88.1"),
    PublishedMethod("RPMS (paper)", "Claude Sonnet 4.5", "Prompt-only (rule+mem)", "single-run", "the paper", "98.5"),
)
"""Table 9: success rate in per cent."""
SCIENCEWORLD_METHODS = (
    PublishedMethod("SwiftSage: ReAct", "GPT-4", "Prompt-only (few-shot)", "30 tasks", "Lin et al. 2023", "36.4"),
    PublishedMethod(
        "SwiftSage: Reflexion", "GPT-4", "Prompt-only (iterative reflection)", "30 tasks", "Lin et al. 2023", "45.3"
    ),
    PublishedMethod("Retrospex: IL-T5", "Flan-T5-large", "Trained (IL)", "30 tasks", "Xiang et al. 2024", "48.8"),
    PublishedMethod("Retrospex", "Flan-T5-large + RL", "Trained (IL+RL)", "30 tasks", "Xiang et al. 2024", "56.0"),
    PublishedMethod("CLIN", "GPT-4", "Continual memory update", "30 tasks", "Majumder et al. 2024", "59.8"),
    PublishedMethod(
        "SwiftSage", "SWIFT + SAGE (GPT-4)", "Hybrid (BC + prompting)", "30 tasks", "Lin et al. 2023", "84.7"
    ),
    PublishedMethod(
        "RPMS (paper)",
        "GPT-4",
        "Prompt-only (rule+mem)",
        "26 tasks, up to 10 var. (241 ep.)",
        "the paper",
        "54.0",
    ),
)
"""Table 10: average score, 0 to 100."""
