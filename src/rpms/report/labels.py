"""Labels of task types and conditions in tables and figures."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_LABELS: Mapping[str, str] = {
    "look_at_obj_in_light": "Look",
    "pick_and_place_simple": "Place",
    "pick_clean_then_place_in_recep": "Clean",
    "pick_cool_then_place_in_recep": "Cool",
    "pick_heat_then_place_in_recep": "Heat",
    "pick_two_obj_and_place": "Two",
}
"""ALFWorld's task types in the order and with the names of the paper's table."""

CONDITION_LABELS: Mapping[str, str] = {
    "baseline": "Baseline",
    "rules-only": "Rules-only",
    "memory-only": "Memory-only",
    "full": "Full RPMS",
}
ARBITRATION_LABELS: Mapping[str, str] = {
    "none": "None",
    "soft": "Soft-only",
    "hard": "Hard-only",
    "hard+soft": "Hard+Soft",
}

ENFORCED = " + "
"""Stands between a condition of the paper and what is enforced beyond it."""


def type_label(kind: str) -> str:
    """A task type as tables name it."""
    return TYPE_LABELS.get(kind, kind)


def condition_label(name: str) -> str:
    """A condition as tables name it."""
    base, plus, rest = name.partition(ENFORCED)
    return CONDITION_LABELS.get(base, base) + plus + rest
