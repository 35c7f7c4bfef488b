"""d_γ: how alike two goals are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz import fuzz

from rpms.core.errors import InputError
from rpms.core.goal import UNKNOWN_GOAL, GoalSignature


class Field(NamedTuple):
    """One field of two goals: what it adds to their likeness, and the most it could."""

    part: float
    weight: float


_NO_FIELD = Field(0.0, 0.0)


@dataclass(frozen=True)
class Similarity:
    """d_γ: how alike two goals are, field by field, from 0 to 1.

    A field that neither goal has says nothing: its weight goes to the other fields below the type.
    """

    type: float = 0.5
    """Weight of the same goal type, which alone must stay below θ."""
    object: float = 0.3
    state: float = 0.0
    """The state follows from the type in ALFWorld; ScienceWorld keeps its substance here."""
    destination: float = 0.2
    same_category: float = 0.6
    """Similarity of two objects of one category, such as a mug and a cup."""
    fuzzy: float = 0.85
    """Names that are spelled nearly alike count as much as they are alike; below this, not at all."""
    category: Callable[[str], str] = field(default=lambda name: name)
    """The category of an object or place, from the world's knowledge."""
    _known: dict[tuple[str, str], float] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not math.isclose(self.type + self.object + self.state + self.destination, 1.0):
            raise InputError("the weights of a similarity must add up to 1")

    def alike(self, one: str, other: str) -> float:
        """Similarity of two names: equal, of one category, or spelled alike."""
        if one == other:
            return 1.0
        known = self._known.get((one, other))
        if known is None:
            known = self._known[one, other] = self._compare(one, other)
        return known

    def _compare(self, one: str, other: str) -> float:
        if not one or not other:
            return 0.0
        if self.category(one) == self.category(other):
            return self.same_category
        return float(fuzz.ratio(one, other, score_cutoff=100 * self.fuzzy) / 100)

    def __call__(self, goal: GoalSignature, other: GoalSignature) -> float:
        if UNKNOWN_GOAL in (goal.type, other.type):
            return 0.0  # nothing is known of an unknown goal, least of all that it is like another
        return self.type * (goal.type == other.type) + self.below_type(
            self.field(self.object, goal.object, other.object),
            self.field(self.state, goal.state, other.state),
            self.field(self.destination, goal.destination, other.destination),
        )

    def field(self, weight: float, one: str, other: str) -> Field:
        """The contribution of one field, and its weight."""
        return Field(weight * self.alike(one, other), weight) if weight and (one or other) else _NO_FIELD

    def below_type(self, *fields: Field) -> float:
        """Sum of the fields below the type; its maximum if there are none."""
        most, weights = 1.0 - self.type, sum(field.weight for field in fields)
        return most * sum(field.part for field in fields) / weights if weights else most
