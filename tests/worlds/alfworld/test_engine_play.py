"""Playing on the native engine: states as values, threads, oddities of ALFWorld that players
meet.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpms.worlds.alfworld.engine.engine import NOTHING_HAPPENS
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.engine.texts import domain, grammar
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids, builtin_walkthrough

GAMES = {name: read_engine(builtin_game(name), name) for name in builtin_ids()}

THINGS = """agent1 - agent
 drawer_bar_1 - receptacle drawer_bar_2 - receptacle sink_bar_1_bar_sinkbasin - receptacle
 microwave_bar_1 - receptacle fridge_bar_1 - receptacle
 loc_bar_1 - location loc_bar_2 - location loc_bar_3 - location
 apple_bar_1 - object apple_bar_2 - object knife_bar_1 - object lamp_bar_1 - object cup_bar_1 - object
 DrawerType - rtype SinkBasinType - rtype MicrowaveType - rtype FridgeType - rtype
 AppleType - otype KnifeType - otype LampType - otype CupType - otype"""
FACTS = """(atLocation agent1 loc_bar_3)
 (receptacleAtLocation drawer_bar_1 loc_bar_1) (receptacleAtLocation drawer_bar_2 loc_bar_1)
 (receptacleAtLocation sink_bar_1_bar_sinkbasin loc_bar_1)
 (receptacleAtLocation microwave_bar_1 loc_bar_2) (receptacleAtLocation fridge_bar_1 loc_bar_2)
 (receptacleType drawer_bar_1 DrawerType) (receptacleType drawer_bar_2 DrawerType)
 (receptacleType sink_bar_1_bar_sinkbasin SinkBasinType)
 (receptacleType microwave_bar_1 MicrowaveType) (receptacleType fridge_bar_1 FridgeType)
 (openable drawer_bar_2) (openable microwave_bar_1)
 (objectType apple_bar_1 AppleType) (objectType apple_bar_2 AppleType) (objectType knife_bar_1 KnifeType)
 (objectType lamp_bar_1 LampType) (objectType cup_bar_1 CupType)
 (canContain DrawerType AppleType) (canContain DrawerType KnifeType) (canContain SinkBasinType AppleType)
 (pickupable apple_bar_1) (pickupable apple_bar_2) (pickupable knife_bar_1) (pickupable cup_bar_1)
 (sliceable apple_bar_1) (cleanable apple_bar_1) (heatable apple_bar_1) (coolable apple_bar_1)
 (toggleable lamp_bar_1) (isReceptacleObject cup_bar_1) (inReceptacleObject apple_bar_2 cup_bar_1)
 (inReceptacle apple_bar_1 drawer_bar_1) (inReceptacle knife_bar_1 drawer_bar_1)
 (inReceptacle lamp_bar_1 drawer_bar_2) (inReceptacle cup_bar_1 fridge_bar_1)
 (inReceptacle apple_bar_2 drawer_bar_1) (inReceptacle apple_bar_2 fridge_bar_1)
 (objectAtLocation apple_bar_1 loc_bar_1) (objectAtLocation knife_bar_1 loc_bar_1)"""


def small(goal="(exists (?o - object) (and (isHot ?o) (isSliced ?o)))", dialect="0.3"):
    text = (
        f"(define (problem p) (:domain alfred) (:objects {THINGS}) (:init {FACTS}) (:goal {goal}))"
    )
    texts = {
        "pddl_domain": domain(dialect),
        "grammar": grammar(dialect, "do it."),
        "pddl_problem": text,
    }
    game = NativeGame(read_engine(texts, "small"))
    game.reset()
    return game


def said(game, *commands):
    return [game.step(command).observation for command in commands]


def test_the_opening_lists_what_look_then_does_not():
    game = small()
    assert game.reset().observation.endswith(
        "you see a drawer 2, a drawer 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\nYour task is to: do it."
    )
    assert said(game, "look") == [
        "You are in the middle of a room. Looking quickly around you, you see nothing."
    ]


def test_receptacles_share_locations_and_what_counts_is_the_location():
    game = small()
    assert said(
        game, "go to drawer 2", "go to drawer 1", "open drawer 1", "examine sinkbasin 1", "look"
    ) == [
        "You arrive at loc 3. On the drawer 2, you see a apple 2, a apple 1, and a knife 1.",
        NOTHING_HAPPENS,
        "You open the drawer 1. The drawer 1 is open. In it, you see a lamp 1.",
        "On the sinkbasin 1, you see nothing.",
        "You are facing the drawer 2, drawer 1, and sinkbasin 1. Next to it, you see nothing.",
    ]


def test_a_thing_moved_at_its_location_lies_next_to_it_for_look():
    game = small()
    said(game, "go to drawer 2", "take apple 2 from drawer 2", "put apple 2 in/on sinkbasin 1")
    assert said(game, "look")[0].endswith("Next to it, you see a apple 2.")
    said(game, "take apple 2 from sinkbasin 1", "put apple 2 in/on drawer 2")
    assert said(game, "look")[0].endswith("Next to it, you see a apple 2.")


def test_a_thing_in_two_places_leaves_only_the_one_it_is_taken_from():
    game = small()
    said(game, "go to drawer 2", "take apple 1 from drawer 2")
    assert game.truth().contents["fridge 1"] == ("apple 1", "cup 1")
    assert game.truth().contents["drawer 2"] == ("apple 2", "knife 1")
    assert said(game, "go to fridge 1") == [
        "You arrive at loc 2. On the fridge 1, you see a apple 1, and a cup 1."
    ]


def test_states_of_a_held_thing_are_told_by_examine():
    game = small()
    assert said(
        game,
        "go to drawer 2",
        "examine apple 2",
        "take knife 1 from drawer 2",
        "slice apple 2 with knife 1",
        "put knife 1 in/on drawer 2",
        "take apple 2 from drawer 2",
        "examine apple 2",
        "clean apple 2 with sinkbasin 1",
        "examine apple 2",
        "go to fridge 1",
        "cool apple 2 with fridge 1",
        "examine apple 2",
    )[1:] == [
        NOTHING_HAPPENS,
        "You pick up the knife 1 from the drawer 2.",
        "You sliced the apple 2 with the knife 1.",
        "You put the knife 1 in/on the drawer 2.",
        "You pick up the apple 2 from the drawer 2.",
        "This is a sliced apple 2.",
        "You clean the apple 2 using the sinkbasin 1.",
        "This is a clean sliced apple 2.",
        "You arrive at loc 2. On the fridge 1, you see a apple 1, and a cup 1.",
        "You cool the apple 2 using the fridge 1.",
        "This is a cool and clean sliced apple 2.",
    ]
    outcome = game.step("heat apple 2 with microwave 1")
    assert (outcome.won, outcome.done, outcome.score) == (True, True, 1.0)
    assert game.truth().states["hot"] == {"apple 2"}
    assert game.truth().states["cool"] == frozenset()


def test_a_lamp_in_a_closed_drawer_can_be_used_and_is_always_turned_on():
    game = small()
    assert said(game, "go to drawer 1", "use lamp 1", "use lamp 1", "toggle lamp 1")[1:] == [
        "You turn on the lamp 1.",
        "You turn on the lamp 1.",
        NOTHING_HAPPENS,
    ]


def test_a_vessel_shows_what_was_in_it_at_the_start():
    game = small()
    said(game, "go to fridge 1", "take cup 1 from fridge 1")
    assert said(game, "examine cup 1", "inventory") == [
        "This is a normal cup 1. In it, you see a apple 1.",
        "You are carrying: a cup 1.",
    ]


def test_the_newer_dialect_moves_and_helps():
    game = small(dialect="0.4")
    assert said(game, "go to drawer 2", "take apple 2 from drawer 2", "put apple 2 in/on drawer 2")[
        ::2
    ] == [
        "You arrive at drawer 2. On the drawer 2, you see a apple 2, a apple 1, and a knife 1.",
        NOTHING_HAPPENS,
    ]
    assert "help" in game.admissible()
    assert said(game, "move apple 2 to sinkbasin 1", "help")[1].startswith(
        "Available commands:\n  look:"
    )


@pytest.mark.parametrize(
    ("goal", "commands"),
    [
        ("(exists (?a - agent) (holdsAny ?a))", ["go to drawer 2", "take knife 1 from drawer 2"]),
        (
            "(not (inReceptacle cup_bar_1 fridge_bar_1))",
            ["go to fridge 1", "take cup 1 from fridge 1"],
        ),
        (
            "(forall (?r - receptacle) (imply (openable ?r) (opened ?r)))",
            ["go to drawer 1", "open drawer 1", "go to fridge 1", "open microwave 1"],
        ),
        ("(exists (?l - location) (checked ?l))", ["look"]),
        ("(or (isOn lamp_bar_1) (isHot lamp_bar_1))", ["go to drawer 1", "use lamp 1"]),
        (
            "(exists (?l - location) (and (atLocation agent1 ?l) (not (= ?l loc_bar_3))))",
            ["go to drawer 2"],
        ),
    ],
)
def test_goals_of_every_form_are_met_when_they_are(goal, commands):
    game = small(goal)
    *before, last = commands
    assert not any(game.step(command).won for command in before)
    assert game.step(last).won


@pytest.mark.parametrize("name", GAMES)
def test_walkthroughs_win_and_every_listed_command_does_something(name):
    game = NativeGame(GAMES[name])
    outcome = game.reset()
    for command in builtin_walkthrough(name):
        assert not outcome.won
        assert list(game.admissible()) == sorted(set(game.admissible()))
        for listed in game.admissible():
            assert copy(game).step(listed).observation != NOTHING_HAPPENS
        outcome = game.step(command)
    assert outcome.won


def walk(game, seed, steps=60):
    dice = random.Random(seed)
    told = [game.reset()]
    told.extend(game.step(dice.choice(game.admissible())) for _ in range(steps))
    return told, vars(game.truth())


def test_many_threads_play_one_file_as_one_would():
    files = list(GAMES.values())[:4]
    jobs = [(file, seed) for file in files for seed in range(12)]
    alone = [walk(NativeGame(file), seed) for file, seed in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda job: walk(NativeGame(job[0]), job[1]), jobs))
    assert together == alone


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(GAMES)), st.integers(0, 1000))
def test_a_copy_goes_its_own_way(name, seed):
    game = NativeGame(GAMES[name])
    walk(game, seed, 15)
    before, state, truth = game.admissible(), game._state, vars(game.truth())
    walk(copy(game), seed + 1, 10)
    assert (game.admissible(), game._state, vars(game.truth())) == (before, state, truth)
    assert hash(copy(game)._state) == hash(state)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(GAMES)),
    st.integers(0, 50),
    st.text(max_size=40),
    st.sampled_from(["", " ", "\t", "\n"]),
)
def test_a_command_works_exactly_when_it_is_listed_whatever_spaces_surround_it(
    name, seed, text, space
):
    game = NativeGame(GAMES[name])
    walk(game, seed, 10)
    listed = game.admissible()[seed % len(game.admissible())]
    for command in (
        text,
        listed[:-1],
        listed.upper(),
        listed.replace(" ", "  ", 1),
        f"{listed}.",
        f"{space}{listed}{space}",
    ):
        happened = copy(game).step(command).observation != NOTHING_HAPPENS
        assert happened == (command.strip() in game.admissible())
        if not happened:
            after = copy(game)
            after.step(command)
            assert after._state == game._state
