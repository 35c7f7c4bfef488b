"""Doubt where the manual is sound: what nobody has seen yet is looked for, and nothing is doubted."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import NamedTuple

import pytest

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import PAPER, STRICT, Enforcement, with_part
from rpms.paper.episode import Episode, Step
from rpms.paper.recall import EpisodicMemory
from rpms.planning import plan_with_doubts, search
from rpms.planning.advice import plan_of
from rpms.planning.edges import Edge
from rpms.planning.effort import Effort
from rpms.planning.facts_at_stake import wanted_facts
from rpms.planning.noticed import SurpriseKind
from rpms.planning.plan_graph import Plan
from rpms.planning.plan_with_doubts import NOT_ALL_WEIGHED
from rpms.planning.reason import Reasoner
from rpms.planning.search import Reached, Search
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.play.understanding import Understood
from rpms.worlds.alfworld import world as alfworld
from rpms.worlds.base import Setting, World
from tests.planning import maze


def played(world: World, task: str, *, doubt: bool, old: str = "", new: str = "") -> Episode:
    """Play a task by its plans, with a line of the manual changed."""

    class Changed(type(world)):  # type: ignore[misc]
        def manual(self):
            pages = super().manual()
            assert sum(old in text for _, text in pages) == 1 or not old
            return tuple((name, text.replace(old, new)) for name, text in pages)

    changed = Changed()
    condition = replace(RULES_ONLY, enforcement=with_part(STRICT, "doubt", doubt))
    mind = compose(condition, knowledge_of(changed), EpisodicMemory())
    (found,) = [one for one in changed.tasks(changed.splits[0], Setting()) if one.id == task]
    player = Player(changed, mind, open_model("planner"), Decoding())
    return play(Play(player, changed.open(found, Setting()), found, changed.step_budget))


@pytest.mark.parametrize("task", maze.MAZES)
def test_where_nothing_has_a_name_yet_exploring_comes_before_doubting(task):
    trusting = played(maze.world, task, doubt=False)
    doubting = played(maze.world, task, doubt=True)
    assert trusting.won
    assert [step.command for step in doubting.steps] == [step.command for step in trusting.steps]
    assert not any(step.surprises for step in doubting.steps)


TAKE = '[at(place), hand_empty, "in(object, place)", not closed(place), movable(object)]'
NEVER_TAKE = '[at(place), hand_empty, "in(object, place)", closed(place), not movable(object)]'


@pytest.mark.parametrize("kind", ["pick_cool_then_place_in_recep", "pick_two_obj_and_place"])
def test_a_plan_against_two_lines_is_found_behind_hundreds_of_cheaper_doubts(kind):
    """Nothing can be taken but what cannot be moved, from what is closed."""
    assert played_against_two_lines(kind).won


def played_against_two_lines(kind: str) -> Episode:
    """A game of a kind, with a manual that has two wrong needs of taking."""
    task = next(one for one in alfworld.tasks("builtin", Setting()) if one.type == kind)
    return played(alfworld, task.id, doubt=True, old=TAKE, new=NEVER_TAKE)


def test_what_a_bound_cuts_is_said_in_the_step_and_in_its_menu(monkeypatch):
    monkeypatch.setattr(search, "EXPANDED", 20)
    episode = played_against_two_lines("pick_cool_then_place_in_recep")
    cut = [step.decision for step in episode.steps if plan_of(step.decision).cut]
    assert cut
    for decision in cut:
        best = plan_of(decision).options[0]
        assert NOT_ALL_WEIGHED in best.evidence
        said = [item.reason for item in decision.menu.items if item.command == best.command]
        assert any(NOT_ALL_WEIGHED in reason for reason in said)


def test_stranded_is_said_once_nothing_is_left_to_look_at():
    """The coin cannot be taken by any line: no room that is found could change that."""
    lost = played(maze.world, "row", doubt=True, old="effects: [holding(thing)]", new="effects: []")
    assert lost.steps[0].surprises[0].kind == SurpriseKind.STRANDED


class Towards(NamedTuple):
    """What became of a game whose goal is misread."""

    steps: list[Step]
    given_up: str
    """The reason that nothing was left to do; empty where all steps were played."""


def steps_towards(named: str = "", **misread: str) -> list[Step]:
    """The steps of a game, the first that is named so, whose goal is misread."""
    return played_towards(named, **misread).steps


def played_towards(
    named: str = "", enforcement: Enforcement = STRICT, model: str = "planner", **misread: str
) -> Towards:
    """Play a game, the first that is named so, whose goal is misread, as long as anything is left
    to do.
    """
    condition = replace(RULES_ONLY, enforcement=enforcement)
    mind = compose(condition, knowledge_of(alfworld), EpisodicMemory())
    player = Player(alfworld, mind, open_model(model), Decoding())
    tasks = alfworld.tasks("builtin", Setting())
    task = next(one for one in tasks if named in one.id)
    game = alfworld.open(task, Setting())
    outcome = game.reset()
    goal = replace(alfworld.goal(outcome.observation), **misread)
    course = player.begin(Understood(goal))
    given_up = ""
    for _ in range(alfworld.step_budget):
        move = player.choose(course, outcome.observation, task.id)
        given_up = player.gives_up(move)
        if given_up:
            break
        outcome = game.step(move.command)
        course = player.after(course, move, outcome)
    game.close()
    return Towards(list(course.steps), given_up)


def doubts_in(steps: list[Step]) -> list[str]:
    """All lines that the plans of some steps go against."""
    found: list[str] = []
    for step in steps:
        for option in plan_of(step.decision).options:
            found += [link.doubt for link in option.chain if link.doubt]
    return found


@pytest.mark.parametrize("enforcement", [STRICT, with_part(STRICT, "doubt", False), PAPER])
def test_a_goal_whose_object_is_nowhere_ends_once_every_place_is_searched(enforcement):
    """Facts that nobody knows of other things cannot serve it, and no line is doubted."""
    steps, given_up = played_towards(enforcement=enforcement, object="trumpet")
    assert given_up == "no trumpet is in any place here"
    assert all(step.command.startswith(("go to ", "open ")) for step in steps)
    assert len({step.command for step in steps}) == len(steps)
    assert not [surprise for step in steps[:-1] for surprise in step.surprises]
    assert not doubts_in(steps)


def test_where_a_goals_object_is_nowhere_who_may_know_better_is_offered_what_was_never_tried():
    """A program that chooses from menus goes on until there is none."""
    searched = len(steps_towards(object="trumpet"))
    steps, given_up = played_towards(model="menu-best", object="trumpet")
    assert given_up == "no trumpet is in any place here"
    assert len(steps) > searched
    assert all(step.decision.menu.choices for step in steps)
    offered = [item.reason for item in steps[searched].decision.menu.items]
    assert offered
    assert all("never tried" in reason for reason in offered)


def test_a_destination_that_the_room_does_not_have_is_said_at_once_and_no_line_is_doubted():
    """The opening names every place, so nothing is gained by looking for one more."""
    steps, given_up = played_towards(destination="bathtubbasin")
    assert [one.kind for one in steps[0].surprises] == [SurpriseKind.STRANDED]
    assert given_up == "no bathtubbasin is in any place here"
    assert not doubts_in(steps)


@pytest.mark.parametrize("enforcement", [STRICT, with_part(STRICT, "doubt", False), PAPER])
def test_where_two_things_are_wanted_and_one_is_found_it_ends_once_every_place_is_searched(
    enforcement,
):
    steps, given_up = played_towards(
        "pick_two_obj_and_place-Spatula",
        enforcement,
        object="soapbottle",
        destination="countertop",
    )
    assert given_up == "no other soapbottle is in any place here"
    assert len({step.command for step in steps}) == len(steps)
    assert all(step.command.startswith(("go to ", "open ")) for step in steps)
    assert not doubts_in(steps)


HOT_IN_A_BEDROOM = {
    "type": "pick_heat_then_place_in_recep",
    "state": "hot",
    "destination": "desk",
}
"""A goal in a room in which nothing can be heated: no stated plan is left once all is searched."""


def test_a_search_stops_at_its_bound_where_there_is_no_plan(monkeypatch):
    spent: dict[Search, int] = {}
    bound = 100

    def reaches(searching: Search, edges: list[Edge], most: float) -> Reached:
        before = searching._ways.effort.spent - searching._begun
        reached = once(searching, edges, most)
        after = searching._ways.effort.spent - searching._begun
        if before > bound:  # spent on looks already
            assert after == before
        elif not reached.found:
            spent[searching] = after
        return reached

    once = Search._reaches_with_doubts
    monkeypatch.setattr(Search, "_reaches_with_doubts", reaches)
    monkeypatch.setattr(search, "EXPANDED", bound)
    monkeypatch.setattr(plan_with_doubts, "EXPANDED", bound)
    monkeypatch.setattr(plan_with_doubts, "FURTHER", 1)
    monkeypatch.setattr(plan_with_doubts, "Effort", lambda: Effort(allowed=bound))
    steps_towards("look_at_obj_in_light-AlarmClock", **HOT_IN_A_BEDROOM)
    assert len([effort for effort in spent.values() if effort > bound]) > 3
    assert max(spent.values()) < 2 * bound


def prices_of_doubts(rules: ActiveRules) -> frozenset[tuple[str, float]]:
    """The steps that each doubt costs."""
    doubts = [doubt for each in rules.lore.doubts for doubt in each.doubts]
    assert rules.lore.hopes is not None
    for sort in wanted_facts(rules):
        doubts += [given.action for given in rules.lore.hopes.giving(sort)]
    return frozenset((doubt.schema.doubt, doubt.steps) for doubt in doubts)


def test_hopes_are_known_by_their_roles_before_they_are_made(monkeypatch):
    checked: set[tuple[str, bool]] = set()

    def plan(reasoner: Reasoner, situation: Situation, *given: object, **named: object) -> Plan:
        hopes = reasoner.rules.lore.hopes
        if hopes is not None:
            for sort in wanted_facts(reasoner.rules):
                roles = {(one.variables, one.effect) for one in hopes.hoped_of(sort)}
                assert roles == {(one.variables, one.effect) for one in hopes.giving(sort)}
                checked.add(sort)
        return once(reasoner, situation, *given, **named)

    once = Reasoner.plan
    monkeypatch.setattr(Reasoner, "plan", plan)
    steps_towards("look_at_obj_in_light-AlarmClock", **HOT_IN_A_BEDROOM)
    assert len(checked) > 5


def test_in_a_state_in_which_no_plan_was_found_none_is_searched_for_again(monkeypatch):
    """Every plan goes against more lines than one may: no step learns more."""
    searched: dict[int, tuple[Effort, object]] = {}

    def plan(reasoner: Reasoner, situation: Situation, *given: object, **named: object) -> Plan:
        found = once(reasoner, situation, *given, **named)
        effort = named.get("effort")
        if isinstance(effort, Effort) and found.cost == inf:
            names = frozenset[str]().union(*situation.belief.names.values())
            doubts = prices_of_doubts(reasoner.rules)  # they tell what was learned
            state = (str(situation.belief.signature()), names, situation.belief.fingerprint, doubts)
            searched[id(effort)] = (effort, state)
        return found

    once = Reasoner.plan
    monkeypatch.setattr(Reasoner, "plan", plan)
    monkeypatch.setattr(plan_with_doubts, "_DEAREST", 60)
    steps = steps_towards("look_at_obj_in_light-AlarmClock", **HOT_IN_A_BEDROOM)
    states = [state for _, state in searched.values()]
    assert len(states) == len(set(states))
    assert len(states) < 3 / 4 * len(steps)  # what leads back is left, for states not searched yet
