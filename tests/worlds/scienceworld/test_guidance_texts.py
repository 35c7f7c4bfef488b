"""Menu, guidance and compact rules from texts alone, without a simulator."""

import pytest
from laboratory import BOIL, DESCRIPTIONS, HALLWAY, KITCHEN, MENU, after, in_kitchen

from rpms.core.belief import Situation
from rpms.core.goal import Progress
from rpms.core.guard import review
from rpms.core.loops import find_loop
from rpms.core.menu import make_menu
from rpms.core.prompt import Turn
from rpms.core.tokens import estimate_tokens
from rpms.core.voice import standing_blocks
from rpms.play.setup import manual_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.commands import repair
from rpms.worlds.scienceworld.focus import is_decoy
from rpms.worlds.scienceworld.guidance.advice import _ACTIONS, _ALWAYS
from rpms.worlds.scienceworld.procedures import procedure

MANUAL = manual_of(world)
RULES_SHOWN = 400
"""Tokens of compact rules that leave room for memories (280), menu, goal and belief within 800."""


def rules(belief):
    return MANUAL.active(belief.goal.type, belief.goal.object)


def menu(belief, size=5):
    situation = Situation(belief, belief.goal)
    return make_menu(world.suggest(situation, rules(belief), ()), situation, rules(belief), (), size, ranked=True)


def guide(belief, history=()):
    return world.guide(Situation(belief, belief.goal), rules(belief), (), history)


def opening(task, room=HALLWAY):
    return f"Your task is to {DESCRIPTIONS[task]}\n\n{room}"


def outside(task, *things, doors="\tA door to the kitchen (that is open)\n"):
    lines = "".join(f"\t{thing}\n" for thing in things)
    sight = f"This outside location is called the outside. Here you see: \n\tthe agent\n{lines}You also see:\n{doors}"
    return after(opening=opening(task, sight))


def test_what_was_never_seen_is_looked_for_where_it_is_likeliest():
    assert menu(after()).best == "open door to kitchen"
    (line,) = guide(after())
    assert line.startswith("  Now: look for thermometer; the door to kitchen is closed: open it; likeliest unsearched")
    assert line.endswith(" rooms: kitchen, foundry, workshop, living room")


def test_what_is_here_is_picked_up_and_what_may_hide_the_rest_is_opened():
    assert menu(in_kitchen()).best == "pick up thermometer"
    assert guide(in_kitchen())[0] == "  Now: thermometer is here: pick it up"
    armed = in_kitchen(("pick up thermometer", "You move the thermometer to the inventory."))
    assert menu(armed).best == "open cupboard"
    done = [Turn("", "pick up thermometer")]
    assert "  Just done: pick up thermometer" in guide(armed, done)


def test_one_goes_back_where_a_thing_was_seen():
    left = in_kitchen(("go to hallway", "You move to the hallway."))
    assert guide(left)[0] == "  Now: thermometer was seen in the kitchen; go to kitchen"
    assert menu(left).best == "go to kitchen"


def test_what_was_just_refused_is_not_suggested_again():
    refused = in_kitchen(("pick up thermometer", "No known action matches that input."))
    assert menu(refused).best != "pick up thermometer"
    assert "  Tried in vain: pick up thermometer" in guide(refused)


def test_a_question_is_answered_with_a_number():
    asked = in_kitchen(("pick up orange", MENU))
    assert menu(asked).commands == ("0", "1")
    assert menu(asked).best == "0", "the other one is carried already"
    assert "answer with its number" in guide(asked)[0]


@pytest.mark.parametrize("task", DESCRIPTIONS)
def test_every_task_has_advice_from_its_first_moment(task):
    for belief in (
        after(opening=opening(task)),
        after(opening=opening(task, KITCHEN)),
        after(opening=opening(task, "")),
    ):
        shown = menu(belief, 50)
        assert shown.best
        assert guide(belief)[0].startswith("  Now: ")
        for command in shown.commands:
            assert repair(command, belief).text == command, "as the simulator wants it written"
            assert not (command.startswith("focus on ") and is_decoy(belief.goal, command.removeprefix("focus on ")))


def test_a_goal_of_no_template_has_a_menu_too():
    belief = after(opening="Do something nice.\n\n" + HALLWAY)
    assert "look around" in menu(belief).commands
    assert not any(command.startswith("focus") for command in menu(belief, 50).commands)


def test_only_the_right_animal_is_suggested_for_a_focus():
    zoo = (
        "a baby elephant",
        "a dragonfly egg",
        "a giant tortoise",
        "a parrot egg",
        "a bee hive. The bee hive door is closed. ",
    )
    for task, name in (("lifespan-longest-lived", "giant tortoise"), ("lifespan-shortest-lived", "dragonfly egg")):
        focuses = [command for command in menu(outside(task, *zoo), 50).commands if command.startswith("focus")]
        assert focuses == [f"focus on {name}"]


def test_a_life_stage_that_is_not_there_is_waited_for():
    task = "identify-life-stages-1"
    assert menu(outside(task, "a blue jay egg")).best == "focus on blue jay egg"
    late = outside(task, "a adult blue jay", "a dove egg")
    assert not any(command.startswith("focus") for command in menu(late, 50).commands)


PLANES = (
    "This room is called the workshop. In it, you see: \n\tthe agent\n\ta wood block\n"
    "\tan inclined plane B, with: nothing\n\tan inclined plane C, with: nothing\n"
    "You also see:\n\tA door to the hallway (that is open)\n"
)


def slid(plane, *looks):
    """Put the block on a plane and look at it, with what is seen each time."""
    yield f"move wood block to inclined plane {plane}", "You move the wood block to the inclined plane."
    for command, seen in looks:
        yield command, f"an inclined plane {plane}, with: a wood block {seen}" if command.startswith("look") else seen


def on_planes(*steps):
    return after(*steps, opening=opening("inclined-plane-determine-angle", PLANES))


def test_planes_are_compared_by_the_time_that_commands_took():
    waited = ("wait", "You decide to wait for 10 iterations.")
    slow = slid("C", ("look at inclined plane C", "approximately 5% down the plane"), waited,
                ("look at inclined plane C", "approximately 60% down the plane"))  # fmt: skip
    fast = slid("B", ("look at inclined plane B", "approximately 30% down the plane"),
                ("look at inclined plane B", "approximately 62% down the plane"))  # fmt: skip
    belief = on_planes(*slow)
    assert menu(belief).best == "move wood block to inclined plane B"
    assert menu(on_planes(*slid("C", ("look at inclined plane C", "approximately 5% down the plane")))).best.startswith(
        "look"
    )
    for command, answer in fast:
        belief = world.update(belief, command, answer)
    assert [c for c in menu(belief, 50).commands if c.startswith("focus")] == ["focus on inclined plane C"], (
        "shallowest"
    )


def test_a_look_at_the_room_does_not_slow_a_block_that_has_left_its_plane():
    seen = ("look at inclined plane C", "approximately 62% down the plane")
    moved = ("move wood block to inclined plane B", "You move the wood block to the inclined plane.")
    belief = on_planes(*slid("C", seen), moved)
    later = world.update(belief, "look around", PLANES)
    assert later.readings["speed on inclined plane C"] == belief.readings["speed on inclined plane C"] == "62.000"


def test_a_block_that_came_down_unseen_is_timed_again():
    waited = ("wait", "You decide to wait for 10 iterations.")
    late = on_planes(*slid("C", waited, ("look at inclined plane C", "at the bottom of the plane")))
    assert menu(late).best == "pick up wood block"


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


def test_compact_rules_name_actions_of_the_manual():
    known = {schema.name for schema in rules(after()).environment}
    assert known.issuperset(_ALWAYS)
    assert known.issuperset(name for names in _ACTIONS.values() for name in names)


@pytest.mark.parametrize("task", DESCRIPTIONS)
def test_compact_rules_leave_room_for_the_rest(task):
    belief = after(opening=opening(task))
    for step in procedure(belief.goal):
        shown = world.focus(rules(belief), Progress(step.kind, step.target, 0, 1))
        blocks = standing_blocks(world.voice, shown, estimate_tokens)
        assert sum(block.tokens for block in blocks if block.part not in ("instruction", "example")) < RULES_SHOWN
        assert len(shown.environment) < len(rules(belief).environment)


def states(*steps, opening=BOIL + HALLWAY):
    """The turns that lead through some steps, and the state after them, as an episode keeps them."""
    belief, turns = after(opening=opening), []
    for command, answer in steps:
        moment = f"{belief.signature()}|{world.progress(belief.goal, belief).moment}"
        turns.append(Turn("", command, state=moment, failed=world.infeasible(answer)))
        belief = world.update(belief, command, answer)
    return turns, f"{belief.signature()}|{world.progress(belief.goal, belief).moment}"


LOOKED = ("look around", HALLWAY)


def test_looking_again_and_again_is_a_loop():
    assert not find_loop(*states(LOOKED))
    assert "You keep coming back" in find_loop(*states(LOOKED, LOOKED, LOOKED))


def test_finding_something_out_is_no_loop():
    opened = [(f"open door to {room}", "The door is now open.") for room in ("kitchen", "workshop")]
    assert not find_loop(*states(*opened, ("look around", HALLWAY.replace("closed", "open")), LOOKED))


def test_watching_what_takes_time_is_no_loop():
    heated = [
        ("focus on water", "You focus on the water."),
        ("pick up metal pot", "You move the metal pot to the inventory."),
    ]
    waits = [("wait", "You decide to wait for 10 iterations.")] * 5
    kitchen = KITCHEN.replace("\ta stopwatch", "\ta metal pot (containing a substance called water)\n\ta stopwatch")
    assert not find_loop(*states(*heated, *waits, opening=BOIL + kitchen))
    assert find_loop(*states(*waits)), "in the hallway, with nothing heated, it is"
