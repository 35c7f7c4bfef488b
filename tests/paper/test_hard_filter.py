"""The hard filter removes what breaks a rule where and in the order it was learned, nothing
that is only elsewhere.
"""

from __future__ import annotations

import pytest

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.goal import Goal
from rpms.paper.arbitration import Arbitration, judge
from rpms.paper.memory import SuccessSnippet
from rpms.paper.verdict import Fate
from rpms.play.settings import Settings
from rpms.play.sources import manual_of
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
MANUAL = manual_of(WORLD, Settings().sources(WORLD).manual)
TAKE = ("go to shelf 1", "take mug 1 from shelf 1")


def verdict(kind: str, state: str, *actions: str, mode: Arbitration = Arbitration.HARD):
    names = {"heat": ("hot", "cabinet"), "cool": ("cool", "cabinet"), "look": ("", "desklamp")}
    types = {"look": "look_at_obj_in_light"}
    goal = Goal(types.get(kind, f"pick_{kind}_then_place_in_recep"), "mug", *names[kind])
    snippet = SuccessSnippet(goal.signature, StateSignature.parse(state), "done", actions)
    rules = MANUAL.active(goal.type, goal.object, goal.destination)
    return judge(snippet, rules, Situation(WORLD.start(goal), goal), mode)


@pytest.mark.parametrize(
    ("kind", "state", "actions", "rule"),
    [
        (
            "cool",
            "holding=none",
            (*TAKE, "go to fridge 1", "open fridge 1", "put mug 1 in/on fridge 1"),
            "D-COOL-001",
        ),
        (
            "heat",
            "holding=none",
            (*TAKE, "go to cabinet 1", "put mug 1 in/on cabinet 1"),
            "D-TRANS-003",
        ),
        (
            "look",
            "holding=none",
            ("go to desk 1", "use desklamp 1", "take mug 1 from desk 1"),
            "D-EXAM-001",
        ),
        ("heat", "holding=none", ("go to fridge 1", "take mug 1 from shelf 1"), "E-TAKE"),
        ("heat", "holding=mug 2", TAKE, "E-TAKE"),
        ("heat", "holding=none", ("go to microwave 1", "heat mug 1 with microwave 1"), "E-HEAT"),
        ("heat", "holding=none", (*TAKE, "take mug 1 from shelf 1"), "E-TAKE"),
    ],
)
def test_what_breaks_a_rule_where_it_was_learned_is_removed(kind, state, actions, rule):
    found = verdict(kind, state, *actions)
    assert (found.fate, found.rule) == (Fate.DROPPED, rule)
    assert verdict(kind, state, *actions, mode=Arbitration.NONE).fate is Fate.KEPT


@pytest.mark.parametrize(
    ("kind", "state", "actions"),
    [
        ("heat", "holding=none", (*TAKE, "go to microwave 1", "heat mug 1 with microwave 1")),
        (
            "heat",
            "holding=none",
            ("open fridge 1", *TAKE, "go to microwave 1", "heat mug 1 with microwave 1"),
        ),
        ("look", "holding=none", (*TAKE, "go to desk 1", "use desklamp 1")),
        ("cool", "holding=none|location=drawer 1", ("open drawer 2", "take mug 1 from drawer 2")),
    ],
)
def test_what_is_only_elsewhere_stays(kind, state, actions):
    assert verdict(kind, state, *actions).fate is Fate.KEPT
