"""f_UPD of Eq. 1: the belief after an action and its answer, from the text alone."""

import re
from dataclasses import replace

from rpms.worlds.base import ReportedDeed
from rpms.worlds.scienceworld import observations
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.commands import meant, menu_options
from rpms.worlds.scienceworld.observations import (
    RoomSight,
    Thing,
    substance_of,
)
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE
from rpms.worlds.scienceworld.spots import (
    Named,
    find_spot,
    read_command,
    replaced,
    with_unlisted,
)
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import INVENTORY, Forest, merge, read_phrase
from rpms.worlds.scienceworld.update_deeds import DEEDS, disconnect, nothing_else
from rpms.worlds.scienceworld.update_notes import (
    with_doors,
    with_nature,
    with_new_thing,
    with_notes_on,
)

_HEARD_KEPT = 8_000
_NO_LIQUIDS = "You can't pick up a liquid"
_LOOKS = re.compile(r"(?:look at|look on|examine) ")
_TICKS = {"wait": 11, "wait1": 2, "inventory": 0, "look around": 0, "task": 0}
"""Ticks of the simulator's clock; every other command that it understands takes one."""
_NOT_UNDERSTOOD = (
    "No known action",
    "Unknown action",
    "Ambiguous request",
    "It's not clear how",
)
_PLACES = re.compile(r" \(in ([^,()]{1,80})[^()]{0,200}\)")
"""Prepositions of a thing's place in the simulator's options, the nearest first."""


def update(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    """Take in an answer. The time that the command took is noted, and the readings that follow from
    the command and its answer.
    """
    after = _take_in_answer(belief, action, observation)
    understood = not after.observation.startswith(_NOT_UNDERSTOOD)
    if action is None or not understood or not isinstance(after.goal, ScienceGoal):
        return after
    command = _PLACES.sub(r" in \1", meant(belief, action))
    after = after.but(clock=belief.clock + _TICKS.get(command, 1))
    readings = dict(after.readings)
    for recipe in EVERY_RECIPE:
        if recipe.notes:
            readings |= dict(recipe.notes(belief, after, command))
    if readings == after.readings:
        return after  # with what the notes asked of it
    return after.but(readings=readings)


def _take_in_answer(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    """Take in an answer, all but the time that the command took and the recipes' readings: a
    refusal, a deed, or a view of something.
    """
    command = read_command(meant(belief, action))
    after = belief.but(
        last_action=action,
        observation=observation[:_HEARD_KEPT],
        menu=menu_options(observation),
        steps=belief.steps + (action is not None),
    )
    if observations.refused(observation):
        return _take_in_refusal(after.but(failed=True), observation, command)
    while (loose := observations.LOOSE.match(observation)) is not None:
        after = disconnect(after, ReportedDeed("", loose[1]), command)
        observation = observation[loose.end() :]
    done = observations.deed(observation)
    if done is not None:
        take_over = DEEDS.get(done.verb, nothing_else)
        return take_over(after.but(failed=False), done, command)
    return _take_in_view(after, observation, command)


def _take_in_view(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in an answer that shows something: a room, what is carried, or a thing."""
    room = observations.room_sight(observation)
    if room is not None:
        return _take_in_room(belief.but(failed=False), room, at_home=room.agent_there)
    carried = observations.carried(observation)
    if carried is not None:
        return _take_in_inventory(belief, carried)
    place = observations.inside(observation)
    if place is not None:
        return _take_in_inside(belief, place, command)
    if _LOOKS.match(command.text):
        return _take_in_description(belief, observation, command)
    return belief


# Answers that show something


def _take_in_room(belief: ScienceBelief, sight: RoomSight, *, at_home: bool) -> ScienceBelief:
    """Take in a room's listing; `at_home` where it is the room the agent is in."""
    known = merge(sight.things, belief.rooms.get(sight.room, ()))
    belief = with_doors(belief, sight.room, sight.doors).but(
        rooms={**belief.rooms, sight.room: known},
        looked=belief.looked | {sight.room},
        since={**belief.since, sight.room: belief.clock},
    )
    if at_home:
        belief = belief.but(room=sight.room)
    return with_notes_on(belief, sight.things)


def _take_in_inventory(belief: ScienceBelief, listing: Forest) -> ScienceBelief:
    """Take in an inventory; what may fly off by itself is not counted on."""
    kept = tuple(thing for thing in listing if not thing.restless)
    inventory = merge(kept, belief.inventory)
    return with_notes_on(belief.but(inventory=inventory, inventory_known=True, lost=False), kept)


def _take_in_inside(belief: ScienceBelief, place: RoomSight, command: Named) -> ScienceBelief:
    """Take in an answer to `look in`, which works on rooms, on the inventory and on things."""
    if place.room == INVENTORY:
        return _take_in_inventory(belief, place.things)
    if place.doors or place.room in belief.exits:
        return _take_in_room(belief, place, at_home=place.room == belief.room)
    spot = find_spot(belief, command.one, place.room)
    if spot is None:
        return with_notes_on(belief, place.things)
    flags = spot.thing.flags
    if "closed" in flags:
        flags = flags - {"closed"} | {"open"}
    shown = replace(spot.thing, contents=merge(place.things, spot.inside), flags=flags)
    return with_notes_on(replaced(belief, spot, shown), place.things)


def _take_in_description(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in an answer to `look at` or `examine`."""
    thing = observations.parse_thing(observation)
    if thing is None:
        return belief
    belief = with_notes_on(belief, (thing,))
    spot = find_spot(belief, command.one, thing.name)
    spot = spot or find_spot(belief, read_phrase(thing.name))
    if spot is None:
        return with_new_thing(belief, thing, command)
    (known,) = merge((thing,), (replace(spot.thing, name=thing.name),))
    return replaced(belief, spot, known)


def _take_in_refusal(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in a refusal: one walks into a closed door that nobody has seen, or a device is
    broken.
    """
    if observation.startswith("The door is not open.") and belief.room is not None:
        return _with_closed_door(belief, belief.room, command)
    if observation.startswith(_NO_LIQUIDS):
        return with_nature(belief, command.one.head, "liquid")
    if observation.startswith(_NOT_UNDERSTOOD[0]):
        return _with_misnamed(belief, command)
    done = observations.deed(observation)
    if done is None or done.verb != "broken":
        return belief
    belief = belief.but(broken=belief.broken | {f"{done.object} in {belief.room}"})
    if find_spot(belief, command.one, done.object) is not None:
        return belief
    return with_unlisted(belief, Thing(done.object))


def _with_closed_door(belief: ScienceBelief, room: str, command: Named) -> ScienceBelief:
    """Note that the door to the command's room is closed. Both `go to foundry` and `go to door to
    foundry` mean the foundry's door.
    """
    named = [name for name in ROOMS if name in command.text and name != room]
    target = command.text.removeprefix("go to ")
    beyond = max(named, key=len, default=target)
    doors = dict(belief.exits.get(room, {}))
    doors[beyond] = False
    return belief.but(exits={**belief.exits, room: doors})


def _with_misnamed(belief: ScienceBelief, command: Named) -> ScienceBelief:
    """Note that the thing to be measured goes by another name now: its state has changed."""
    spot = find_spot(belief, command.two)
    if spot is None or not command.text.startswith("use "):
        return belief
    name = f"misnamed {substance_of(spot.name)}"
    return belief.but(since={**belief.since, name: belief.clock})
