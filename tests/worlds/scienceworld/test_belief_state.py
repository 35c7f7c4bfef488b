"""The belief: what each answer changes, and what stays unknown."""

from hypothesis import given
from hypothesis import strategies as st
from laboratory import KITCHEN, MENU, after, in_kitchen

from rpms.logic.facts import Atom, Truth
from rpms.worlds.scienceworld import world


def see(belief, words):
    """The first thing that words may mean, here or carried."""
    return next((found.thing for found in belief.meant(words)), None)


def test_the_opening_gives_the_room_and_its_doors_but_not_the_inventory():
    belief = after()
    assert belief.room == belief.location == "hallway"
    assert belief.exits["hallway"] == {"kitchen": False, "workshop": True}
    assert belief.exits["workshop"] == {"hallway": True}
    assert not belief.inventory_known
    assert belief.holding == ()
    assert str(belief.signature()) == "room=hallway|inventory=empty"
    assert belief.lines()[0] == "Room: hallway  Carrying: nothing known"


def test_going_through_doors():
    belief = after(
        ("open door to kitchen", "The door is now open."),
        ("go kitchen", "You move to the kitchen."),
    )
    assert belief.room == "kitchen"
    assert belief.looked == {"hallway"}
    assert belief.exits["kitchen"]["hallway"] is True


def test_a_door_opened_without_saying_which_leaves_all_in_doubt():
    belief = after(("open door", "The door is now open."))
    assert belief.exits["hallway"] == {"kitchen": None, "workshop": None}


def test_a_door_chosen_from_a_menu_is_known():
    menu = "Ambiguous request: Which?\n0:\topen door between kitchen and hallway\n1:\topen door between a and b\n"
    belief = after(("open door", menu))
    assert len(belief.menu) == 2
    belief = world.update(belief, "0", "The door is now open.")
    assert belief.exits["hallway"] == {"kitchen": True, "workshop": True}
    assert belief.menu == ()


def test_looking_at_another_room_does_not_go_there():
    belief = after(("look at kitchen", KITCHEN.replace("\tthe agent\n", "")))
    assert belief.room == "hallway"
    assert "kitchen" in belief.looked
    assert belief.last_seen["thermometer"] == "kitchen"


def test_things_move_with_what_is_in_them():
    belief = in_kitchen(
        ("pick up bowl", "You move the bowl to the inventory."),
        ("move orange in inventory to sink", "You move the orange to the sink."),
    )
    assert belief.holding == ("bowl",)
    assert [thing.name for thing in belief.inventory[0].contents] == ["red apple"]
    assert see(belief, "orange in sink") is not None
    assert belief.last_seen["red apple"] == "inventory"
    assert belief.last_seen["orange"] == "kitchen"


def test_a_number_means_the_option_it_picks():
    belief = in_kitchen(
        ("inventory", "In your inventory, you see:\n\tan orange\n"), ("eat orange", MENU)
    )
    eaten = world.update(belief, "1", "The orange was delicious.")
    assert eaten.holding == ()
    assert see(eaten, "orange in bowl") is not None


def test_containers_and_devices_follow_what_is_done_to_them():
    belief = in_kitchen(
        ("open cupboard", "The cupboard is now open."),
        (
            "look in cupboard",
            "Inside the cupboard is: \n\ta metal pot (containing nothing)\n\ta drawer\n",
        ),
        ("activate oven", "The oven is now activated."),
    )
    assert belief.containers == {"cupboard": True, "oven": False}
    assert {seen.name for seen in belief.visible() if "on" in seen.thing.flags} == {"oven", "sink"}
    assert see(belief, "metal pot").contents == ()
    again = world.update(belief, "look around", KITCHEN)
    assert see(again, "metal pot in cupboard") is not None, (
        "what a closed door hides is still known"
    )


def test_pouring_mixing_and_measuring():
    belief = in_kitchen(
        ("pick up thermometer", "You move the thermometer to the inventory."),
        ("look at sink", "a sink. In the sink is: a jug (containing salt), a pot (containing water)."),
        ("use thermometer on water", "the thermometer measures a temperature of 20 degrees celsius"),
        ("pour jug into pot", "You pour the contents of the jug into the pot."),
        ("mix pot", "Salt and water mix to produce salt water."),
    )  # fmt: skip
    assert belief.temperature("ice") == belief.temperature("water") == 20.0
    assert see(belief, "jug").contents == ()
    assert [thing.name for thing in see(belief, "pot in sink").contents] == ["salt water"]
    assert belief.instruments == ("thermometer",)
    assert "instrument=thermometer" in str(belief.signature())


def test_states_of_matter_are_kept_with_their_history():
    belief = in_kitchen(
        ("examine substance in sink", "a substance called water"),
        ("examine steam", "a substance called steam"),
    )
    assert belief.state_history["water"][-1] == "gas"
    assert belief.state_history["water"] == ("liquid", "gas")


def test_instruments_and_papers_are_read():
    belief = in_kitchen(
        ("examine stopwatch", "a stopwatch, which is deactivated. The time reads 21 ticks."),
        (
            "read recipe",
            "The recipe reads:\nTo make salt water, you need to mix sodium chloride, water.",
        ),
        (
            "look at inclined plane b",
            "an inclined plane B, with: a brick approximately 40% down the plane",
        ),
        ("connect a to b", "anode on battery is now connected to terminal 1 on red wire"),
        ("activate stove", "The stove appears broken, and can't be activated or deactivated."),
    )
    assert belief.readings["stopwatch"] == "21"
    assert belief.readings["inclined plane B"] == "40"
    assert belief.readings["recipe"].endswith("sodium chloride, water.")
    assert belief.connections == {("anode on battery", "terminal 1 on red wire")}
    assert belief.broken == {"stove in kitchen"}
    moved = world.update(
        belief, "move battery to box", "(disconnecting battery)You move the battery to the box."
    )
    assert moved.connections == frozenset()


def test_refused_commands_are_remembered_until_something_is_done():
    belief = after(("go to kitchen", "The door is not open."))
    assert belief.failed
    assert belief.room == "hallway"
    assert world.update(belief, "open door to kitchen", "The door is now open.").failed is False


def test_a_closed_door_by_any_name_leads_to_the_room_behind_it():
    belief = after(("go to door to kitchen", "The door is not open."))
    assert "door to kitchen" not in belief.exits["hallway"]
    belief = world.update(belief, "open door to kitchen", "The door is now open.")
    assert belief.truth(Atom("shut", ("kitchen",))) is Truth.FALSE


def test_facts_have_three_values():
    belief = after()
    values = {
        ("near", "kitchen"): Truth.TRUE, ("shut", "kitchen"): Truth.TRUE, ("shut", "the workshop"): Truth.FALSE,
        ("near", "foundry"): Truth.FALSE, ("carried", "orange"): Truth.UNKNOWN, ("decoy", "stove"): Truth.TRUE,
        ("near", "door"): Truth.UNKNOWN, ("decoy", "water"): Truth.FALSE, ("nonsense", "x"): Truth.UNKNOWN,
    }  # fmt: skip
    assert {key: belief.truth(Atom(key[0], key[1:])) for key in values} == values
    assert belief.truth(Atom("near")) is Truth.UNKNOWN


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=120)), max_size=6))
def test_any_texts_leave_a_belief_and_the_same_texts_the_same_one(steps):
    assert after(*steps) == after(*steps)


def test_a_thing_called_by_its_place_is_known_by_that_name_after_it_was_taken():
    two_cups = KITCHEN.replace(
        "\ta stopwatch,",
        "\ta table. On the table is: a glass cup (containing nothing).\n"
        "\ta chair. On the chair is: a glass cup (containing nothing).\n\ta stopwatch,",
    )
    belief = in_kitchen(
        ("look around", two_cups),
        ("pick up glass cup in table", "You move the glass cup to the inventory."),
    )
    for predicate in ("carried", "handled"):
        assert belief.value(predicate, ("glass cup in table",)) is True
    assert belief.value("carried", ("glass cup in chair",)) is False
