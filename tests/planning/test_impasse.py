"""If no plan reaches a goal, the reason names the need and what it lacks."""

from __future__ import annotations

import pytest

from rpms.logic.belief import FactBelief, Situation
from rpms.logic.goal import Goal
from rpms.planning.reason import reasoner_of
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

MANUAL = """\
world: box
predicates:
  holding: {args: [thing], yes: you hold the <thing>}
  here: {args: [thing], yes: the <thing> is here}
  locked: {args: [place], yes: the <place> is locked}
  fits: {args: [key, place], yes: the <key> fits the <place>}
goals:
  lock: {over: {x: object}, holds: [locked(x)]}
environment:
  take: {syntax: take <thing>, preconditions: [here(thing)], effects: [holding(thing)]}
  lock:
    syntax: lock <place> with <key>
    preconditions: [holding(key), "fits(key, place)", not locked(place)]
    effects: [locked(place)]
"""


def impasse(goal: Goal, *facts: str, **things: list[str]) -> str:
    rules = read_manual(ManualText("manual.yaml", MANUAL)).active(goal.type, goal.object)
    return reasoner_of(rules).impasse(Situation(FactBelief().learn(*facts, **things), goal))


LOCK = Goal("lock", "box")
SHUT = "not locked(box)"


@pytest.mark.parametrize(
    ("facts", "things", "reason"),
    [
        (
            (SHUT,),
            {"place": ["box"]},
            "the box is locked ← lock: nothing is known that could be its <key>",
        ),
        (
            (SHUT, "fits(pin, box)", "not holding(pin)"),
            {"place": ["box"], "key": ["pin"]},
            "the box is locked ← lock: you hold the pin ← take: 'pin' is known, but not as a <thing>",
        ),
        (
            (SHUT, "fits(pin, box)", "not holding(pin)", "not here(pin)"),
            {"place": ["box"], "key": ["pin"], "thing": ["pin"]},
            (
                "the box is locked ← lock ← you hold the pin ← take: "
                "the pin is here: it is not so, and no action changes that"
            ),
        ),
        (
            (SHUT, "not fits(_, box)"),
            {"place": ["box"], "key": ["pin", "rod"], "thing": ["pin", "rod"]},
            "the box is locked ← lock: fits(key, box) is false of every <key>",
        ),
    ],
)
def test_the_reason_names_the_need(
    facts: tuple[str, ...], things: dict[str, list[str]], reason: str
):
    assert impasse(LOCK, *facts, **things) == reason


def test_a_goal_that_the_manual_lacks_is_named():
    assert impasse(Goal("dance")) == "the manual has no goal of type 'dance'"


def test_facts_that_need_each_other_are_asked_about_once():
    letters = "abcdefghijklmnopqrst"
    predicates = "".join(f"  {one}: {{args: [thing], yes: <thing> is {one}}}\n" for one in letters)
    needs = {one: (letters + letters)[place + 1 : place + 7] for place, one in enumerate(letters)}
    actions = "".join(
        f"  make_{one}: {{syntax: make {one} of <thing>, preconditions: "
        f"[{', '.join(f'{other}(thing)' for other in others)}], effects: [{one}(thing)]}}\n"
        for one, others in needs.items()
    )
    goals = "goals:\n  be: {over: {x: object}, holds: [a(x)]}\n"
    text = f"world: box\npredicates:\n{predicates}{goals}environment:\n{actions}"
    rules = read_manual(ManualText("manual.yaml", text)).active("be", "box")
    belief = FactBelief().learn(*(f"not {one}(box)" for one in letters), thing=["box"])
    assert reasoner_of(rules).impasse(Situation(belief, Goal("be", "box"))).startswith("box is a")
