"""Heat and cold: what readings tell of a substance that nothing is known of."""

import pytest

from rpms.logic.facts import Atom, Truth
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of, manual_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import task_at
from rpms.worlds.scienceworld.world import ScienceWorldGame
from tests.worlds.scienceworld.laboratory import after

DECIDED = manual_of(world).lore.decided
MELTING = (
    "Your task is to measure the melting point of unobtainium, which is located around the kitchen."
    " First, focus on the thermometer. Next, focus on the unobtainium. If the melting point of"
    " unobtainium is above 200.0 degrees celsius, focus on the red box. If the melting point of"
    " unobtainium is below 200.0 degrees celsius, focus on the green box. The boxes are located"
    " around the kitchen.\n\n"
)
ROOM = (
    "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta green box (containing nothing)\n"
    "\ta metal pot (containing nothing)\n\ta substance called unobtainium\n\ta red box (containing nothing)\n"
    "\ta stove, which is turned on. On the stove is: nothing.\n\ta thermometer\n"
    "You also see:\n\tA door to the hallway (that is open)\n"
)
TAKE = ("pick up thermometer", "You move the thermometer to the inventory.")
INTO_THE_POT = ("move unobtainium to metal pot", "You move the unobtainium to the metal pot.")
ONTO_THE_STOVE = ("move metal pot to stove", "You move the metal pot to the stove.")
SOLID = ("look at metal pot", "a metal pot (containing a substance called unobtainium)")
LIQUID = ("look at metal pot", "a metal pot (containing a substance called liquid unobtainium)")


def measured(degrees, name="unobtainium"):
    answer = f"the thermometer measures a temperature of {degrees} degrees celsius"
    return (f"use thermometer in inventory on {name}", answer)


def heated(*steps):
    """The belief after unobtainium was put on the stove, and more."""
    start = (TAKE, INTO_THE_POT, ONTO_THE_STOVE)
    return after(*start, *steps, opening=MELTING + ROOM)


SIDES = (
    "Your task is to measure the temperature of unobtainium, which is located around the kitchen."
    " First, focus on the thermometer. Next, focus on the unobtainium. If the unobtainium temperature"
    " is above 0.0 degrees celsius, place it in the red box. If the unobtainium temperature is below"
    " 0.0 degrees celsius, place it in the green box. The boxes are located around the kitchen.\n\n"
)
FREEZING = (
    "Your task is to freeze unobtainium. First, focus on the substance. Then, take actions that will"
    " cause it to change its state of matter.\n\n"
)
LIFT = ("pick up unobtainium", "You move the unobtainium to the inventory.")


def handled(*steps):
    """The belief where unobtainium is to be put into a box by its temperature."""
    return after(TAKE, *steps, opening=SIDES + ROOM)


def holds(belief, predicate, *names):
    belief = belief.deciding(DECIDED, belief.goal)
    return belief.truth(Atom(predicate, names)) is Truth.TRUE


def test_a_substance_moved_by_hand_is_solid_and_one_that_cannot_be_is_liquid():
    assert heated().state_history["unobtainium"] == ("solid",)
    refused = "You can't pick up a liquid directly. Try pouring it from one container to another."
    tried = after((INTO_THE_POT[0], refused), opening=MELTING + ROOM)
    assert tried.state_history["unobtainium"] == ("liquid",)


def test_a_name_that_said_nothing_is_understood_once_another_one_is_seen():
    belief = after(LIQUID, opening=MELTING + ROOM)
    assert belief.state_history["unobtainium"] == ("solid", "liquid")


def test_a_reading_tells_only_with_the_state_it_was_taken_in():
    taken = heated(measured(150), SOLID, measured(203))
    assert not holds(taken, "settled", "unobtainium"), "it may be liquid by now"
    assert not holds(taken, "watched", "unobtainium")
    seen = world.update(taken, *SOLID)
    assert holds(seen, "settled", "unobtainium")
    assert seen.names["box"] == ["red box"]


def test_a_jump_past_the_threshold_is_no_answer():
    jumped = heated(measured(150), SOLID, ("wait", "You decide to wait for 10 iterations."), LIQUID)
    jumped = world.update(jumped, *measured(260, "liquid unobtainium"))
    assert not holds(jumped, "settled", "unobtainium"), "it melts between 150 and 260"
    cooled = world.update(jumped, *measured(190, "liquid unobtainium"))
    assert cooled.names["box"] == ["green box"], "it was liquid at 190"


def test_a_device_that_will_fall_short_is_left_for_the_next():
    wait = ("wait", "You decide to wait for 10 iterations.")
    readings = (13, 60, 95, 118, 133)
    steps = [step for degrees in readings for step in (measured(degrees), SOLID, wait)]
    belief = heated(*steps)
    assert not holds(belief, "heats", "stove", "unobtainium")
    assert holds(belief, "heats", "oven ?", "unobtainium")


def test_what_is_melted_only_to_be_frozen_is_not_warmed_by_more_in_a_wait_than_it_was_before():
    start = (TAKE, INTO_THE_POT, ONTO_THE_STOVE)
    slow = after(*start, measured(9), measured(12), opening=FREEZING + ROOM)
    assert holds(slow, "delicate", "unobtainium"), "a wait adds 36 degrees, and it may burn"
    warmed = after(*start, *map(measured, range(9, 51, 3)), opening=FREEZING + ROOM)
    assert not holds(warmed, "delicate", "unobtainium")


def test_a_reading_near_the_threshold_holds_only_for_a_moment():
    assert not holds(handled(measured(-8)), "measured", "unobtainium")
    assert holds(handled(measured(-10)), "measured", "unobtainium")
    lifted = handled(measured(-10), LIFT)
    assert not holds(lifted, "measured", "unobtainium"), "it may be 4 degrees warmer each step"
    far = handled(measured(-40), LIFT)
    assert holds(far, "measured", "unobtainium")


def test_after_many_readings_one_that_was_just_taken_decides():
    readings = [measured(1), measured(-1)] * 4
    just_taken = handled(*readings)
    assert holds(just_taken, "measured", "unobtainium"), "or it would be measured for ever"
    taken_before = handled(*readings, ("wait1", "You decide to wait for 1 iterations."), LIFT)
    assert not holds(taken_before, "measured", "unobtainium")


def test_what_drifts_to_the_threshold_goes_where_it_will_belong_in_its_box():
    drifting = handled(measured(-4), LIFT, measured(-1))
    assert drifting.names["box"] == ["red box"]
    assert not holds(handled(measured(-4), LIFT, measured(-2)), "measured", "unobtainium")
    resting = handled(measured(-4), LIFT, measured(-4))
    assert resting.names["box"] == ["green box"]


def test_pouring_to_and_fro_leads_back_to_the_same_state():
    room = ROOM.replace(
        "metal pot (containing nothing)", "metal pot (containing a substance called salt)"
    )
    room = room.replace("red box (containing nothing)", "glass cup (containing nothing)")
    to = (
        "pour metal pot into glass cup",
        "You pour the contents of the metal pot into the glass cup.",
    )
    fro = (
        "pour glass cup into metal pot",
        "You pour the contents of the glass cup into the metal pot.",
    )
    once = after(to, fro, opening=MELTING + room)
    twice = after(to, fro, to, fro, opening=MELTING + room)
    assert once.fingerprint == twice.fingerprint


class Swapped(ScienceWorldGame):
    """A train variation with a goal that train does not have: lead is to boil."""

    def _open(self, simulator):
        shown = super()._open(simulator).observation.partition("\n\n")[2]
        task = (
            "Your task is to boil lead. For compounds without a boiling point, combusting the substance"
            " is also acceptable. First, focus on the substance. Then, take actions that will cause it"
            " to change its state of matter."
        )
        return Outcome(f"{task}\n\n{shown}")

    def _outcome(self, observation):
        won = "gaseous lead" in self.look()
        return Outcome(observation, score=100.0 * won, won=won, done=won)


@pytest.mark.timeout(300)
def test_lead_boils_in_the_furnace_though_nobody_said_what_it_takes():
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    task = task_at("measure-melting-point-known-substance", 45)
    mind = compose(FULL, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    game = Swapped(task.type, 45)
    try:
        episode = play(Play(player, game, task, 100))
    finally:
        game.close()
    assert episode.won
