"""The manual: complete, affordable, and in agreement with the engine."""

import random
from collections import Counter

import pytest
from household import DIALECTS, MANUAL, builtin_games, mind, play

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.facts import Truth
from rpms.logic.goal import GoalSignature
from rpms.paper.arbitration import Arbitration, judge
from rpms.paper.condition import FULL
from rpms.paper.memory import SuccessSnippet
from rpms.paper.prompt import estimate_tokens
from rpms.paper.review import review_rules
from rpms.paper.verdict import Fate
from rpms.paper.wording import rule_line, schema_lines, situation_lines
from rpms.planning.from_here import judge_here
from rpms.planning.remedies import review
from rpms.worlds.alfworld import affordances as known
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.affordances import category, tables
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.goals import TASK_TYPES

KITCHEN = (
    "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a fridge 1, a microwave 1, "
    "and a sinkbasin 1.\n\nYour task is to: "
)


def begin(sentence, *turns):
    goal = world.goal(KITCHEN + sentence)
    belief = world.update(world.start(goal), None, KITCHEN + sentence)
    for action, observation in turns:
        belief = world.update(belief, action, observation)
    return goal, belief


def verdict(sentence, *actions, turns=(), how=judge, held=()):
    goal, belief = begin(sentence, *turns)
    snippet = SuccessSnippet(GoalSignature("x"), StateSignature.of(holding=held), "placed", actions)
    return how(
        snippet,
        MANUAL.active(goal.type, goal.object),
        Situation(belief, goal),
        Arbitration.HARD_SOFT,
    )


def test_the_papers_ids_are_there():
    ids = {rule.id for rule in MANUAL.rules}
    assert ids >= {
        "D-CONT-001",
        "D-CONT-002",
        "D-LOC-001",
        "D-LOC-003",
        "D-TRANS-001",
        "D-TRANS-003",
    }
    assert ids >= {"D-EXAM-001", "D-EXAM-003", "D-HEAT-001", "S-002"}


def test_every_action_of_the_engine_has_a_schema_in_both_dialects():
    for dialect in DIALECTS:
        for _, game in builtin_games(dialect):
            dice = random.Random(dialect)
            game.reset()
            for _ in range(40):
                for command in game.admissible():
                    assert MANUAL.active("any").instance(command) is not None, command
                game.step(dice.choice(game.admissible()))


def test_every_declared_predicate_is_answered_by_the_belief():
    for name, predicate in MANUAL.predicates.items():
        assert AlfworldBelief.answers[name][0] == len(predicate.args), name
        assert predicate.yes, name
        assert predicate.no, name
    assert set(MANUAL.predicates) == set(AlfworldBelief.answers)


@pytest.mark.parametrize("goal_type", TASK_TYPES)
def test_every_type_has_its_procedure_and_every_takeable_kind_its_places(goal_type):
    for kind in filter(lambda kind: known.has("pickupable", kind), known.objects()):
        rules = MANUAL.active(goal_type, kind)
        localities = [
            rule.locality
            for rule in rules.domain
            if rule.locality and rule.locality.category != "light"
        ]
        assert len(localities) == 1, kind
        assert localities[0].category == category(kind)
        assert known.places().issuperset(localities[0].places)
        assert any(rule.goals == {goal_type} or len(rule.goals) == 3 for rule in rules.domain)


def test_categories_of_the_manual_are_those_that_recall_uses():
    localities = [rule.locality for rule in MANUAL.rules if rule.locality]
    assert len(localities) >= 20
    assert {kind: category(kind) for each in localities for kind in each.objects} == {
        kind: each.category for each in localities for kind in each.objects
    }


@pytest.mark.parametrize("goal_type", TASK_TYPES)
def test_domain_and_environment_rules_are_affordable(goal_type):
    goal, belief = begin("put a hot mug in fridge.")
    rules = MANUAL.active(goal_type, "mug")
    domain = sum(estimate_tokens(rule_line(rule)) for rule in rules.domain if not rule.when)
    environment = sum(map(estimate_tokens, map(schema_lines, rules.environment)))
    situation = sum(map(estimate_tokens, situation_lines(rules, Situation(belief, goal))))
    assert domain + environment + situation < 680


@pytest.mark.parametrize(
    ("sentence", "turn", "rule"),
    [
        ("put a cool apple in countertop.", "put apple 1 in/on fridge 1", "D-COOL-001"),
        ("put a hot apple in countertop.", "move apple 1 to microwave 1", "D-HEAT-001"),
        ("put a clean apple in countertop.", "put apple 1 in/on sinkbasin 1", "D-CLEAN-001"),
    ],
)
def test_advice_to_put_something_into_its_tool_is_dropped(sentence, turn, rule):
    place = turn.rpartition(" ")[0].rpartition(" ")[2] + " 1"
    plan = (f"go to {place}", *([f"open {place}"] if place != "sinkbasin 1" else []), turn)
    judged = verdict(sentence, "go to countertop 1", "take apple 1 from countertop 1", *plan)
    assert (judged.fate, judged.rule) == (Fate.DROPPED, rule)


def test_advice_that_the_rules_allow_is_kept():
    seen = (("go to countertop 1", "You arrive at loc 1. On the countertop 1, you see a apple 1."),)
    plan = (
        "take apple 1 from countertop 1",
        "go to fridge 1",
        "cool apple 1 with fridge 1",
        "go to countertop 1",
    )
    judged = verdict(
        "put a cool apple in countertop.", *plan, "put apple 1 in/on countertop 1", turns=seen
    )
    assert judged.fate is Fate.KEPT, (
        "that fridge and countertop might share a place is no reason to doubt"
    )
    other = ("go to fridge 1", "You arrive at loc 2. The fridge 1 is closed.")
    back = ("go to countertop 1", "You arrive at loc 1. On the countertop 1, you see a apple 1.")
    judged = verdict(
        "put a cool apple in countertop.",
        *plan,
        "put apple 1 in/on countertop 1",
        turns=(*seen, other, back),
    )
    assert judged.fate is Fate.KEPT


APPENDIX_F = (
    "open fridge 1",
    "go to countertop 1",
    "take mug 2 from countertop 1",
    "go to microwave 1",
    "open microwave 1",
    "heat mug 2 with microwave 1",
)
"""The success entry of Appendix F."""


def test_the_papers_success_entry_is_not_dropped_at_the_first_step_of_its_own_goal():
    assert verdict("put a hot mug in cabinet.", *APPENDIX_F).fate in (Fate.KEPT, Fate.WARNED)
    assert verdict("put a hot mug in cabinet.", *APPENDIX_F, how=judge_here).fate is Fate.DROPPED


def test_advice_to_go_to_the_fridge_is_kept_for_one_who_stands_there():
    here = ("go to fridge 1", "You arrive at loc 2. The fridge 1 is closed.")
    plan = "go to fridge 1", "open fridge 1"
    assert verdict("put a cool apple in countertop.", *plan, turns=(here,)).fate is Fate.KEPT
    plan = "go to fridge 1", "cool apple 1 with fridge 1"
    cool = verdict("put a cool apple in countertop.", *plan, turns=(here,), held=("apple 1",))
    assert (cool.fate, cool.fact) == (Fate.WARNED, "you do not hold apple 1")


def test_what_is_held_now_stands_for_what_was_held_then():
    goal, belief = begin(
        "put a cool apple in countertop.",
        ("go to countertop 1", "You arrive at loc 1. On the countertop 1, you see a apple 2."),
        ("take apple 2 from countertop 1", "You pick up the apple 2 from the countertop 1."),
    )
    plan = "go to fridge 1", "cool apple 1 with fridge 1"
    entry = SuccessSnippet(
        goal.signature, StateSignature.of(holding=("apple 1",)), "cool_object", plan
    )
    rules = MANUAL.active(goal.type, goal.object)
    assert judge(entry, rules, Situation(belief, goal), Arbitration.HARD_SOFT).fate is Fate.KEPT


@pytest.mark.parametrize(
    ("held", "plan", "rule", "fact"),
    [
        ("egg 1", ("heat egg 1 with fridge 1",), "E-HEAT", "fridge 1 cannot heat egg 1"),
        (
            "",
            ("take egg 1 from fridge 1", "take egg 2 from fridge 1"),
            "E-TAKE",
            "your hand is full",
        ),
        (
            "egg 1",
            ("put egg 1 in/on sofa 1", "heat egg 1 with microwave 1"),
            "E-HEAT",
            "you do not hold egg 1",
        ),
        ("egg 1", ("cool egg 1 with fridge 1",), "D-HEAT-001", ""),
    ],
)
def test_what_breaks_a_rule_in_any_room_is_dropped_with_the_rules_name(held, plan, rule, fact):
    """Judged in the state it was learned in."""
    judged = verdict("put a hot egg in countertop.", *plan, held=(held,) if held else ())
    assert (judged.fate, judged.rule) == (Fate.DROPPED, rule)
    assert rule.startswith("D") or judged.fact == fact


def test_a_place_of_another_room_is_a_warning_and_judged_from_here_a_conflict():
    for how, fate in ((judge, Fate.WARNED), (judge_here, Fate.DROPPED)):
        judged = verdict("put a apple in fridge.", "go to countertop 9", how=how)
        assert (judged.fate, judged.fact) == (fate, "there is no place called countertop 9")


def test_taking_a_placed_object_again_is_warned_of():
    seen = ("go to countertop 1", "You arrive at loc 1. On the countertop 1, you see a apple 1.")
    for how, fate in ((judge, Fate.WARNED), (judge_here, Fate.DROPPED)):
        judged = verdict(
            "put two apple in countertop.", "take apple 1 from countertop 1", turns=(seen,), how=how
        )
        assert (judged.fate, judged.rule) == (fate, "D-TWO-002")


def test_what_no_training_game_had_in_one_room_is_unknown_and_what_one_had_and_refused_is_not():
    assert known.fits("apple", "fridge") is True
    assert known.fits("apple", "toaster") is False, (
        "1,696 games have both and let nobody put it there"
    )
    for pair in (
        ("pillow", "fridge"),
        ("soapbar", "microwave"),
        ("gizmo", "fridge"),
        ("apple", "gizmo"),
    ):
        assert known.fits(*pair) is None, pair
    accepted, refused = tables()["can_contain"], tables()["cannot_contain"]
    assert not any(set(accepted[place]) & set(refused.get(place, ())) for place in accepted)


def test_the_guard_lets_a_pair_that_nobody_saw_pass():
    goal, belief = begin("put a apple in fridge.")
    belief = belief.but(hand="pillow 1", site=None, containers={"fridge 1": True})
    rules = MANUAL.active(goal.type, goal.object)
    assert review("put pillow 1 in/on fridge 1", rules, Situation(belief, goal)) is None


def test_situation_rules_follow_the_hand():
    goal, belief = begin("put a hot apple in fridge.")
    rules = MANUAL.active(goal.type, goal.object)
    assert [
        line.split(":")[0].strip("- ") for line in situation_lines(rules, Situation(belief, goal))
    ] == [
        "D-HEAT-001",
        "S-002",
    ]
    full = world.update(belief, "inventory", "You are carrying: a apple 1.")
    assert "  - S-001: " in "\n".join(situation_lines(rules, Situation(full, goal)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_preconditions_block_nothing_that_the_engine_allows_and_know_most_of_what_it_refuses(
    dialect,
):
    dice, tally = random.Random(3), Counter()
    for _, game in builtin_games(dialect):
        outcome = game.reset()
        goal = world.goal(outcome.observation)
        rules = MANUAL.active(goal.type, goal.object)
        belief, action = world.start(goal), None
        for _ in range(40):
            belief = world.update(belief, action, outcome.observation)
            allowed = game.admissible()
            for command in allowed:
                assert (
                    rules.instance(command).feasible(Situation(belief, goal)) is not Truth.FALSE
                ), command
            for place in belief.seen | belief.containers.keys():
                for command in (
                    f"open {place}",
                    f"close {place}",
                    f"go to {place}",
                    f"take mug 1 from {place}",
                ):
                    if command not in allowed:
                        value = rules.instance(command).feasible(Situation(belief, goal))
                        tally[value] += 1
            action = dice.choice(allowed)
            outcome = game.step(action)
    assert tally[Truth.TRUE] == 0
    # The 0.4 dialect does not print locations: whether two places are one may stay unknown after
    # seeing both.
    assert tally[Truth.FALSE] / tally.total() > {"0.3": 0.99, "0.4": 0.9}[dialect]


def test_injected_blocks_stay_within_the_papers_bound():
    for _, game in builtin_games():
        for decision in play(game, mind(FULL)).decisions:
            assert sum(block.tokens for block in decision.prompt.injected()) <= 1_250


CLOSED_MICROWAVE = ("go to microwave 1", "You arrive at microwave 1. The microwave 1 is closed.")
OPENED_MICROWAVE = (
    "open microwave 1",
    "You open the microwave 1. The microwave 1 is open. In it, you see a mug 1.",
)


@pytest.mark.parametrize(
    ("command", "turns", "text"),
    [
        ("open drawer 1", (), "there is no place called drawer 1"),
        ("take apple 1 from drawer 1", (), "there is no place called drawer 1"),
        ("examine drawer 1", (), "there is no place called drawer 1"),
        ("go to apple 1", (), "there is no place called apple 1"),
        ("examine unicorn 1", (), "you do not hold unicorn 1"),
        ("examine fridge 1", (), "you are not at fridge 1; first: go to fridge 1"),
        ("examine apple 1", (), "you do not hold apple 1"),
        ("examine desklamp 1", (), "there is no place called desklamp 1"),
        ("use desklamp 1", (), "you are not at desklamp 1"),
        ("heat desklamp 1 with microwave 1", (), "desklamp 1 cannot be taken"),
        ("open fridge 1", (), "you are not at fridge 1; first: go to fridge 1"),
        ("close microwave 1", (CLOSED_MICROWAVE,), "microwave 1 is closed"),
        ("open microwave 1", (CLOSED_MICROWAVE, OPENED_MICROWAVE), "microwave 1 is not closed"),
        (
            "take mug 1 from microwave 1",
            (CLOSED_MICROWAVE,),
            "microwave 1 is closed; first: open microwave 1",
        ),
        ("take mug 1 from fridge 1", (), "you are not at fridge 1; first: go to fridge 1"),
        ("heat mug 1 with fridge 1", (), "fridge 1 cannot heat mug 1"),
    ],
)
def test_the_guard_gives_the_reason_that_counts_and_no_remedy_that_undoes(command, turns, text):
    goal, belief = begin("put a hot mug in fridge.", *turns)
    refusal = review(command, MANUAL.active(goal.type, goal.object), Situation(belief, goal))
    assert refusal.text == text


def test_the_guard_knows_what_the_manual_forbids():
    taken = ("take mug 1 from microwave 1", "You pick up the mug 1 from the microwave 1.")
    goal, belief = begin("put a hot mug in fridge.", CLOSED_MICROWAVE, OPENED_MICROWAVE, taken)
    rules, situation = MANUAL.active(goal.type, goal.object), Situation(belief, goal)
    assert review("put mug 1 in/on microwave 1", rules, situation) is None
    refusal = review_rules("put mug 1 in/on microwave 1", rules, situation)
    assert (refusal.rule, refusal.forbidden) == ("D-HEAT-001", True)
    assert review_rules("heat mug 1 with microwave 1", rules, situation) is None
