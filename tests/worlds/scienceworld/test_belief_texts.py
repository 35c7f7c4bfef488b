"""Reading the simulator's prose: nested listings, deeds, refusals, and any other text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laboratory import KITCHEN, REFUSALS

from rpms.worlds.scienceworld import observations as heard
from rpms.worlds.scienceworld.observations import Thing, parse_thing, state_of, substance_of
from rpms.worlds.scienceworld.tree import alike, read_phrase, walk


def shape(thing):
    """A thing as nested lists, to compare at a glance."""
    return (
        thing.name,
        sorted(thing.flags),
        None if thing.contents is None else [shape(one) for one in thing.contents],
    )


def names(thing):
    return [one.name for one in walk((thing,))]


def test_a_room_is_read_with_its_nesting_and_its_doors():
    sight = heard.room_sight("Your task is to boil water.\n\n" + KITCHEN)
    assert sight.room == "kitchen"
    assert sight.agent_there
    assert sight.doors == {"hallway": True, "outside": False}
    assert [shape(thing) for thing in sight.things] == [
        ("air", [], None),
        (
            "counter",
            [],
            [("bowl", [], [("red apple", [], None), ("orange", [], None)]), ("drawer", [], None)],
        ),
        ("cupboard", ["closed"], None),
        ("oven", ["closed", "off"], None),
        ("sink", ["on"], []),
        ("stopwatch", ["off"], None),
        ("thermometer", ["10 degrees"], None),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a bed. On the bed is: a mattress. On the mattress is: a white pillow..", ["bed", "mattress", "white pillow"]),
        ("a table. On the table is: a lamp, which is off, a stopwatch, which is deactivated. , a cup (containing tea).",
         ["table", "lamp", "stopwatch", "cup", "tea"]),
        ("a flower pot 5 (containing a pea plant (that looks unwell). On the pea plant you see: a bee, a bud. , soil)",
         ["flower pot 5", "pea plant", "bee", "bud", "soil"]),
        ("a book (The Long Title) titled The Long Title by A. Writer", ["book (The Long Title)"]),
        ("an inclined plane with a cloth surface, with: a brick approximately 10% down the plane",
         ["inclined plane with a cloth surface", "brick"]),
        ("a toilet. In the toilet is: A drain, which is open, a substance called water.", ["toilet", "drain", "water"]),
        ("a cupboard. The cupboard door is open. In the cupboard is: \n\ta tin cup (containing nothing)\n\ta drawer\n",
         ["cupboard", "tin cup", "drawer"]),
        ("liquid marshmallow (on fire)", ["liquid marshmallow"]),
        ("a black wireits terminal 1 is connected to: x, its terminal 2 is connected to: nothing", ["black wire"]),
        ("a battery. its anode is connected to: nothing. its cathode is connected to: nothing. ", ["battery"]),
    ],
)  # fmt: skip
def test_nested_prose_is_taken_apart(text, expected):
    assert names(parse_thing(text)) == expected


def test_stages_and_states_become_flags():
    plant = parse_thing("a apple tree in the adult stage with a tall height")
    assert (plant.name, plant.flags) == ("apple tree", {"in the adult stage", "with a tall height"})
    assert "on fire" in parse_thing("liquid marshmallow (on fire)").flags
    block = parse_thing("an inclined plane B, with: a brick at the bottom of the plane").contents[0]
    assert block.flags == {"at the bottom of the plane"}


def test_a_carried_table_keeps_what_stands_on_it():
    listing = "In your inventory, you see:\n\tan orange\n\ta table. On the table is: \n\ta cup\n\n\ta jug\n"
    assert [thing.name for thing in heard.carried(listing)] == ["orange", "table", "jug"]
    assert [thing.name for thing in heard.carried(listing)[1].contents] == ["cup"]


@pytest.mark.parametrize(
    ("text", "verb", "thing", "place"),
    [
        ("You move to the kitchen.", "go", "kitchen", ""),
        ("You move through the door to the living room.", "go", "living room", ""),
        ("You move the metal pot to the stove.", "move", "metal pot", "stove"),
        ("You pour the contents of the wood cup into the jug.", "pour", "wood cup", "jug"),
        ("You pour the blue paint into the wood cup.", "move", "blue paint", "wood cup"),
        ("You dunk the cup in the pot, moving the liquids (water) to the cup.", "dunk", "cup", "pot"),
        ("The door is now open.", "door", "", "open"),
        ("The ultra low temperature freezer is now open.", "lid", "ultra low temperature freezer", "open"),
        ("The stove is now activated.", "switch", "stove", "activated"),
        ("the thermometer measures a temperature of -5.5 degrees celsius", "measure", "-5.5", ""),
        ("Blue and yellow paint mix to produce green paint.", "mix", "green paint", ""),
        ("anode on battery is now connected to anode on bulb", "connect", "anode on battery", "anode on bulb"),
        ("The orange was delicious.", "eat", "orange", ""),
        ("You focus on the water.", "focus", "water", ""),
    ],
)  # fmt: skip
def test_deeds(text, verb, thing, place):
    done = heard.deed(text)
    assert (done.verb, done.object, done.place) == (verb, thing, place)
    assert not heard.refused(text)


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_are_known_as_such(text):
    assert heard.refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "The door is already open.",
        "You decide to wait for 10 iterations.",
        "a metal pot (containing nothing)",
        "",
    ],
)
def test_what_changes_nothing_is_no_refusal(text):
    assert not heard.refused(text)


@given(st.text(alphabet="ab ,.()\n\tTheOnInis:which offcontaining", max_size=300))
def test_any_text_is_read_without_error(text):
    for read in (
        heard.room_sight,
        heard.carried,
        heard.inside,
        heard.deed,
        heard.refused,
        parse_thing,
        read_phrase,
    ):
        read(text)


@pytest.mark.parametrize(
    "piece",
    ["a pot (containing ", "On the x is: ", ", which is off", ". ", "((", "a b, ", " mix to "],
)
def test_reading_takes_linear_time(piece):
    def seconds(times):
        text = "In your inventory, you see:\n\t" + piece * times
        start = time.process_time()
        heard.carried(text)
        heard.deed(text)
        heard.refused(text)
        parse_thing(text)
        return time.process_time() - start

    seconds(100)
    short = seconds(1_000)
    # ten times as long; a quadratic reader takes a minute
    assert seconds(10_000) < 30 * short + 1


def test_names_are_matched_as_the_simulator_uses_them():
    pairs = {("wood cup", "cup"): True, ("adult bee", "bee 2"): True, ("red apple", "apple"): True,
             ("blue jay egg", "blue jay"): True, ("drawing", "drawing of a boat"): True,
             ("flower pot 1", "flower pot 2"): False, ("wood cup", "wood"): False,
             ("apple tree", "apple"): False}  # fmt: skip
    assert {pair: alike(*pair) for pair in pairs} == pairs


def test_substances_keep_one_name_through_their_states():
    assert [substance_of(name) for name in ("ice", "steam", "gaseous orange juice", "lead")] == [
        "water", "water", "orange juice", "lead",
    ]  # fmt: skip
    assert state_of(Thing("ice")) == "solid"
    assert state_of(parse_thing("solid unknown substance C")) == "solid"
    assert state_of(Thing("chair")) is None
