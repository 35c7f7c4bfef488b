"""A world's own goal: it extends the goal of the library with fields of its own."""

from __future__ import annotations

from dataclasses import dataclass

from rpms.logic.goal import Goal


@dataclass(frozen=True)
class DeliveryGoal(Goal):
    """A goal with one field more."""

    sender: str = ""


def test_a_worlds_goal_is_made_by_position_as_before_goals_had_a_bound() -> None:
    goal = DeliveryGoal("deliver", "parcel", "", "harbour", "Bring the parcel.", "Ada")
    assert goal.sender == "Ada"
    assert goal.bound is None
    assert DeliveryGoal("deliver", bound=40.0).bound == 40.0
