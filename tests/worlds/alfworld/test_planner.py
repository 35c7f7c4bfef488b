"""The planner wins, through the same interface as any model."""

import random
from itertools import islice

import pytest
from household import DIALECTS, UnannouncedGame, builtin_games, make_game, mind, official_rows, play

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.models.policy import follow_plan
from rpms.paper.beyond import turn_state
from rpms.paper.condition import BASELINE, MEMORY_ONLY, RULES_ONLY
from rpms.paper.decide import decide
from rpms.paper.memory import SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.worlds.alfworld import world

ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a drawer 1, a garbagecan 1, a "
    "desk 1, and a shelf 1.\n\nYour task is to: "
)


def could_not_tell(belief, command):
    """True if the text could not reveal that a command would do nothing."""
    if command.startswith("clean "):
        return (
            " with bathtubbasin " in command and not belief.inert
        )  # some clean, and one try tells
    return command.startswith("go to ") and belief.here(command.removeprefix("go to ")) is None


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_wins_every_builtin_game(dialect):
    for name, game in builtin_games(dialect):
        played = play(game, mind())
        assert played.won, name
        assert played.contradictions == []
        assert all(could_not_tell(*refused) for refused in played.refused)


def test_it_wins_as_fast_where_arrivals_are_not_announced():
    told, untold = builtin_games(), builtin_games(kind=UnannouncedGame)
    for (name, one), (_, other) in zip(told, untold, strict=True):
        played = play(other, mind())
        assert (played.won, played.steps) == (True, play(one, mind()).steps), name
        assert played.contradictions == []


def test_one_refused_put_tells_that_the_game_says_move():
    for name, game in islice(builtin_games("0.4", UnannouncedGame), 4, 10):
        played = play(game, mind())
        assert played.won, name
        assert sum(command.startswith("put ") for command in played.actions) == 1


@pytest.mark.parametrize(("dialect", "count"), [("0.3", 140), ("0.4", 30)])
def test_it_wins_every_seen_game_in_twelve_steps_on_average(shared, dialect, count):
    steps = []
    for row in islice(official_rows(shared, "valid_seen"), count):
        played = play(make_game(row["problem"], row["goal"], dialect), mind())
        assert played.won, row["game"]
        assert all(could_not_tell(*refused) for refused in played.refused), row["game"]
        steps.append(played.steps)
    assert len(steps) == count
    assert sum(steps) / len(steps) <= 12


def test_it_wins_a_sample_of_training_games(shared):
    rows = random.Random(8).sample(list(official_rows(shared, "train")), 12)
    assert all(play(make_game(row["problem"], row["goal"], "0.3"), mind()).won for row in rows)


def first_action(sentence, condition, memory=()):
    goal = world.goal(ROOM + sentence)
    decision = decide(mind(condition, memory), goal, world.start(goal), None, ROOM + sentence, ())
    return follow_plan(decision)[1]


def test_without_rules_it_searches_in_the_order_of_the_room():
    assert first_action("put a pen in shelf.", BASELINE) == "go to bed 1"
    assert first_action("put a pen in shelf.", RULES_ONLY) == "go to desk 1"


def test_experience_tells_it_where_to_look_first():
    snippet = SuccessSnippet(
        GoalSignature("pick_and_place_simple", "pen", "", "shelf"),
        StateSignature.of(holding=()),
        "take_object",
        ("go to garbagecan 4", "take pen 7 from garbagecan 4"),
    )
    assert first_action("put a pen in shelf.", MEMORY_ONLY, (snippet,)) == "go to garbagecan 1"


def test_an_unknown_goal_is_explored():
    assert first_action("make me happy", RULES_ONLY).startswith("go to ")


def test_it_does_not_repeat_what_was_just_refused():
    goal = world.goal(ROOM + "put a pen in shelf.")
    first = decide(mind(), goal, world.start(goal), None, ROOM + "put a pen in shelf.", ())
    assert follow_plan(first)[1] == "go to desk 1"
    refused = Turn(
        ROOM, "go to desk 1", state=turn_state(first.belief, first.progress), failed=True
    )
    then = decide(mind(), goal, first.belief, "go to desk 1", "Nothing happens.", [refused])
    assert follow_plan(then)[1] != "go to desk 1"


def test_it_puts_down_what_it_has_no_use_for():
    goal = world.goal(ROOM + "put a pen in shelf.")
    belief = world.update(world.start(goal), None, ROOM + "put a pen in shelf.")
    belief = world.update(belief, "", "You arrive at loc 2. On the desk 1, you see a pen 1.")
    decision = decide(mind(), goal, belief, "inventory", "You are carrying: a cd 1.", ())
    assert follow_plan(decision)[1] == "put cd 1 in/on desk 1"
