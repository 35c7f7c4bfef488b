"""What the planner reads: rooms as trees of things, and the transcript back from a prompt."""

import itertools

import pytest

from rpms.core.prompt import Budget, Layout, Turn, build, transcript
from rpms.worlds.scienceworld.planner import IDLE, follow
from rpms.worlds.scienceworld.planner.agent import Agent, Failed, Move
from rpms.worlds.scienceworld.planner.animals import life_span
from rpms.worlds.scienceworld.planner.procedures import PROCEDURES
from rpms.worlds.scienceworld.planner.rooms import ROOMS, route
from rpms.worlds.scienceworld.planner.text import read_thing, read_view
from rpms.worlds.scienceworld.planner.transcript import Heard, read_transcript
from rpms.worlds.scienceworld.tasks import PAPER_TASKS

KITCHEN = """This room is called the kitchen. In it, you see:
	the agent
	a substance called air
	a counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.
	a fridge. The fridge door is closed.
	a switch, which is off
	a substance called soap
You also see:
	A door to the bathroom (that is closed)
	A door to the hallway (that is open)
"""


def test_a_room_is_read_as_a_tree():
    view = read_view(KITCHEN)
    assert view is not None
    assert (view.room, view.doors) == ("kitchen", {"bathroom": False, "hallway": True})
    assert [thing.name for thing in view.things] == ["counter", "fridge", "soap", "switch"]
    assert "banana" in [thing.name for thing in view.things[0].walk()]
    assert view.things[1].closed
    assert view.things[3].flags == {"off"}


def test_a_room_is_the_same_in_whatever_order_it_lists_its_things():
    other = KITCHEN.replace("a red apple, a banana", "a banana, a red apple").replace("\ta substance called soap\n", "")
    other = other.replace("\ta counter", "\ta substance called soap\n\ta counter")
    assert other != KITCHEN
    assert read_view(other) == read_view(KITCHEN)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a bed. On the bed is: a mattress. On the mattress is: a white pillow..", ["bed", "mattress", "white pillow"]),
        (
            ("a flower pot 6 (containing soil, a pea plant in the reproducing stage with a tall height (that looks"
            " unwell). On the pea plant you see: a purple flower, a round green pea seed. )"),
            [
                "flower pot 6", "pea plant in the reproducing stage with a tall height", "purple flower",
                "round green pea seed", "soil",
            ],
        ),
        ("a metal pot (containing a substance called liquid rubber (on fire))", ["metal pot", "liquid rubber"]),
    ],
)  # fmt: skip
def test_things_within_things_are_found(text, names):
    assert [thing.name for thing in read_thing(text).walk()] == names


def test_what_is_no_room_is_no_view():
    assert read_view("The door is now open.") is None


@pytest.mark.parametrize("limit", [10_000, 60])
def test_the_transcript_is_read_back_whatever_the_budget_cut(limit):
    history = [Turn(f"opening\n{KITCHEN}", "open fridge", "I am\nhungry")]
    history += [
        Turn(f"said {number}\nand more", f"do {number}", "" if number % 2 else "why not") for number in range(9)
    ]
    prompt = build(transcript(history, "the end"), Layout.PAPER, Budget(prompt=limit))
    assert bool(prompt.cut) == (limit == 60)
    read = read_transcript(prompt)
    assert read.opening == history[0].observation
    assert [turn.action for turn in read.turns] == [turn.action for turn in history]
    assert [turn.observation for turn in read.turns] == [*(turn.observation for turn in history[1:]), "the end"]


def test_the_first_step_has_no_turns():
    assert read_transcript(build(transcript([], KITCHEN), Layout.PAPER, Budget())).turns == ()


def test_every_way_through_the_house_uses_doors():
    for start in ROOMS:
        for end in ROOMS:
            way = (start, *route(start, end))
            assert way[-1] == end
            assert all(after in ROOMS[before] for before, after in itertools.pairwise(way))


def test_a_procedure_that_fails_or_ends_only_waits():
    def fails():
        yield Move("", "look around")
        raise Failed

    def ends():
        yield Move("", "look around")

    assert follow(ends(), Agent(), []) == Move("", "look around")
    for procedure in (fails, ends):
        assert follow(procedure(), Agent(), [Heard("look around", KITCHEN)]) == IDLE


def test_a_menu_is_answered_with_the_thing_in_its_place():
    agent = Agent(places={"metal pot": "stove"})
    doing = agent.do("look at metal pot")
    assert next(doing).action == "look at metal pot"
    menu = (
        "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
        "0:\tlook at metal pot (in cupboard, in kitchen)\n1:\tlook at metal pot (in stove, in kitchen)\n"
    )
    assert doing.send(menu).action == "1"


def test_a_menu_about_what_is_in_a_vessel_is_answered_with_the_vessel_in_its_place():
    agent = Agent(places={"metal pot": "inventory"})
    doing = agent.do("look at ice in metal pot")
    next(doing)
    menu = (
        "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
        "0:\tlook at ice (in metal pot, in freezer, in kitchen)\n"
        "1:\tlook at ice (in metal pot, in inventory, in agent, in kitchen)\n"
    )
    assert doing.send(menu).action == "1"


def test_a_menu_is_answered_alike_in_whatever_order():
    menu = "Ambiguous request: Please enter the number\n0:\topen {} (in kitchen)\n1:\topen {} (in kitchen)\n"
    for names, number in ((("drawer", "cupboard"), "1"), (("cupboard", "drawer"), "0")):
        doing = Agent().do("open it")
        next(doing)
        assert doing.send(menu.format(*names)).action == number


def test_what_is_carried_is_not_picked_up_again():
    agent = Agent(places={"metal pot": "inventory"})
    assert list(agent.carry("metal pot")) == []
    agent.places["metal pot"] = "stove"
    assert next(agent.carry("metal pot")).action == "pick up metal pot"


def test_doors_that_were_opened_are_not_opened_again():
    agent = Agent()
    agent.see(KITCHEN)
    doing = agent.goto("workshop")
    assert next(doing).action == "go to hallway"
    agent.note("go to hallway", "You move to the hallway.")
    assert doing.send("You move to the hallway.").action == "open door to workshop"


def test_life_spans_are_known_in_every_stage_of_life():
    assert life_span("giant tortoise egg") > life_span("baby brown bear") > life_span("baby mouse")
    assert life_span("fountain") is None


def test_each_of_the_papers_tasks_has_a_procedure():
    assert set(PAPER_TASKS) <= set(PROCEDURES)
