"""Harmless form is forgiven, and said; everything else passes unchanged."""

import random

import pytest
from household import DIALECTS, builtin_games
from hypothesis import given
from hypothesis import strategies as st

from rpms.worlds.alfworld import world

OPENING = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a countertop 1, a "
    "fridge 1, a microwave 1, and a sinkbasin 1.\n\nYour task is to: put a hot apple in fridge."
)


def belief_with(*observations, dialect="0.3"):
    where = "loc 1" if dialect == "0.3" else "countertop 1"
    belief = world.update(world.start(world.goal(OPENING)), None, OPENING)
    arrived = f"You arrive at {where}. On the countertop 1, you see a apple 1, a egg 2, a egg 1, and a knife 1."
    for observation in (arrived, *observations):
        belief = world.update(belief, "", observation)
    return belief


HOLDING = "You pick up the apple 1 from the countertop 1."

FORGIVEN = {
    "Action: go to fridge 1": "go to fridge 1",
    "action:open cabinet 2": "open cabinet 2",
    "> look": "look",
    "Go To Fridge 1": "go to fridge 1",
    "go to the fridge 1.": "go to fridge 1",
    "goto fridge 1": "go to fridge 1",
    '"take egg 2 from countertop 1"': "take egg 2 from countertop 1",
    "take the egg 2 from the countertop 1": "take egg 2 from countertop 1",
    "pick up egg 2 from countertop 1": "take egg 2 from countertop 1",
    "pick up egg 2": "take egg 2 from countertop 1",
    "open fridge": "open fridge 1",
    "open the refrigerator": "open fridge 1",
    "go to counter top 1": "go to countertop 1",
    "go  to   fridge 1": "go to fridge 1",
    "go to fridge 1\nObs: The fridge 1 is closed.": "go to fridge 1",
}
HANDLED = {
    "put apple 1 on countertop 1": "put apple 1 in/on countertop 1",
    "put apple 1 in fridge 1": "put apple 1 in/on fridge 1",
    "put the apple into the fridge": "put apple 1 in/on fridge 1",
    "place apple 1 onto countertop 1": "put apple 1 in/on countertop 1",
    "move apple 1 to countertop 1": "put apple 1 in/on countertop 1",
    "heat apple 1": "heat apple 1 with microwave 1",
    "heat apple 1 using microwave 1": "heat apple 1 with microwave 1",
    "Cool apple with fridge.": "cool apple 1 with fridge 1",
}
UNCHANGED = [
    "go to fridge 1",
    "open cabinet",
    "take egg from countertop 1",
    "dance",
    "go to moon 1",
    "",
    "think: I should go to fridge 1",
    "put apple 1",
    "take apple 9",
]


@pytest.mark.parametrize(("written", "meant"), FORGIVEN.items())
def test_harmless_form_is_forgiven_and_recorded(written, meant):
    command = world.command(written, belief_with())
    assert command.text == meant
    assert command.repairs


@pytest.mark.parametrize(("written", "meant"), HANDLED.items())
def test_what_is_in_hand_completes_an_action(written, meant):
    command = world.command(written, belief_with(HOLDING))
    assert command.text == meant
    assert command.repairs


@pytest.mark.parametrize("written", UNCHANGED)
def test_what_is_exact_or_not_understood_is_left_alone(written):
    command = world.command(written, belief_with())
    assert (command.text, command.repairs) == (written, ())


@pytest.mark.parametrize(
    "written",
    ["toggle desklamp 1 desk 1", "toggle desklamp 1", "turn on the desklamp 1", "Use desklamp"],
)
def test_the_papers_toggle_is_the_engines_use(written):
    belief = belief_with("You arrive at loc 2. On the desk 1, you see a desklamp 1.")
    assert world.command(written, belief).text == "use desklamp 1"


def test_put_is_said_in_the_games_dialect():
    for dialect, exact in (
        ("0.3", "put apple 1 in/on fridge 1"),
        ("0.4", "move apple 1 to fridge 1"),
    ):
        belief = belief_with(HOLDING, dialect=dialect)
        for written in (
            "put apple 1 in/on fridge 1",
            "move apple 1 to fridge 1",
            "put apple 1 in fridge 1",
        ):
            command = world.command(written, belief)
            assert command.text == exact
            assert bool(command.repairs) == (written != exact)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_the_engine_accepts_is_never_touched(dialect):
    dice = random.Random(4)
    for _, game in builtin_games(dialect):
        outcome = game.reset()
        belief, action = world.start(world.goal(outcome.observation)), None
        for _ in range(30):
            belief = world.update(belief, action, outcome.observation)
            for command in game.admissible():
                assert world.command(command, belief) == world.command(command, belief).__class__(
                    command
                )
            action = dice.choice(game.admissible())
            outcome = game.step(action)


@given(st.text())
def test_any_text_gives_a_command(text):
    world.command(text, belief_with())


@given(
    st.lists(
        st.sampled_from(
            [
                "put",
                "take",
                "go",
                "to",
                "the",
                "apple",
                "1",
                "egg",
                "fridge",
                "in",
                "on",
                "from",
                "with",
                "Action:",
                ".",
            ]
        ),
        max_size=12,
    )
)
def test_forgiving_twice_is_forgiving_once(words):
    belief = belief_with()
    once = world.command(" ".join(words), belief).text
    assert world.command(once, belief).text == once


FORM = {
    "Go To Fridge 1.": "go to fridge 1",
    "pick up the egg 2 from countertop 1": "take egg 2 from countertop 1",
    "put apple 1 on countertop 1": "put apple 1 in/on countertop 1",
    "go to counter top 1": "go to countertop 1",
    "toggle desklamp 1 desk 1": "use desklamp 1",
}
FROM_THE_BELIEF = (
    "open fridge",
    "pick up egg 2",
    "heat apple 1",
    "put the apple into the fridge 1",
)


@pytest.mark.parametrize(("written", "meant"), FORM.items())
def test_form_alone_is_forgiven_without_the_belief(written, meant):
    assert world.form(written, belief_with(HOLDING)).text == meant


@pytest.mark.parametrize("written", FROM_THE_BELIEF)
def test_what_only_the_belief_can_add_is_not_form(written):
    belief = belief_with(HOLDING) if "apple" in written else belief_with()
    assert world.command(written, belief).text != world.form(written, belief).text


def test_the_dialect_of_put_is_form():
    assert (
        world.form("put apple 1 in fridge 1", belief_with(HOLDING, dialect="0.4")).text
        == "move apple 1 to fridge 1"
    )
