"""The belief never contradicts the engine, and says nothing it cannot know."""

import functools
import json
import lzma
import random

import pytest
from household import DIALECTS, MANUAL, UnannouncedGame, builtin_games, make_game, official_rows
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import Goal, Progress
from rpms.paper.prompt import estimate_tokens
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.belief import AlfworldBelief, Sites
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import builtin_ids
from rpms.worlds.alfworld.update import update

OPENING = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a "
    "desk 1, a drawer 2, a drawer 1, a fridge 1, and a shelf 1.\n\nYour task is to: put a mug in desk."
)


@functools.cache
def games(dialect, kind=NativeGame):
    """Opened where a test asks, and not while each worker collects."""
    return [game for _, game in builtin_games(dialect, kind)]


def after(*turns, opening=OPENING):
    belief = update(AlfworldBelief(world.goal(opening)), None, opening)
    for action, observation in turns:
        belief = update(belief, action, observation)
    return belief


def commands(belief, admissible, dice):
    """Feasible, infeasible and nonsense commands."""
    things = [thing for inside in belief.contents.values() for thing in inside] or ["apple 1"]
    place, thing = dice.choice(belief.places), dice.choice(things)
    other = dice.choice(things)
    infeasible = [
        f"go to {place}",
        f"open {place}",
        f"close {place}",
        f"examine {place}",
        f"examine {thing}",
        f"take {thing} from {place}",
        f"put {thing} in/on {place}",
        f"move {thing} to {place}",
        f"heat {thing} with {place}",
        f"use {thing}",
        f"slice {thing} with {other}",
        "help",
    ]
    nonsense = [
        f"Go to {place}",
        f"go to  {place}",
        "",
        "examine",
        f"open  {place}",
        f"go to {place}.",
        "go to moon 1",
    ]
    roll = dice.random()
    pool = admissible if roll < 0.5 else infeasible if roll < 0.9 else nonsense
    return dice.choice(pool)


def walk(game, dice, steps):
    observation = game.reset().observation
    belief, action = world.start(world.goal(observation)), None
    for _ in range(steps):
        belief = world.update(belief, action, observation)
        assert world.contradictions(belief, game) == ()
        action = commands(belief, game.admissible(), dice)
        observation = game.step(action).observation
    return belief


@given(st.integers(0, 10**9), st.sampled_from(DIALECTS), st.integers(0, len(builtin_ids()) - 1))
def test_no_contradiction_along_any_walk(seed, dialect, number):
    walk(games(dialect)[number], random.Random(seed), 40)


@given(st.integers(0, 10**9), st.sampled_from(DIALECTS), st.integers(0, len(builtin_ids()) - 1))
def test_no_contradiction_where_arrivals_are_not_announced(seed, dialect, number):
    belief = walk(games(dialect, UnannouncedGame)[number], random.Random(seed), 40)
    assert belief.dialect in (None, dialect)


@pytest.mark.parametrize(
    "seen", ["The drawer 2 is closed.", "The drawer 2 is open. In it, you see a mug 1."]
)
def test_a_sight_of_the_place_one_goes_to_is_an_arrival(seen):
    belief = after(("go to desk 1", "On the desk 1, you see nothing."), ("go to drawer 2", seen))
    assert (belief.location, belief.here("drawer 2"), belief.here("desk 1")) == (
        "drawer 2",
        True,
        False,
    )
    examined = after(
        ("go to desk 1", "On the desk 1, you see nothing."), ("examine drawer 2", seen)
    )
    assert (examined.location, examined.here("desk 1")) == ("desk 1", True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_contradiction_along_walks_through_training_games(shared, dialect):
    dice = random.Random(5)
    rows = list(official_rows(shared, "train"))
    for row in dice.sample(rows, 15):
        walk(make_game(row["problem"], row["goal"], dialect), dice, 60)


@pytest.mark.parametrize("name", ["train_0.3", "train_0.4", "valid_seen_0.3"])
def test_recorded_games_of_the_real_engine_fit_the_belief(shared, name):
    """The belief's certain answers hold in every recorded state."""
    checked = 0
    with lzma.open(
        shared / "alfworld" / "transcripts" / f"{name}.jsonl.xz", "rt", encoding="utf-8"
    ) as rows:
        for row in list(rows)[:30]:
            steps = json.loads(row)["steps"]
            goal = world.goal(steps[0]["observation"])
            rules = MANUAL.active(goal.type, goal.object)
            belief = world.start(goal)
            for step in steps:
                belief = world.update(belief, step["action"], step["observation"])
                situation = Situation(belief, goal)
                for command in step["admissible"]:
                    instance = rules.instance(command)
                    assert instance is not None, command
                    assert instance.feasible(situation) is not Truth.FALSE, (
                        command,
                        belief.lines(),
                    )
                    checked += 1
    assert checked > 1_000


def test_places_that_share_a_location_count_as_one_place():
    belief = after(
        ("go to drawer 2", "You arrive at loc 7. The drawer 2 is closed."),
        ("go to drawer 1", "Nothing happens."),
    )
    assert belief.here("drawer 1") is True
    assert belief.truth(Atom("same_place", ("drawer 1", "drawer 2"))) is Truth.TRUE
    assert belief.here("desk 1") is None
    assert belief.here("fridge 2") is False


def test_look_reveals_the_whole_place_in_both_dialects():
    for arrival in ("loc 7", "drawer 2"):
        belief = after(
            ("go to drawer 2", f"You arrive at {arrival}. The drawer 2 is closed."),
            ("look", "You are facing the drawer 2, and drawer 1. Next to it, you see nothing."),
        )
        assert [belief.here(place) for place in belief.places] == [False, True, True, False, False]


def test_a_refused_examination_tells_that_a_place_is_elsewhere():
    belief = after(
        ("go to drawer 2", "You arrive at drawer 2. The drawer 2 is closed."),
        ("examine desk 1", "Nothing happens."),
    )
    assert belief.here("desk 1") is False
    assert belief.here("shelf 1") is None


def test_moving_on_proves_that_two_places_are_apart():
    belief = after(
        ("go to desk 1", "You arrive at desk 1. On the desk 1, you see nothing."),
        ("go to shelf 1", "You arrive at shelf 1. On the shelf 1, you see a mug 1."),
    )
    assert belief.truth(Atom("same_place", ("desk 1", "shelf 1"))) is Truth.FALSE


def test_an_object_in_two_places_leaves_only_the_one_it_is_taken_from():
    belief = after(
        ("go to desk 1", "You arrive at loc 1. On the desk 1, you see a mug 1."),
        ("go to shelf 1", "You arrive at loc 2. On the shelf 1, you see a mug 1."),
        ("take mug 1 from shelf 1", "You pick up the mug 1 from the shelf 1."),
    )
    assert belief.contains("shelf 1", "mug 1") is False
    assert belief.contains("desk 1", "mug 1") is True
    assert belief.holding == ("mug 1",)


def test_what_was_not_seen_stays_unknown():
    belief = after(("go to fridge 1", "You arrive at loc 3. The fridge 1 is closed."))
    assert belief.truth(Atom("in", ("mug 1", "fridge 1"))) is Truth.UNKNOWN
    assert belief.truth(Atom("closed", ("drawer 1",))) is Truth.UNKNOWN
    assert belief.truth(Atom("fits", ("gizmo 1", "fridge 1"))) is Truth.UNKNOWN
    assert belief.truth(Atom("no_such_predicate", ("x",))) is Truth.UNKNOWN
    assert belief.truth(Atom("in", ("mug 1",))) is Truth.UNKNOWN


def test_heating_ends_cooling_and_the_other_way_round():
    hot = "You heat the mug 1 using the microwave 1."
    belief = after(
        ("cool mug 1 with fridge 1", "You cool the mug 1 using the fridge 1."), ("", hot)
    )
    assert belief.states["mug 1"] == {"hot"}
    assert after(("", hot), ("", "You cool the mug 1 using the fridge 1.")).states["mug 1"] == {
        "cool"
    }


def test_examining_an_object_tells_its_states():
    belief = after(("examine apple 1", "This is a cool and clean sliced apple 1."))
    assert belief.states["apple 1"] == {"cool", "clean", "sliced"}
    assert after(("examine mug 1", "This is a normal mug 1. In it, you see nothing.")).states == {}


def test_inventory_corrects_the_hand():
    assert after(("inventory", "You are carrying: a mug 1.")).holding == ("mug 1",)
    assert (
        after(
            ("inventory", "You are carrying: a mug 1."),
            ("inventory", "You are not carrying anything."),
        ).hand
        is None
    )


def test_the_signature_is_the_papers():
    opened = (
        "open fridge 1",
        "You open the fridge 1. The fridge 1 is open. In it, you see nothing.",
    )
    belief = after(("go to fridge 1", "You arrive at loc 3. The fridge 1 is closed."), opened)
    assert str(belief.signature()) == "holding=none|location=fridge 1|open=fridge 1"
    assert str(after().signature()) == "holding=none"
    parsed = StateSignature.parse("holding=none|open=fridge 1,microwave 1")
    assert parsed.get("open") == ("fridge 1", "microwave 1")


def test_the_lines_say_what_is_known_shortly():
    belief = after(
        (
            "go to shelf 1",
            "You arrive at loc 2. On the shelf 1, you see a mug 2, a book 1, and a mug 1.",
        ),
        ("go to desk 1", "You arrive at loc 1. On the desk 1, you see nothing."),
    )
    assert belief.lines() == (
        "Holding: nothing",
        "Location: desk 1",
        "Here: nothing",
        "Seen: mug 2 in shelf 1, mug 1 in shelf 1",
        "Not yet searched: drawer 1-2, fridge 1",
    )


def test_the_papers_lines_say_nothing_of_sightings_and_unsearched_places():
    lines = world.wording.brief
    assert lines(after(), Progress("find_object", "mug", 0, 3)) == ("  Holding: nothing",)
    belief = after(
        ("go to fridge 1", "You arrive at loc 2. The fridge 1 is closed."),
        ("open fridge 1", "You open the fridge 1. The fridge 1 is open. In it, you see a mug 1."),
        ("take mug 1 from fridge 1", "You pick up the mug 1 from the fridge 1."),
    )
    assert lines(belief, Progress("find_object", "mug", 0, 3)) == (
        "  Holding: mug 1",
        "  Location: fridge 1",
        "  Open: fridge 1",
    )


def test_the_lines_stay_short_in_every_builtin_game():
    dice = random.Random(2)
    for game in games("0.3"):
        belief = walk(game, dice, 40)
        assert sum(map(estimate_tokens, belief.lines())) <= 180


@given(st.one_of(st.none(), st.text()), st.text())
def test_any_text_is_read_without_an_error(action, observation):
    belief = update(after(), action, observation)
    belief.lines()
    belief.signature()


@given(
    st.sampled_from(
        [
            "You arrive at ",
            "You put the ",
            "The ",
            "On the ",
            "You are facing the ",
            "This is a ",
            "You open the ",
        ]
    ),
    st.text(max_size=40),
)
def test_mangled_answers_are_read_without_an_error(start, rest):
    belief = update(AlfworldBelief(Goal("unknown")), "look", start + rest)
    assert belief.truth(Atom("at", ("desk 1",))) in tuple(Truth)
    belief.lines()


@given(
    st.lists(st.tuples(st.sampled_from("jp"), st.integers(0, 5), st.integers(0, 5)), max_size=20)
)
def test_sites_never_hold_two_places_together_and_apart(steps):
    """Against a made-up truth: places 0-1, 2-3 and 4-5 share their sites."""
    sites = Sites()
    for place in range(6):
        sites = sites.put(str(place), sites.site_of(str(place)))
    for kind, one, other in steps:
        if kind == "j" and one // 2 == other // 2:
            sites = sites.put(str(one), sites.of[str(other)])
        elif kind == "p" and one // 2 != other // 2:
            sites = sites.part(sites.of[str(one)], sites.of[str(other)])
    for one in range(6):
        for other in range(6):
            assert sites.together(str(one), str(other)) in (None, one // 2 == other // 2)
