"""Goals in the games' words, and the way to them."""

import pytest
from household import mind, official_rows
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.goal import UNKNOWN_GOAL
from rpms.paper.decide import decide
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.goals import TASK_TYPES, parse_goal

SENTENCES = {
    "put a mug in desk.": "pick_and_place_simple:mug::desk",
    "put some soapbottle on toilet.": "pick_and_place_simple:soapbottle::toilet",
    "look at pen under the desklamp.": "look_at_obj_in_light:pen::desklamp",
    "examine the cd with the desklamp.": "look_at_obj_in_light:cd::desklamp",
    "put a clean ladle in drawer.": "pick_clean_then_place_in_recep:ladle:clean:drawer",
    "clean some soapbar and put it in cabinet.": "pick_clean_then_place_in_recep:soapbar:clean:cabinet",
    "put a hot mug in cabinet.": "pick_heat_then_place_in_recep:mug:hot:cabinet",
    "heat some egg and put it in diningtable.": "pick_heat_then_place_in_recep:egg:hot:diningtable",
    "put a cool tomato in microwave.": "pick_cool_then_place_in_recep:tomato:cool:microwave",
    "cool some pan and put it in stoveburner.": "pick_cool_then_place_in_recep:pan:cool:stoveburner",
    "put two creditcard in armchair.": "pick_two_obj_and_place:creditcard::armchair",
    "find two pillow and put them in sofa.": "pick_two_obj_and_place:pillow::sofa",
    "put a gizmo in contraption.": "pick_and_place_simple:gizmo::contraption",
}
BEYOND = [
    "do the dishes",
    "",
    "put a box with keys on the sofa",
    "put a slice of bread in the fridge",
    "heat a mug",
    "42",
]


@pytest.mark.parametrize(("sentence", "signature"), SENTENCES.items())
def test_sentences_are_read(sentence, signature):
    opening = f"You are in the middle of a room.\n\nYour task is to: {sentence}"
    assert str(parse_goal(opening).signature) == signature
    assert parse_goal(opening).text == sentence


@pytest.mark.parametrize("sentence", BEYOND)
def test_what_fits_no_template_is_honestly_unknown(sentence):
    goal = parse_goal(sentence)
    assert (goal.type, goal.text) == (UNKNOWN_GOAL, sentence)


@pytest.mark.parametrize("split", ["train", "valid_seen"])
def test_every_goal_of_the_official_games_is_read(shared, split):
    for row in official_rows(shared, split):
        goal = world.goal(f"Welcome.\n\nYour task is to: {row['goal']}")
        _, thing, _, destination, _ = row["game"].split("/")[1].split("-")
        assert goal.type == row["task_type"]
        assert (goal.object, goal.destination) == (thing.lower(), destination.lower())


@given(st.text())
def test_no_text_is_an_error(text):
    assert parse_goal(text).type in (UNKNOWN_GOAL, *TASK_TYPES)


@given(
    st.lists(
        st.sampled_from(
            [
                "put",
                "a",
                "two",
                "hot",
                "clean",
                "lamp",
                "mug",
                "in",
                "the",
                "fridge",
                "and",
                "on",
                "desk",
                "examine",
                "with",
            ]
        )
    )
)
def test_no_mixture_of_known_words_is_an_error(words):
    goal = parse_goal(" ".join(words))
    assert goal.type == UNKNOWN_GOAL or (goal.object and goal.destination)


OPENING = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 2, a desk 1, a fridge 1, and a "
    "microwave 1.\n\nYour task is to: "
)


def progress_texts(sentence, *observations):
    goal = world.goal(OPENING + sentence)
    belief, texts = world.start(goal), []
    for action, observation in (
        (None, OPENING + sentence),
        *(("", observation) for observation in observations),
    ):
        decision = decide(mind(), goal, belief, action, observation, ())
        belief = decision.belief
        texts.append((decision.progress.text, decision.progress.percent))
    return texts


def test_progress_of_a_transformation():
    assert progress_texts(
        "put a hot mug in desk.",
        "You arrive at loc 1. On the desk 1, you see a mug 3.",
        "You pick up the mug 3 from the desk 1.",
        "You heat the mug 3 using the microwave 1.",
        "You put the mug 3 in/on the desk 1.",
    ) == [
        ("find_object - mug", 0),
        ("take_object - mug 3", 25),
        ("heat_object - mug 3", 50),
        ("put_object - mug 3", 75),
        ("done", 100),
    ]


def test_progress_of_two_counts_what_is_placed_in_one_place():
    assert progress_texts(
        "put two mug in desk.",
        "You arrive at loc 1. On the desk 1, you see a mug 1.",
        "You arrive at loc 2. On the desk 2, you see a mug 2.",
        "You pick up the mug 2 from the desk 2.",
        "You move the mug 2 to the desk 1.",
    ) == [
        ("find_object - mug", 0),
        ("find_object - mug", 50),
        ("take_object - mug 2", 66),
        ("put_object - mug 2", 83),
        ("done", 100),
    ]


def test_progress_of_looking_at_something_under_a_lamp():
    assert progress_texts(
        "look at mug under the desklamp.",
        "You arrive at loc 1. On the desk 1, you see a mug 1.",
        "You pick up the mug 1 from the desk 1.",
        "You arrive at loc 2. On the desk 2, you see a desklamp 1.",
        "You turn on the desklamp 1.",
    ) == [
        ("find_object - mug", 0),
        ("take_object - mug 1", 25),
        ("find_object - desklamp", 50),
        ("use_object - desklamp 1", 75),
        ("done", 100),
    ]
