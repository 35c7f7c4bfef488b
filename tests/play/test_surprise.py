"""Surprise and doubt: what differs from what the manual foretold is noticed, and plans go round
wrong lines.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth, parse_clause, parse_literal
from rpms.logic.rules import Prohibition, Purpose, Rule, RuleManual, Tier
from rpms.models.base import Decoding, Model, Request
from rpms.models.catalogue import open_model
from rpms.models.policy import FunctionModel
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, MEMORY_ONLY, RULES_ONLY, Condition
from rpms.paper.enforcement import PAPER, STRICT, Enforcement
from rpms.paper.episode import Episode
from rpms.paper.memory import SuccessSnippet
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.planning.commands_refused import Refusals
from rpms.planning.lower_bounds import LowerBounds
from rpms.planning.trust import CONFIRMED, REFUTED, STEPS, LinePart, ManualLine, Trust
from rpms.planning.trust import FULL as FULL_TRUST
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_memory
from rpms.worlds.alfworld import world
from rpms.worlds.base import Setting, Task

Change = Callable[[ActionSchema], ActionSchema]


@cache
def tasks() -> dict[str, Task]:
    """One embedded game of each type."""
    return {task.type: task for task in reversed(world.tasks("builtin", Setting()))}


def with_action(name: str, change: Change) -> RuleManual:
    manual = knowledge_of(world).manual
    return replace(
        manual, actions=tuple(change(one) if one.name == name else one for one in manual.actions)
    )


def with_needs(name: str, change: Callable[[tuple[Clause, ...]], tuple[Clause, ...]]) -> RuleManual:
    return with_action(name, lambda one: replace(one, preconditions=change(one.preconditions)))


def with_goal(name: str, drop: str) -> RuleManual:
    manual = knowledge_of(world).manual
    purposes = tuple(
        replace(
            one,
            steps=tuple(
                replace(step, until=tuple(clause for clause in step.until if str(clause) != drop))
                for step in one.steps
            ),
        )
        if one.name == name
        else one
        for one in manual.purposes
    )
    return replace(manual, purposes=purposes)


def played(
    manual: RuleManual,
    kind: str,
    model: Model | None = None,
    enforcement: Enforcement = STRICT,
    condition: Condition = RULES_ONLY,
    budget: int = 40,
    memory: EpisodicMemory | None = None,
) -> Episode:
    mind = compose(
        replace(condition, enforcement=enforcement),
        replace(knowledge_of(world), manual=manual),
        memory or EpisodicMemory(),
    )
    game = world.open(tasks()[kind], Setting())
    return play(
        Play(
            Player(world, mind, model or open_model("planner"), Decoding()),
            game,
            tasks()[kind],
            budget,
        )
    )


def kinds(episode: Episode) -> set[str]:
    return {surprise.kind for step in episode.steps for surprise in step.surprises}


HEAT, COOL, TWO = (
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
AT = parse_clause("at(place)")
WRONG = {
    "refused": (with_needs("heat", lambda needs: tuple(one for one in needs if one != AT)), HEAT),
    "accepted": (with_needs("heat", lambda needs: (*needs, parse_clause("lamp(object)"))), HEAT),
    "absent": (
        with_action(
            "heat",
            lambda one: replace(one, effects=(*one.effects, parse_literal("cleaned(object)"))),
        ),
        HEAT,
    ),
    "changed": (with_action("take", lambda one: replace(one, effects=one.effects[1:])), HEAT),
    "unfinished": (with_goal(HEAT, "heated(x)"), HEAT),
    "circle": (with_needs("go", lambda needs: (*needs, parse_clause("hand_empty"))), HEAT),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_line_surprises_and_the_game_is_won_all_the_same(kind):
    manual, game = WRONG[kind]
    episode = played(manual, game)
    assert kind in kinds(episode)
    assert episode.won


def test_what_an_action_only_may_do_is_no_surprise_where_it_does_not_come():
    perhaps = parse_literal("cleaned(object)")
    manual = with_action(
        "heat",
        lambda one: replace(
            one, effects=(*one.effects, perhaps), supposed=one.supposed | {perhaps}
        ),
    )
    assert not kinds(played(manual, HEAT))


@pytest.mark.parametrize("kind", WRONG)
def test_a_surprise_names_the_line_that_it_speaks_against(kind):
    manual, game = WRONG[kind]
    found = [
        one for step in played(manual, game).steps for one in step.surprises if one.kind == kind
    ]
    assert all(one.text for one in found)
    assert any(one.line for one in found)


@pytest.mark.parametrize(("kind", "fact"), [(HEAT, "heated(x)"), (COOL, "cooled(x)")])
def test_a_goal_one_fact_short_is_not_sought_in_what_its_own_end_undoes(kind, fact):
    episode = played(with_goal(kind, fact), kind, budget=25)
    assert episode.won
    verbs = [step.command.split()[0] for step in episode.steps]
    assert ("take", "put") not in pairwise(verbs)
    assert ("take", "move") not in pairwise(verbs)


@pytest.mark.parametrize(("kind", "lost"), [(TWO, "y"), ("look_at_obj_in_light", "x")])
def test_a_goal_that_lacks_a_thing_and_all_facts_about_it_is_continued(kind, lost):
    def short(goal: Purpose) -> Purpose:
        steps = tuple(step for step in goal.steps if f"({lost}" not in str(step.until[0]))
        over = {name: field for name, field in goal.over.items() if name != lost}
        return replace(goal, over=over, steps=steps) if goal.name == kind else goal

    manual = knowledge_of(world).manual
    manual = replace(manual, purposes=tuple(map(short, manual.purposes)))
    episode = played(manual, kind, budget=50)
    assert episode.won
    assert "unfinished" in kinds(episode)


def test_nothing_left_to_plan_is_a_surprise():
    manual = knowledge_of(world).manual
    bare = replace(
        manual, actions=tuple(one for one in manual.actions if one.name in ("look", "inventory"))
    )
    told = [one.kind for step in played(bare, HEAT, budget=4).steps for one in step.surprises]
    assert told.count("stranded") == 1  # said where it begins, and not at each step while it lasts


@pytest.mark.parametrize("kind", sorted({HEAT, COOL, TWO, "look_at_obj_in_light"}))
def test_with_a_sound_manual_doubt_changes_nothing(kind):
    manual = knowledge_of(world).manual
    without, doubting = (
        played(manual, kind, enforcement=replace(STRICT, doubt=on)) for on in (False, True)
    )
    assert [step.command for step in without.steps] == [step.command for step in doubting.steps]
    assert [step.decision.prompt for step in without.steps] == [
        step.decision.prompt for step in doubting.steps
    ]
    assert not kinds(doubting)


def test_in_the_paper_surprises_are_recorded_and_nothing_acts_on_them():
    manual, game = WRONG["refused"]
    quiet = played(manual, game, enforcement=PAPER, condition=FULL)
    assert "refused" in kinds(quiet)
    assert not any(
        step.decision.advice.adviser.enforcement.doubt or plan_of(step.decision).opened
        for step in quiet.steps
    )


def test_without_rules_no_line_is_doubted():
    manual, game = WRONG["accepted"]
    episode = played(manual, game, condition=MEMORY_ONLY, budget=5)
    assert not any(
        step.decision.advice.adviser.enforcement.doubt or plan_of(step.decision).opened
        for step in episode.steps
    )


def test_a_model_that_insists_on_a_refused_command_is_not_obeyed_twice():
    manual = knowledge_of(world).manual
    stubborn = FunctionModel(lambda _request: "Action: open cabinet 99")
    episode = played(
        manual, HEAT, stubborn, enforcement=replace(STRICT, guard=PAPER.guard), budget=6
    )
    commands = [step.command for step in episode.steps]
    assert "open cabinet 99" in commands
    assert all(one != other for one, other in pairwise(commands))


def test_nor_is_one_whose_only_knowledge_is_memory():
    insists, memory = (
        FunctionModel(lambda _: "Action: open cabinet 99"),
        read_memory(Path(world.embedded_memory()), ""),
    )
    episode = played(
        knowledge_of(world).manual, HEAT, insists, condition=MEMORY_ONLY, memory=memory, budget=6
    )
    refused = [
        (step.command, repr(step.decision.belief)) for step in episode.steps if step.infeasible
    ]
    assert refused
    assert len(refused) == len(set(refused))


def test_a_circle_that_a_model_walks_by_its_own_choice_speaks_against_no_line():
    answers = iter(["go to countertop 1", "go to countertop 1"])

    def strays(request: Request) -> str:
        """Follow the plan, but leave the microwave twice with the apple cold."""
        planned = plan_of(request.decision).options[0].command
        return f"Action: {next(answers, planned) if planned.startswith('heat') else planned}"

    episode = played(knowledge_of(world).manual, HEAT, FunctionModel(strays))
    back = [step for step in episode.steps[1:] if step.command == "go to microwave 1"]
    assert episode.won
    assert len(back) == 3
    assert all(step.command in step.decision.menu.commands for step in back)
    assert not kinds(episode)


def test_an_open_menu_says_what_surprised_and_what_speaks_for_each_entry():
    manual, game = WRONG["accepted"]
    notices: list[str] = []

    def listen(request: Request) -> str:
        decision = request.decision
        assert decision is not None
        if plan_of(decision).opened:
            notices.append(decision.notice)
            assert all(item.reason for item in decision.menu.items)
        return f"Action: {decision.menu.best}"

    assert played(manual, game, FunctionModel(listen)).won
    assert notices


def test_a_search_that_grows_by_less_than_rounding_ends(monkeypatch):
    passes: Counter[LowerBounds] = Counter()

    def of_goal(bounds: LowerBounds) -> float:
        passes[bounds] += 1
        assert passes[bounds] < 500, "the search goes on for ever"
        return once(bounds)

    once = LowerBounds.of_goal
    monkeypatch.setattr(LowerBounds, "of_goal", of_goal)
    memory = read_memory(Path(world.embedded_memory()), "alfworld")
    manual = with_needs("put", lambda needs: tuple(one for one in needs if one != AT))
    assert played(manual, TWO, condition=FULL, memory=memory).won
    assert passes


def _random_manual(dice: random.Random) -> RuleManual:
    """The manual with some needs and effects lost, negated or exchanged between actions."""
    manual = knowledge_of(world).manual
    for _ in range(dice.randint(1, 6)):
        actions = list(manual.actions)
        place = dice.randrange(len(actions))
        one, other = actions[place], dice.choice(actions)
        needs = [need for need in one.preconditions if dice.random() < 0.7]
        needs += [need for need in other.preconditions if dice.random() < 0.3 and _fits(need, one)]
        flipped = [
            Clause(tuple(Literal(each.atom, not each.negated) for each in need.literals))
            if dice.random() < 0.2
            else need
            for need in needs
        ]
        effects = tuple(effect for effect in one.effects if dice.random() < 0.8)
        actions[place] = replace(one, preconditions=tuple(flipped), effects=effects)
        manual = replace(manual, actions=tuple(actions))
    return manual


def _fits(need: Clause, schema: ActionSchema) -> bool:
    return all(set(each.atom.args) <= set(schema.variables) for each in need.literals)


@pytest.mark.parametrize("seed", range(20 if os.environ.get("RPMS_SLOW") else 8))
def test_no_refused_command_is_given_twice_in_an_unchanged_state_whatever_the_manual(seed):
    dice = random.Random(seed)
    manual, kind = _random_manual(dice), dice.choice([HEAT, COOL, TWO])
    model = open_model(dice.choice(["planner", "menu-random/1"]))
    refused: set[tuple[str, object]] = set()
    for step in played(manual, kind, model, budget=25).steps:
        attempt = (step.command, repr(step.decision.belief))
        assert attempt not in refused
        if step.infeasible and step.command:
            after = world.update(step.decision.belief, step.command, step.result)
            refused |= {attempt, (step.command, repr(after))}


def test_trust_falls_with_contradictions_and_rises_with_confirmations():
    line = ManualLine("take", LinePart.NEEDS, "at(place)")
    trust = Trust()
    assert trust.of(line) == FULL_TRUST
    assert trust.against(line) == FULL_TRUST * STEPS
    assert trust.weighed(line, CONFIRMED).against(line) > trust.against(line)
    doubted = trust.weighed(line, -1.0)
    assert 0 < doubted.against(line) < trust.against(line)
    assert doubted.shaken
    assert not trust.shaken


def test_a_refuted_line_is_never_trusted_again():
    line = ManualLine("take", LinePart.NEEDS, "at(place)")
    assert Trust().weighed(line, REFUTED).weighed(line, CONFIRMED).of(line) == 0


def test_a_line_that_the_manual_does_not_state_costs_its_missing_trust():
    line = ManualLine("take", LinePart.DOES, "holding(object)")
    assert Trust().upon(line, stated=0.0) == FULL_TRUST * STEPS
    assert Trust().upon(line) == 0


def test_the_line_of_an_untried_action_says_what_speaks_against_it():
    manual = knowledge_of(world).manual
    bare = replace(
        manual,
        purposes=(),
        actions=tuple(replace(one, effects=(), observes=()) for one in manual.actions),
    )
    reasons = {
        item.reason
        for step in played(bare, HEAT, budget=6).steps
        for item in step.decision.menu.items
    }
    assert "never tried; against it: fridge 1 is closed" in reasons


def test_a_need_that_a_refusal_confirmed_is_gone_against_no_more():
    """Nothing leads to the goal: what was never tried is tried, and a fridge that cannot be
    taken from while it is closed teaches that of all that is closed.
    """
    manual = knowledge_of(world).manual
    idle = tuple(replace(one, effects=(), observes=()) for one in manual.actions)
    bare = replace(manual, purposes=(), actions=idle)
    against: Counter[tuple[str, str]] = Counter()
    for step in played(bare, HEAT, budget=40).steps:
        rules, situation = (
            step.decision.schemas,
            Situation(step.decision.belief, step.decision.goal),
        )
        instance = rules.instance(step.command)
        if not step.infeasible or instance is None:
            continue
        for need in rules.needs_of(instance.schema):
            if need.truth(situation, instance.binding) is Truth.FALSE:
                against[instance.schema.name, str(need)] += 1
    assert against
    assert max(against.values()) == 1


def test_a_surprise_is_told_at_the_step_whose_command_it_followed_the_last_one_included():
    manual, game = WRONG["refused"]
    steps = played(manual, game).steps
    at = next(step.number for step in steps if any(one.kind == "refused" for one in step.surprises))
    assert steps[at - 1].infeasible
    assert played(manual, game, budget=at).steps[-1].surprises == steps[at - 1].surprises


def test_a_refused_step_of_memory_speaks_against_its_entry():
    memory = read_memory(Path(world.embedded_memory()), "alfworld")
    wrong = EpisodicMemory(
        tuple(
            replace(one, actions=tuple(action.replace("heat ", "cool ") for action in one.actions))
            if isinstance(one, SuccessSnippet)
            else one
            for one in memory.entries
        ),
        memory.world,
    )
    model = open_model("menu-random/0")
    episode = played(
        knowledge_of(world).manual, HEAT, model, condition=MEMORY_ONLY, memory=wrong, budget=10
    )
    told = {
        one.line
        for step in episode.steps
        for one in step.surprises
        if step.command.startswith("cool ")
    }
    assert told
    assert told <= {one.id for one in wrong.entries}


def test_an_action_forbidden_in_every_state_is_gone_round_and_nothing_breaks() -> None:
    manual = knowledge_of(world).manual
    ban = Rule(
        "U-WRONG",
        Tier.UNIVERSAL,
        "wrong",
        "Never open anything.",
        forbids=(Prohibition("open", ()),),
    )
    assert played(replace(manual, rules=(*manual.rules, ban)), HEAT, budget=50).won


def test_a_command_refused_in_two_states_is_barred_in_both() -> None:
    game = world.open(tasks()[HEAT], Setting())
    opening = game.reset().observation
    goal = world.goal(opening)
    rules = knowledge_of(world).manual.active(goal.type, goal.object, goal.destination)
    beliefs = [world.update(world.start(goal), None, opening)]
    for place in ("sinkbasin 1", "countertop 1") * 3:
        beliefs.append(
            world.update(beliefs[-1], f"go to {place}", game.step(f"go to {place}").observation)
        )
    one, other, again = (Situation(belief, goal) for belief in beliefs[3:6])
    command = "clean apple 1 with sinkbasin 1"
    refusals = Refusals().with_refused(command, rules, one).with_refused(command, rules, other)
    assert refusals.bars(command, rules, other)
    assert refusals.bars(command, rules, again)
