"""Changes are foretold by processes too, as far as their needs are known or listed."""

from __future__ import annotations

import pytest

from rpms.logic.belief import FactBelief, Situation
from rpms.logic.goal import Goal
from rpms.planning.noticed import SurpriseKind
from rpms.planning.surprise import compare
from rpms.planning.trust import UNSHAKEN
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

KITCHEN = """\
world: kitchen
predicates:
  cooked: {args: [food]}
  does: {args: [heater, manner]}
  wants: {args: [food, manner]}
  on: {args: [heater]}
facts:
  does: {stove: [fry], oven: [roast]}
goals:
  cook: {over: {x: object}, holds: [cooked(x)]}
processes:
  heat:
    command: cook <food> in <heater>
    needs: ["wants(food, manner)", "does(heater, manner)", on(heater)]
    effects: [cooked(food)]
environment:
  cook:
    syntax: cook <food> in <heater>
"""
BEFORE = ("not cooked(egg)", "wants(egg, fry)", "not wants(egg, roast)")


@pytest.mark.parametrize(
    ("heater", "known", "kinds"),
    [
        ("stove", ["on(stove)"], []),
        ("stove", [], []),  # perhaps it was on
        ("stove", ["not on(stove)"], [SurpriseKind.CHANGED]),
        ("oven", ["on(oven)"], [SurpriseKind.CHANGED]),  # roasts, and the egg is to be fried
    ],
)
def test_a_change_is_a_surprise_only_where_no_process_can_have_brought_it(heater, known, kinds):
    rules = read_manual(ManualText("kitchen.yaml", KITCHEN)).active("cook")
    goal = Goal("cook", "egg")
    names = {"food": ["egg"], "heater": ["stove", "oven"], "manner": ["fry", "roast"]}
    belief = FactBelief().learn(*BEFORE, *known, **names)
    before = Situation(belief, goal)
    after = Situation(belief.learn("cooked(egg)"), goal)
    noticed = compare(UNSHAKEN, rules, before, f"cook egg in {heater}", after, refused=False)
    assert [one.kind for one in noticed.surprises] == kinds


WARM_KITCHEN = """\
world: kitchen
predicates:
  cooked: {args: [food]}
  wants: {args: [food, manner]}
  on: {args: [heater]}
goals:
  cook: {over: {x: object}, holds: [cooked(x)]}
processes:
  heat:
    command: cook <food>
    needs: ["wants(food, manner)", on(heater)]
    effects: [cooked(food)]
environment:
  cook:
    syntax: cook <food>
"""


def test_a_process_is_found_among_more_things_than_can_all_be_combined():
    rules = read_manual(ManualText("kitchen.yaml", WARM_KITCHEN)).active("cook")
    goal = Goal("cook", "egg")
    heaters = [f"heater {number}" for number in range(30)]
    manners = [f"manner {number}" for number in range(30)]
    cold = [f"not on({heater})" for heater in heaters[:-1]]
    unwanted = [f"not wants(egg, {manner})" for manner in manners[:-1]]
    belief = FactBelief().learn(
        "not cooked(egg)",
        *(*cold, "on(heater 29)"),
        *(*unwanted, "wants(egg, manner 29)"),
        food=["egg"],
        heater=heaters,
        manner=manners,
    )
    before = Situation(belief, goal)
    after = Situation(belief.learn("cooked(egg)"), goal)
    noticed = compare(UNSHAKEN, rules, before, "cook egg", after, refused=False)
    assert noticed.surprises == ()


GARDEN = """\
world: garden
predicates:
  ripe: {}
  kept: {args: [plant]}
  wet: {args: [pot]}
goals:
  grow: {over: {x: object}, holds: [ripe, kept(x)]}
processes:
  ripen: {command: wait, effects: [ripe]}
environment:
  look: {syntax: look around}
  water: {syntax: water <pot>, effects: [wet(pot)]}
  wait: {syntax: wait}
"""


@pytest.mark.parametrize(
    ("command", "kinds"), [("look around", []), ("water pot 1", [SurpriseKind.CHANGED])]
)
def test_a_look_may_show_what_a_process_brought_about_meanwhile(command, kinds):
    rules = read_manual(ManualText("garden.yaml", GARDEN)).active("grow")
    goal = Goal("grow", "apple")
    belief = FactBelief().learn("not ripe", pot=["pot 1"])
    before = Situation(belief, goal)
    after = Situation(belief.learn("ripe", "wet(pot 1)"), goal)
    noticed = compare(UNSHAKEN, rules, before, command, after, refused=False)
    assert [one.kind for one in noticed.surprises] == kinds
