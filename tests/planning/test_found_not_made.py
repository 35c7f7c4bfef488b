"""A thing that nobody has seen is looked for: no mug is put down to be taken."""

from __future__ import annotations

from math import inf

import pytest

from rpms.logic.belief import FactBelief, Situation
from rpms.logic.goal import Goal
from rpms.planning.reason import reasoner_of
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

MANUAL = """\
world: kitchen
predicates:
  at: {{args: [place], exclusive: always}}
  holding: {{args: [object]}}
  in: {{args: [object, place]}}
goals:
  store: {{over: {{x: object, p: destination}}, holds: ['in(x, p)']}}
environment:
  go:
    syntax: go to <place>
    effects: [at(place)]
    observes: ["in(_, place)"]
  take:
    syntax: take <object> from <place>
    preconditions: [at(place), "in(object, place)"]
    effects: [holding(object), "not in(object, place)"]
  put:
    syntax: put <object> in <place>
    {needs}
    effects: ["in(object, place)", not holding(object)]
"""


@pytest.mark.parametrize(
    "needs",
    [
        "preconditions: [at(place), holding(object)]",
        "preconditions: [at(place)]\n    plan: [holding(object)]",
    ],
)
def test_what_plans_see_to_is_needed_as_much_as_what_the_guard_asks_for(needs: str) -> None:
    manual = read_manual(ManualText("kitchen.yaml", MANUAL.format(needs=needs)))
    goal = Goal("store", "mug", destination="shelf")
    belief = FactBelief().learn(
        "at(desk)", "not in(_, desk)", "not holding(_)", place=["desk", "shelf", "rack"]
    )
    plan = reasoner_of(manual.active(goal.type)).plan(Situation(belief, goal))
    assert plan.cost < inf
    assert {option.command for option in plan.options} == {"go to shelf", "go to rack"}


WALKS = """\
world: rooms
predicates:
  at: {args: [room], exclusive: always}
  seen: {args: [room]}
  goal: {}
goals:
  tour: {over: {}, holds: [goal]}
environment:
  go:
    syntax: go to <room>
    effects: [at(room), seen(room)]
  ring:
    syntax: ring
    preconditions: ['seen("attic")']
    effects: [goal]
"""


def test_predicates_may_have_any_name_even_one_that_planning_thinks_in() -> None:
    manual = read_manual(ManualText("rooms.yaml", WALKS))
    belief = FactBelief().learn("at(hall)", "not seen(attic)", "not goal", room=["hall", "attic"])
    plan = reasoner_of(manual.active("tour")).plan(Situation(belief, Goal("tour")))
    assert plan.cost == 2
    assert [option.command for option in plan.options] == ["go to attic"]
