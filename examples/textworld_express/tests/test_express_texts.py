"""Texts of the games, and the belief made of them. No Java."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textworld_express_world import observations as said
from textworld_express_world.games import parse_goal
from textworld_express_world.world import start, update, world

from rpms.conformance.walk import view
from rpms.logic.belief import Situation
from rpms.logic.facts import Truth, parse_literal
from rpms.logic.goal import UNKNOWN_GOAL
from rpms.planning.surprise import compare
from rpms.planning.trust import UNSHAKEN
from rpms.play.sources import knowledge_of

COIN = "Your task is to search the environment and find the coin.  Once you find the coin, take it."
COOK = (
    "You are hungry! Let's cook a delicious meal. Check the cookbook in the kitchen for the recipe. Once done, enjoy "
    "your meal!"
)
KITCHEN = (
    "You are in the kitchen. In one part of the room you see a stove. There is also a fridge that is closed. You also "
    "see a counter that has a knife, some salt, and a raw purple potato on it. In another part of the room you see An "
    "open kitchen cupboard, that contains a coin. In one part of the room you see a dining chair, that has nothing on "
    "it. There is also an open trash can, that is empty. \nTo the North you see a closed plain door. Through an open "
    "screen door, to the South you see the backyard. To the East you see the living room. "
)
RECIPE = (
    "Gather all following ingredients and follow the directions to prepare this tasty meal.\n\nIngredients:\n  salt\n"
    "  purple potato\n\nDirections:\n  dice the purple potato\n  grill the purple potato\n  prepare meal\n\n"
)


def believed(task: str, *turns: str | tuple[str, str]):
    """The belief after an opening and some turns of (action, answer)."""
    belief = start(parse_goal(f"{task}\n\n{turns[0]}"))
    belief = update(belief, None, f"{task}\n\n{turns[0]}")
    for action, answer in turns[1:]:
        belief = update(belief, action, answer)
    return belief


def holds(belief, fact: str) -> bool | None:
    return {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: None}[
        parse_literal(fact).truth(belief)
    ]


def test_a_look_is_read_to_the_last_thing():
    name, place, _ = said.room(KITCHEN)
    assert name == "kitchen"
    assert place.exits == {"north": None, "south": "backyard", "east": "living room"}
    assert place.doors == {"north": True, "south": False}
    assert [name for name, each in place.furniture.items() if each.lid] == [
        "fridge",
        "kitchen cupboard",
        "trash can",
    ]
    assert "stove" in place.loose
    assert [place.furniture[name].open for name in ("fridge", "counter", "trash can")] == [
        False,
        True,
        True,
    ]
    assert place.furniture["counter"].content == ("knife", "salt", "purple potato")
    assert place.furniture["kitchen cupboard"].content == ("coin",)


@pytest.mark.parametrize(
    ("text", "name", "states"),
    [
        ("a fried sliced green hot pepper", "green hot pepper", {"fried", "sliced"}),
        ("an raw egg", "egg", {"raw"}),
        ("some olive oil", "olive oil", set()),
        ("21kg of marble", "21kg of marble", set()),
    ],
)
def test_a_thing_goes_by_the_name_that_commands_want(text, name, states):
    assert said.food(text) == said.Food(name, frozenset(states))


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (
            ("21kg of marble", "47g of brick", "900mg of oak"),
            ("900mg of oak", "47g of brick", "21kg of marble"),
        ),
        (("2l of milk", "30ml of tea"), ("30ml of tea", "2l of milk")),
        (
            ("3m of rope", "40cm of wire", "50mm of tin"),
            ("50mm of tin", "40cm of wire", "3m of rope"),
        ),
        (("11 grapes", "2 melons", "1 apple"), ("1 apple", "2 melons", "11 grapes")),
    ],
)
def test_quantities_compare_across_units(names, order):
    assert tuple(sorted(names, key=said.quantity)) == order


def test_what_has_no_number_is_no_quantity():
    assert said.quantity("math problem") is None


@pytest.mark.parametrize(
    ("problem", "result"),
    [
        ("add 3 and 4", 7),
        ("subtract 3 from 4", 1),
        ("multiply 3 and 4", 12),
        ("divide 32 by 8", 4),
        ("divide 3 by 0", None),
    ],
)
def test_math_problems_are_solved(problem, result):
    text = (
        f"Your task is to solve the following math problem: {problem} . \nThen, pick up the item."
    )
    assert said.answer(text) == result


def test_orders_are_read_one_by_one_or_all_at_once():
    assert said.orders("Simon says, 'sit down'.") == ("sit down",)
    assert said.orders("Simon says, take these actions in order: eat pear, sit down.") == (
        "eat pear",
        "sit down",
    )
    assert said.orders("The current task is to take the papaya.") == ("take papaya",)
    assert said.orders("Simon says, you have completed the game.  You win!") == ()


def test_memorised_orders_are_crossed_off_as_they_are_followed():
    task = "Your task is to do exactly what Simon says."
    belief = believed(
        task, "Simon says, take these actions in order: eat pear, sit down.", ("eat pear", "")
    )
    assert belief.orders == ("sit down",)
    assert update(belief, "xyzzy", "Unknown action: I'm not sure what you mean.").orders == (
        "sit down",
    )


def test_rooms_behind_closed_doors_have_names_until_they_are_seen():
    belief = believed(COIN, KITCHEN)
    assert "room north of kitchen" in belief.rooms
    assert holds(belief, "leads(kitchen, north, room north of kitchen)")
    assert holds(belief, "with(room north of kitchen, ring)") is None
    belief = update(belief, "open door to north", "You open the plain door, revealing the pantry. ")
    assert "room north of kitchen" not in belief.rooms
    assert holds(belief, "leads(kitchen, north, pantry)")
    assert holds(belief, "shut(kitchen, north)") is False


def test_what_is_hidden_is_unknown_and_what_was_looked_at_is_known():
    belief = believed(COOK, KITCHEN)
    assert holds(belief, "with(kitchen, knife)")
    assert holds(belief, "here(egg)") is None  # the fridge is closed
    belief = update(belief, "open fridge", "You open the fridge. It's empty inside.")
    assert holds(belief, "here(egg)") is False
    assert holds(belief, "with(backyard, egg)") is None


def test_the_recipe_says_what_is_still_to_be_done():
    belief = believed(
        COOK,
        KITCHEN,
        ("read cookbook", RECIPE),
        ("take purple potato", "You take the purple potato."),
    )
    assert holds(belief, "calls_for(purple potato, dice)")
    assert holds(belief, "cut(purple potato)") is False
    assert holds(belief, "cut(salt)")
    belief = update(belief, "dice purple potato", "You dice the purple potato.")
    belief = update(
        belief, "cook purple potato in barbeque", "You grill the purple potato with the barbeque."
    )
    assert holds(belief, "cut(purple potato)")
    assert holds(belief, "cooked(purple potato)")
    assert belief.holding == ("purple potato",)


def test_a_full_inventory_is_learned_from_its_refusal():
    belief = believed(COOK, KITCHEN, ("take knife", "You take the knife."))
    full = "Your inventory currently has 1 items, and is full.  You can't pick up another item. "
    assert holds(belief, "full") is False
    assert holds(update(belief, "take salt", full), "full")
    assert world.infeasible(full)


def test_sorts_are_words_in_their_order_and_conditions_must_be_named():
    belief = believed(COIN, KITCHEN)
    assert holds(belief, "is_a(clean blue socks, clean socks)")
    assert not holds(belief, "is_a(clean blue socks, socks)")
    assert holds(belief, "is_a(gray golf shoes, shoes)")
    assert not holds(belief, "is_a(shoes golf, golf shoes)")


def test_names_get_back_the_letters_that_the_game_writes():
    belief = believed(COIN, "You are in the kitchen. There is also a TV remote control. \n")
    assert world.command("TAKE tv remote control.", belief).text == "take TV remote control"
    assert world.command("take TV remote control", belief).repairs == ()
    assert world.command("Move  North", belief).text == "move north"


def test_the_map_says_where_ways_lead_before_they_are_seen():
    task = (
        "Your task is to take the coin that is located in the pantry, and put it into the box found in the cellar. "
        "A map is provided, that you may find helpful."
    )
    belief = believed(
        task,
        "You are in the cellar. There is also a box, that is empty. \nTo the North you see the hall. ",
    )
    assert belief.holding == ("map",)
    assert holds(belief, "with(pantry, coin)")
    assert holds(belief, "mapped(hall, pantry)") is False
    chart = "The map reads:\n  The hall connects to the cellar and pantry.\n  The pantry connects to the hall.\n"
    belief = update(belief, "read map", chart)
    assert holds(belief, "mapped(hall, pantry)")
    assert holds(belief, "leads(hall, north, pantry)") is None


def test_what_is_none_of_the_tasks_is_unknown():
    assert parse_goal("Your task is to dance.").type == UNKNOWN_GOAL


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "open door to north", "take knife", "x"]), st.text(max_size=200)
        ),
        max_size=4,
    )
)
def test_a_belief_bears_any_text(turns):
    belief = believed(COOK, KITCHEN)
    for action, text in turns:
        for answer in (
            text,
            f"You are in the {text}. {text}",
            f"You put the {text} in the {text}.",
            KITCHEN[: len(text)],
        ):
            belief = update(belief, action, answer)
            view(belief)


def test_another_rooms_doors_are_no_surprise():
    opening = "You are in the backyard. \nTo the South you see the street. "
    street = "You are in the street. \nTo the North you see the backyard. To the South you see a closed glass door. "
    goal = world.goal(opening)
    before = world.update(world.start(goal), None, opening)
    after = world.update(before, "move south", street)
    rules = knowledge_of(world).manual.active(goal.type, goal.object, goal.destination)
    then, now = Situation(before, goal), Situation(after, goal)
    noticed = compare(UNSHAKEN, rules, then, "move south", now, refused=False)
    assert not noticed.surprises
    assert not noticed.trust.shaken
