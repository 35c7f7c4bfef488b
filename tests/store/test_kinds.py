"""Facts that a manual tells of kinds, and manuals that stand alone."""

from __future__ import annotations

import pytest

from rpms.logic.belief import FactBelief, Situation
from rpms.logic.errors import FileError
from rpms.logic.goal import Goal
from rpms.planning.reason import Reasoner
from rpms.planning.remedies import review
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

TEXT = """
predicates:
  at: {args: [place], exclusive: always}
  hot: {args: [object], no: <object> is cold}
  heats: {args: [object, place], yes: <place> heats <object>, no: <place> cannot heat <object>}
kinds:
  heats:
    yes: {apple: [microwave], egg: [microwave]}
    no: {apple: [desk]}
goals:
  warm: {over: {x: object}, holds: [hot(x)]}
environment:
  go: {syntax: go to <place>, preconditions: [not at(place)], effects: [at(place)]}
  heat: {syntax: heat <object> with <place>, preconditions: [at(place), "heats(object, place)"], effects: [hot(object)]}
"""
GOAL = Goal("warm", "apple")
BELIEF = FactBelief().learn(
    "not hot(apple 1)",
    "not at(_)",
    "at(desk 1)",
    place=["desk 1", "stove 1", "microwave 2"],
    object=["apple 1"],
)
RULES = read_manual(ManualText("kinds", TEXT)).active("warm", "apple")


@pytest.mark.parametrize(
    ("place", "refused"),
    [("desk 1", True), ("stove 1", False)],
    ids=["refused before", "never tried"],
)
def test_the_guard_refuses_kinds_that_never_worked_and_lets_unknown_ones_pass(
    place: str, refused: bool
) -> None:
    there = BELIEF.learn("not at(_)", f"at({place})")
    found = review(f"heat apple 1 with {place}", RULES, Situation(there, GOAL))
    assert (found is not None) is refused
    if found is not None:
        assert found.reason == "desk 1 cannot heat apple 1"


def test_plans_prefer_kinds_that_worked() -> None:
    plan = Reasoner(RULES).plan(Situation(BELIEF, GOAL))
    assert next(option.command for option in plan.options) == "go to microwave 2"


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("kinds: {flies: {yes: [apple]}}", "no predicate"),
        ("kinds: {heats: {yes: [apple]}}", "mapping"),
        ("kinds: {at: {yes: {desk: [a]}}}", "list of kinds"),
        ("kinds: {at: {yes: [desk], no: [desk]}}", "both yes and no"),
        ("alone: perhaps", "true or false"),
    ],
)
def test_mistakes_are_told_with_their_line(wrong: str, problem: str) -> None:
    with pytest.raises(FileError, match=problem):
        read_manual(
            ManualText(
                "kinds", f"predicates: {{at: {{args: [a]}}, heats: {{args: [a, b]}}}}\n{wrong}\n"
            )
        )


def test_a_manual_that_stands_alone_leaves_only_tier_1_of_the_others() -> None:
    first = ManualText("universal", "universal: {search: {U-ONE-001: Look around.}}")
    theirs = ManualText("world", "world: w\n" + TEXT + "localities: {apple: [desk]}\n")
    own = "world: w\nalone: true\npredicates: {at: {args: [place]}}\nenvironment: {go: {syntax: go to <place>}}\n"
    manual = read_manual(first, theirs, ManualText("own", own, own=True))
    assert [action.name for action in manual.actions] == ["go"]
    assert [rule.id for rule in manual.rules] == ["U-ONE-001"]
    assert not manual.lore.localities
    assert not manual.purposes
