"""Nothing is known of a parameter without a name: such a line is unknown, not false."""

from __future__ import annotations

from rpms.logic.belief import Situation
from rpms.logic.facts import Truth
from rpms.play.sources import manual_of
from rpms.worlds.registry import find_world

_WORLD = find_world("alfworld")
_OPENING = (
    "You are in the middle of a room. Looking quickly around you, you see a fridge 1.\n\n"
    "Your task is to: cool some apple and put it in fridge."
)


def test_needs_and_bans_that_were_not_bound_are_unknown():
    goal = _WORLD.goal(_OPENING)
    belief = _WORLD.update(_WORLD.start(goal), None, _OPENING)
    situation = Situation(belief, goal)
    rules = manual_of(_WORLD).active(goal.type, goal.object, goal.destination)
    asked = 0
    for schema in rules.environment:
        for need in rules.needs_of(schema):
            if any(literal.parameters for literal in need.literals):
                asked += 1
                assert need.truth(situation) is not Truth.FALSE, f"{schema.name}: {need}"
                bound = need.bind(dict.fromkeys(schema.parameters, "fridge 1"))
                assert not any(literal.parameters for literal in bound.literals)
    assert asked
    take = next(schema for schema in rules.environment if schema.name == "take")
    held = next(need for need in rules.needs_of(take) if "at(" in str(need))
    assert held.truth(situation) is Truth.UNKNOWN
    assert held.truth(situation, dict.fromkeys(take.parameters, "fridge 1")) is Truth.FALSE
