"""Plans from texts alone, without a simulator: what the manual and a belief say is to be done."""

import pytest
from laboratory import BOIL, DESCRIPTIONS, HALLWAY, KITCHEN, MENU, after, in_kitchen

from rpms.logic.belief import Situation
from rpms.logic.goal import Progress
from rpms.paper import progress
from rpms.paper.beyond import turn_state
from rpms.paper.compose import compose, extended
from rpms.paper.condition import FULL
from rpms.paper.decide import decide
from rpms.paper.prompt import Turn
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.planning.hints import find_loop
from rpms.planning.reason import plan_for
from rpms.planning.remedies import review
from rpms.play.sources import knowledge_of, manual_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.commands import repair

MANUAL = manual_of(world)


def rules(belief):
    return MANUAL.active(belief.goal.type, belief.goal.object)


def plan(belief):
    return plan_for(rules(belief), Situation(belief, belief.goal))


def standing(belief):
    return progress.standing(rules(belief), Situation(belief, belief.goal))


def commands(belief):
    return [option.command for option in plan(belief).options]


def best(belief):
    return commands(belief)[0]


def opening(task, room=HALLWAY):
    return f"Your task is to {DESCRIPTIONS[task]}\n\n{room}"


def outside(task, *things, doors="\tA door to the kitchen (that is open)\n"):
    lines = "".join(f"\t{thing}\n" for thing in things)
    sight = f"This outside location is called the outside. Here you see: \n\tthe agent\n{lines}You also see:\n{doors}"
    return after(opening=opening(task, sight))


def test_what_was_never_seen_is_looked_for_where_it_is_likeliest():
    assert best(after()) == "open door to kitchen"
    (first, *_) = plan(after()).options
    assert "pick up metal pot ?" in [link.command for link in first.chain], (
        "and the plan says what for"
    )


def test_what_is_here_is_taken_and_what_may_hide_the_rest_is_opened():
    belief = in_kitchen(("open cupboard", "The cupboard is now open."))
    assert best(in_kitchen()).startswith("open ")
    assert best(belief) == "look around", "an open cupboard shows what is in it"
    stocked = KITCHEN.replace(
        "door is closed. \n\ta oven", "door is open. In the cupboard is: a metal pot.\n\ta oven"
    )
    belief = world.update(belief, "look around", stocked)
    assert best(belief) == "pick up metal pot"
    taken = world.update(belief, "pick up metal pot", "You move the metal pot to the inventory.")
    assert best(taken) == "move metal pot to sink"


def test_one_goes_back_where_a_thing_was_seen():
    task = opening("use-thermometer")
    seen = [("go to kitchen", "You move to the kitchen."), ("look around", KITCHEN)]
    belief = after(*seen, ("go to hallway", "You move to the hallway."), opening=task)
    assert best(belief) == "go to kitchen"
    assert standing(belief).progress == Progress("take", "thermometer", 0, 5)


def test_a_question_is_answered_with_a_number():
    asked = in_kitchen(("pick up orange", MENU))
    assert commands(asked) == ["0"], "the other one is carried already"


@pytest.mark.parametrize("task", DESCRIPTIONS)
def test_every_task_has_a_plan_from_its_first_moment(task):
    for belief in (
        after(opening=opening(task)),
        after(opening=opening(task, KITCHEN)),
        after(opening=opening(task, "")),
    ):
        assert commands(belief)
        for command in commands(belief):
            assert repair(command, belief).text == command, "as the simulator wants it written"
            assert not (
                command.startswith("focus on ")
                and belief.value("decoy", (command.removeprefix("focus on "),))
            )


def test_a_goal_of_no_template_is_explored_and_nothing_is_focused_on():
    belief = after(opening="Do something nice.\n\n" + HALLWAY)
    assert {"go to workshop", "open door to kitchen"} <= set(commands(belief))
    assert not any(command.startswith("focus") for command in commands(belief))


def test_only_the_right_animal_is_focused_on():
    zoo = (
        "a baby elephant",
        "a dragonfly egg",
        "a giant tortoise",
        "a parrot egg",
        "a bee hive. The bee hive door is closed. ",
    )
    for task, name in (
        ("lifespan-longest-lived", "giant tortoise"),
        ("lifespan-shortest-lived", "dragonfly egg"),
    ):
        focuses = [
            command for command in commands(outside(task, *zoo)) if command.startswith("focus")
        ]
        assert focuses == [f"focus on {name}"]


def test_a_life_stage_that_is_not_there_is_waited_for():
    task = "identify-life-stages-1"
    assert best(outside(task, "a blue jay egg")) == "focus on blue jay egg"
    late = outside(task, "a adult blue jay", "a dove egg")
    assert best(late) == "wait1"
    assert not any(command.startswith("focus") for command in commands(late))


PLANES = (
    "This room is called the workshop. In it, you see: \n\tthe agent\n\ta wood block\n"
    "\ta stopwatch, which is activated. \n"
    "\tan inclined plane B, with: nothing\n\tan inclined plane C, with: nothing\n"
    "You also see:\n\tA door to the hallway (that is open)\n"
)
WATCH = ("pick up stopwatch", "You move the stopwatch to the inventory.")
WAITED = ("wait", "You decide to wait for 10 iterations.")


def slid(plane, *looks):
    """Put the block on a plane and look at it, with what is seen each time."""
    yield (
        f"move wood block to inclined plane {plane}",
        "You move the wood block to the inclined plane.",
    )
    for command, seen in looks:
        yield (
            command,
            f"an inclined plane {plane}, with: a wood block {seen}"
            if command.startswith("look")
            else seen,
        )


def on_planes(*steps):
    return after(WATCH, *steps, opening=opening("inclined-plane-determine-angle", PLANES))


def test_planes_are_compared_by_the_time_that_commands_took():
    slow = slid("C", ("look at inclined plane C", "approximately 5% down the plane"), WAITED,
                ("look at inclined plane C", "approximately 60% down the plane"))  # fmt: skip
    fast = slid("B", ("look at inclined plane B", "approximately 30% down the plane"),
                ("look at inclined plane B", "approximately 62% down the plane"))  # fmt: skip
    belief = on_planes(*slow)
    assert best(belief) == "move wood block to inclined plane B"
    for command, answer in fast:
        belief = world.update(belief, command, answer)
    assert commands(belief) == ["focus on inclined plane C"], "shallowest"
    assert standing(belief).stage == 2


def test_a_look_at_the_room_does_not_slow_a_block_that_has_left_its_plane():
    seen = ("look at inclined plane C", "approximately 62% down the plane")
    moved = (
        "move wood block to inclined plane B",
        "You move the wood block to the inclined plane.",
    )
    belief = on_planes(*slid("C", seen), moved)
    later = world.update(belief, "look around", PLANES)
    assert (
        later.readings["speed on inclined plane C"]
        == belief.readings["speed on inclined plane C"]
        == "62.000"
    )


def test_a_block_that_came_down_unseen_is_timed_again():
    late = on_planes(*slid("C", WAITED, ("look at inclined plane C", "at the bottom of the plane")))
    assert best(late) == "pick up wood block"


def test_progress_follows_the_procedure_and_is_part_of_the_signature():
    belief = after(opening=opening("find-animal", HALLWAY))
    assert standing(belief).stage == 0
    found = outside("find-animal", "a parrot egg")
    focused = world.update(found, "focus on parrot egg", "You focus on the parrot egg.")
    assert (standing(focused).stage, standing(focused).progress.text) == (1, "put_it_in_its_box")
    mind = compose(FULL, knowledge_of(world), EpisodicMemory())
    decision = decide(
        mind, found.goal, found, "focus on parrot egg", "You focus on the parrot egg.", ()
    )
    assert str(decision.state_signature) == "room=outside|inventory=empty|progress=1"


def test_where_nothing_works_as_planned_one_looks_again():
    mind = extended(compose(FULL, knowledge_of(world), EpisodicMemory()))
    belief, history, tried = in_kitchen(), [], []
    for _ in range(8):
        decision = decide(mind, belief.goal, belief, None, belief.observation, history)
        tried.append(plan_of(decision).options[0].command)
        state = turn_state(decision.belief, decision.progress)
        history.append(
            Turn("", tried[-1], state=state, failed=tried[-1] not in ("look around", "inventory"))
        )
    assert "look around" in tried
    assert "inventory" in tried


LEFT = ("go to hallway", "You move to the hallway.")
SHUT = ("close door to kitchen", "The door is now closed.")


@pytest.mark.parametrize(
    ("belief", "command", "said"),
    [
        (after(), "go to kitchen", "the door to kitchen is closed; first: open door to kitchen"),
        (in_kitchen(), "look in cupboard", "first: open cupboard"),
        (in_kitchen(LEFT), "pick up thermometer", "first: go to kitchen"),
        (in_kitchen(LEFT, SHUT), "pick up thermometer", "first: open door to kitchen"),
    ],
)
def test_the_guard_names_what_would_help(belief, command, said):
    refusal = review(command, rules(belief), Situation(belief, belief.goal))
    assert refusal is not None
    assert said in refusal.text


def states(*steps, opening=BOIL + HALLWAY):
    """The turns that lead through some steps, and the state after them, as an episode keeps
    them.
    """
    belief, turns = after(opening=opening), []
    for command, answer in steps:
        state = turn_state(belief, standing(belief).progress)
        turns.append(Turn("", command, state=state, failed=world.infeasible(answer)))
        belief = world.update(belief, command, answer)
    return turns, turn_state(belief, standing(belief).progress)


LOOKED = ("look around", HALLWAY)


def test_looking_again_and_again_is_a_loop():
    assert not find_loop(*states(LOOKED))
    assert "You keep coming back" in find_loop(*states(LOOKED, LOOKED, LOOKED))


def test_finding_something_out_is_no_loop():
    opened = [(f"open door to {room}", "The door is now open.") for room in ("kitchen", "workshop")]
    assert not find_loop(
        *states(*opened, ("look around", HALLWAY.replace("closed", "open")), LOOKED)
    )


def test_watching_what_takes_time_is_no_loop():
    waits = [("wait", "You decide to wait for 10 iterations.")] * 5
    assert not find_loop(*states(*waits, opening=BOIL + KITCHEN)), "the sink runs"


WORKSHOP = (
    "This room is called the workshop. In it, you see: \n\tthe agent\n"
    "\ta ultra low temperature freezer. The ultra low temperature freezer door is open. In it is: nothing.\n"
    "You also see:\n\tA door to the hallway (that is open)\n"
)


def test_what_is_broken_is_known_to_be_from_every_room():
    off = KITCHEN.replace("a sink, which is turned on", "a sink, which is turned off")
    broken = ("activate sink", "The sink appears broken, and can't be activated or deactivated.")
    pot = (
        "look around",
        off.replace("\ta cupboard", "\ta metal pot (containing nothing)\n\ta cupboard"),
    )
    held = ("pick up metal pot", "You move the metal pot to the inventory.")
    belief = in_kitchen(pot, held, broken, ("go to hallway", "You move to the hallway."))
    assert not any(
        link.command == "move metal pot to sink"
        for option in plan(belief).options
        for link in option.chain
    )
    assert "sink ?" in belief.names["tap"], "another one is looked for"


def test_a_device_is_told_from_another_whose_name_ends_like_its_own():
    cold = KITCHEN.replace("\ta sink", "\ta freezer. The freezer door is closed. \n\ta sink")
    way = [
        ("go to hallway", "You move to the hallway."),
        ("go to workshop", "You move to the workshop."),
    ]
    names = in_kitchen(("look around", cold), *way, ("look around", WORKSHOP)).by_name
    assert {"freezer in kitchen", "ultra low temperature freezer"} <= names.keys()


def test_a_thing_is_known_by_its_kind_though_a_colour_is_shown_with_it():
    scene = in_kitchen(("look around", KITCHEN.replace("\ta sink", "\ta orange apricot\n\ta sink")))
    assert list(scene.of_kind("apricot")) == ["orange apricot"]
    assert not list(scene.of_kind("freezer")), "a device only by its own name"


def test_a_block_that_does_not_move_is_timed_too():
    stays = ("look at inclined plane C", "at the top of the plane")
    belief = on_planes(*slid("C", stays, WAITED, stays, WAITED, stays, WAITED, stays))
    assert best(belief) == "move wood block to inclined plane B"


def test_the_substance_is_not_focused_on_before_the_thermometer_though_it_is_in_a_pot_already():
    pot = KITCHEN.replace(
        "\ta cupboard", "\ta metal pot (containing a substance called gallium)\n\ta cupboard"
    )
    task = (
        "Your task is to measure the melting point of gallium, which is located around the kitchen. First, focus on "
        "the thermometer. Next, focus on the gallium. If the melting point of gallium is above 200.0 degrees celsius, "
        "focus on the blue box. If the melting point of gallium is below 200.0 degrees celsius, focus on the orange "
        "box. The boxes are located around the kitchen.\n\n"
    )
    assert best(after(opening=task + pot)) == "pick up thermometer"
