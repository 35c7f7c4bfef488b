"""The facts behind the manual's preconditions: what a belief knows, and what it leaves open."""

from inspect import signature

import pytest
from laboratory import BOIL, GOAL, HALLWAY, KITCHEN, after, goal, in_kitchen

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.facts import Atom, Truth
from rpms.paper.arbitration import Arbitration, judge
from rpms.paper.memory import SuccessSnippet
from rpms.paper.review import review_rules
from rpms.paper.verdict import Candidate, Fate, Verdict
from rpms.planning.from_here import executable_from_here, judge_here
from rpms.planning.remedies import review
from rpms.play.sources import manual_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.belief import PREDICATES
from rpms.worlds.scienceworld.recipes.household import RECIPES

MANUAL = manual_of(world)
RULES = MANUAL.active("F3", "boil")
ALWAYS = {"look_around", "inventory", "task", "wait", "reset_task", "choose"}
BACK = (
    ("go to hallway", "You move to the hallway."),
    ("look around", HALLWAY.replace("(that is closed)", "(that is open)")),
)
INVENTORY = ("inventory", "In your inventory, you see:\n\tan orange\n")


def truth(belief, predicate, *args):
    return belief.truth(Atom(predicate, args))


def refusal(belief, command):
    return review(command, RULES, Situation(belief, goal("boil")))


def snippet(*actions):
    return SuccessSnippet(
        GOAL, StateSignature.parse("room=kitchen|inventory=empty|progress=0"), "find", actions
    )


def test_every_predicate_of_the_manual_is_answered():
    assert set(MANUAL.predicates) == {*PREDICATES, *RECIPES, *MANUAL.lore.decided}
    assert set(PREDICATES).isdisjoint(RECIPES)
    assert set(MANUAL.lore.decided).isdisjoint({*PREDICATES, *RECIPES})
    for name, predicate in MANUAL.predicates.items():
        if name in PREDICATES:
            assert len(signature(PREDICATES[name]).parameters) - 1 == len(predicate.args), name
        for belief in (after(), in_kitchen()):
            assert isinstance(
                belief.truth(Atom(name, ("0", "stove")[: len(predicate.args)])), Truth
            ), name


def test_all_but_what_always_works_has_preconditions():
    assert {schema.name for schema in MANUAL.actions if not schema.preconditions} == ALWAYS


def test_what_is_seen_or_carried_is_here():
    belief = in_kitchen(
        ("pick up thermometer", "You move the thermometer to the inventory."), *BACK
    )
    assert truth(belief, "here", "thermometer") is Truth.TRUE
    assert truth(belief, "here", "thermometer in inventory") is Truth.TRUE
    assert truth(belief, "here", "kitchen") is Truth.TRUE, "a room next door can be looked at"
    assert truth(belief, "here", "air") is Truth.TRUE


def test_what_stays_where_it_was_seen_is_not():
    belief = in_kitchen(*BACK)
    assert truth(belief, "here", "sink") is Truth.FALSE
    assert truth(belief, "here", "thermometer") is Truth.FALSE
    assert truth(after(), "here", "stove") is Truth.FALSE, (
        "it cannot be carried, and is not in this room"
    )


@pytest.mark.parametrize(
    "name", ["orange", "water", "adult bee", "substance", "organism", "terminal 1", "jug", "x y"]
)
def test_what_may_have_come_about_or_along_is_left_open(name):
    assert truth(in_kitchen(*BACK), "here", name) is Truth.UNKNOWN


def test_a_thing_left_in_another_room_is_not_one_here_with_a_shorter_name():
    """The cupboard of the kitchen is not the large cupboard that was seen elsewhere."""
    opening = BOIL + HALLWAY.replace("\ta picture\n", "\ta large cupboard\n")
    to_kitchen = (
        ("open door to kitchen", "The door is now open."),
        ("go to kitchen", "You move to the kitchen."),
        ("look around", KITCHEN),
    )
    belief = after(*to_kitchen, opening=opening)
    assert truth(belief, "here", "cupboard") is Truth.TRUE
    assert truth(belief, "here", "large cupboard") is Truth.FALSE
    assert truth(belief, "with", "kitchen", "large cupboard") is Truth.FALSE
    assert truth(belief, "with", "hallway", "large cupboard") is Truth.TRUE


def test_a_thing_in_another_rooms_furniture_is_not_one_of_its_kind_here():
    """A kitchen with a drawer in its counter has no drawer in the desk of the hallway."""
    desk = "\ta desk. On the desk is: a drawer.\n"
    opening = BOIL + HALLWAY.replace("\ta picture\n", desk)
    to_kitchen = (
        ("open door to kitchen", "The door is now open."),
        ("go to kitchen", "You move to the kitchen."),
        ("look around", KITCHEN),
    )
    belief = after(*to_kitchen, opening=opening)
    assert "drawer in desk" in belief.by_name
    assert truth(belief, "with", "kitchen", "drawer in desk") is Truth.FALSE
    assert truth(belief, "with", "hallway", "drawer in desk") is Truth.TRUE
    assert truth(belief, "here", "drawer in counter") is Truth.TRUE


def test_a_longer_name_that_was_seen_nowhere_may_mean_a_thing_here():
    assert truth(in_kitchen(), "here", "large cupboard") is Truth.TRUE


def test_what_the_agent_has_moved_may_be_anywhere():
    there = ("move thermometer to hallway", "You move the thermometer to the hallway.")
    assert truth(in_kitchen(there), "here", "thermometer") is not Truth.FALSE


def test_a_room_not_looked_at_may_hold_anything():
    belief = after(("go to workshop", "You move to the workshop."))
    assert truth(belief, "here", "stove") is Truth.UNKNOWN


def test_an_open_lid_that_was_not_looked_under_may_hide_things():
    opened = in_kitchen(INVENTORY, ("open cupboard", "The cupboard is now open."))
    assert truth(in_kitchen(INVENTORY), "here", "jug") is Truth.FALSE
    assert truth(opened, "here", "jug") is Truth.UNKNOWN


def test_a_vessel_by_another_name_may_be_meant():
    jar = KITCHEN.replace(
        "a stopwatch, which is deactivated. ", "a seed jar (containing an apple seed)"
    )
    belief = in_kitchen(INVENTORY, ("look around", jar))
    assert truth(belief, "here", "ceramic cup") is Truth.UNKNOWN


@pytest.mark.parametrize(
    "name", ["moon", "foundry", "bathroom", "door to greenhouse", "the living area", "hall"]
)
def test_no_way_leads_where_no_door_was_listed(name):
    assert truth(after(), "near", name) is Truth.FALSE
    assert refusal(after(), f"go to {name}").text.startswith("no door leads from here to ")
    assert refusal(after(), f"open door to {name}") is not None
    assert (
        truth(in_kitchen(("go to hallway", "You move to the hallway.")), "near", "kitchen")
        is Truth.TRUE
    )


@pytest.mark.parametrize("name", ["door", "room", "location", "workshop in house", "kitchen floor"])
def test_a_way_that_may_be_meant_by_other_words_is_left_open(name):
    assert truth(after(), "near", name) is Truth.UNKNOWN
    assert refusal(after(), f"go to {name}") is None


def test_in_a_room_not_looked_at_any_door_may_be():
    unseen = after(("go to workshop", "You move to the workshop."))
    assert truth(unseen, "near", "foundry") is Truth.UNKNOWN
    assert truth(unseen, "near", "hallway") is Truth.TRUE


@pytest.mark.parametrize(
    ("name", "forbidden"), [("table", True), ("water", False), ("metal pot", True)]
)
def test_a_word_within_a_word_of_the_task_does_not_name_a_thing(name, forbidden):
    assert "acceptable" in goal("boil").text
    found = review_rules(f"focus on {name}", RULES, Situation(after(), goal("boil")))
    assert (found is not None) is forbidden


def test_within_is_answered():
    belief = in_kitchen()
    assert truth(belief, "within", "orange", "bowl") is Truth.TRUE
    assert truth(belief, "within", "bowl", "counter") is Truth.TRUE
    assert truth(belief, "within", "thermometer", "sink") is Truth.FALSE
    assert truth(belief, "within", "gold", "sink") is Truth.UNKNOWN


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("go to oven", "no door leads from here to oven"),
        ("open thermometer", "thermometer has nothing to open or close"),
        ("pick up oven", "oven cannot be carried as it is"),
        ("pick up water", "water cannot be carried as it is"),
        ("move orange to stopwatch", "stopwatch has nothing to open or close"),
        ("dunk stopwatch into sink", "stopwatch has nothing to open or close"),
        ("mix thermometer", "thermometer does not hold several things"),
        ("activate bowl", "bowl is broken or no device"),
        ("use bowl on orange", "bowl is no tool for orange"),
        ("use thermometer on oven", "thermometer is no tool for oven"),
        ("go to kitchen", "you are in kitchen"),
        ("open door to kitchen", "you are in kitchen"),
        ("move orange to workshop", "workshop is neither here nor carried"),
        ("pour thermometer into sink", "thermometer has nothing to open or close"),
        ("dunk bowl into thermometer", "no liquid is in thermometer"),
        ("read oven", "oven cannot be read"),
        ("eat thermometer", "thermometer cannot be eaten"),
        ("flush sink", "sink cannot be flushed"),
        ("connect stove to sink", "stove is neither here nor carried"),
    ],
)
def test_the_guard_gives_its_reason(command, reason):
    assert refusal(in_kitchen(), command).reason == reason


@pytest.mark.parametrize(
    "command",
    [
        *(
            "open cupboard",
            "close oven",
            "pick up table",
            "put down thermometer",
            "eat red apple",
            "mix substance",
        ),
        *(
            "connect door to hallway to bowl",
            "move orange to organism",
            "activate stopwatch",
            "open door to hallway",
        ),
    ],
)
def test_what_the_simulator_may_do_passes(command):
    assert refusal(in_kitchen(), command) is None


def test_a_plan_may_come_back_to_the_room_it_starts_from():
    situation = Situation(in_kitchen(), goal("boil"))
    there_and_back = snippet("go to hallway", "go to kitchen")
    assert judge(there_and_back, RULES, situation, Arbitration.HARD_SOFT).fate is not Fate.DROPPED


JAR = KITCHEN.replace(
    "a stopwatch, which is deactivated. ",
    "a glass jar (containing a substance called sodium chloride)",
)


def test_a_lid_that_no_listing_shows_is_closed_until_it_is_opened():
    belief = in_kitchen(("look around", JAR))
    assert truth(belief, "open", "glass jar") is Truth.FALSE
    assert truth(belief, "here", "sodium chloride") is Truth.FALSE
    opened = in_kitchen(
        ("look around", JAR), ("open glass jar", "The glass jar is now open."), ("look around", JAR)
    )
    assert truth(opened, "open", "glass jar") is Truth.TRUE
    assert truth(opened, "here", "sodium chloride") is Truth.TRUE


def test_one_substance_cannot_be_mixed_until_another_is_added():
    belief = in_kitchen(("look around", JAR))
    assert truth(belief, "several", "glass jar") is Truth.FALSE
    moved = world.update(
        belief, "move orange to glass jar", "You move the orange to the glass jar."
    )
    assert truth(moved, "several", "glass jar") is Truth.UNKNOWN


def test_opening_is_said_to_help_with_pouring_and_is_not_denied():
    opened = in_kitchen(("open oven", "The oven is now open."))
    assert truth(in_kitchen(), "pourable", "oven") is Truth.FALSE
    assert truth(opened, "pourable", "oven") is Truth.UNKNOWN


def test_what_was_taken_along_unseen_may_hold_anything():
    taken = in_kitchen(INVENTORY, ("pick up desk", "You move the desk to the inventory."))
    assert truth(taken, "here", "jug") is Truth.UNKNOWN


def test_components_are_connected_by_a_free_contact():
    joined = (
        "connect anode on battery to terminal 1 on red wire",
        "anode on battery is now connected to terminal 1 on red wire",
    )
    belief = in_kitchen(joined)
    assert truth(belief, "joinable", "battery", "table") is Truth.FALSE
    assert truth(belief, "joinable", "bowl", "bowl") is Truth.FALSE
    assert truth(belief, "joinable", "anode on battery", "table") is Truth.FALSE
    assert truth(belief, "joinable", "cathode on battery", "table") is Truth.UNKNOWN


def test_a_closed_lid_is_to_be_opened_first():
    assert refusal(in_kitchen(), "move orange to cupboard").remedy == "open cupboard"


def test_what_is_elsewhere_is_where_it_was_last_seen():
    assert (
        refusal(in_kitchen(*BACK), "activate sink").text
        == "sink is neither here nor carried; first: go to kitchen"
    )
    assert refusal(in_kitchen(), "move orange to stopwatch").remedy == ""


def test_a_plan_is_followed_from_room_to_room():
    situation = Situation(in_kitchen(*BACK), goal("boil"))
    fates = {
        actions: judge_here(snippet(*actions), RULES, situation, Arbitration.HARD_SOFT).fate
        for actions in (
            ("activate sink",),
            ("go to kitchen", "activate sink"),
            ("go to kitchen", "pick up thermometer", "go to hallway", "use thermometer on picture"),
        )
    }
    assert list(fates.values()) == [Fate.DROPPED, Fate.WARNED, Fate.WARNED]


def test_consistency_by_precondition_follows_the_effects():
    situation = Situation(in_kitchen(), goal("boil"))
    plans = [("move orange to cupboard",), ("open cupboard", "move orange to cupboard")]
    found = executable_from_here(
        [Candidate(snippet(*plan), 1.0, 1.0, Verdict(Fate.KEPT)) for plan in plans],
        situation,
        RULES,
    )
    assert {each.entry.actions: each.verdict.fate for each in found} == {
        plans[0]: Fate.FILTERED,
        plans[1]: Fate.KEPT,
    }


ODD_ROOM = (
    "This room is called the kitchen. In it, you see: \n\ta gizmo\n\ta pea plant in the adult stage\n"
    "\tunknown substance B\n\ta stove, which is turned off.\n\ta bowl (containing orange juice)\n\tthe agent\n"
    "You also see:\n\tA door to the hallway (that is open)\n"
)
ODD = ("look around", ODD_ROOM)


def test_a_thing_of_no_list_may_be_anything_whether_shown_or_not():
    belief = in_kitchen(ODD)
    for use in ("lid", "paper", "food", "flushed"):
        assert truth(belief, use, "gizmo") is Truth.UNKNOWN
        assert truth(belief, use, "thingamajig") is Truth.UNKNOWN
    assert truth(belief, "works", "gizmo") is Truth.UNKNOWN
    assert truth(belief, "helps", "gizmo", "stove") is Truth.UNKNOWN
    for command in ("open gizmo", "activate gizmo", "eat gizmo", "use gizmo on stove"):
        assert refusal(belief, command) is None, command


def test_what_the_simulator_itself_rules_out_stays_false():
    belief = in_kitchen(ODD)
    for name in ("pea plant", "unknown substance B"):
        assert truth(belief, "lid", name) is Truth.FALSE
        assert truth(belief, "works", name) is Truth.FALSE
    assert truth(belief, "helps", "stove", "gizmo") is Truth.FALSE
    assert truth(belief, "helps", "shovel", "gizmo") is Truth.FALSE, "it digs in the ground alone"


def test_juice_is_wet_though_it_is_food():
    assert truth(in_kitchen(ODD), "wet", "bowl") is not Truth.FALSE
