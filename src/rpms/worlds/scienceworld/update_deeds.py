"""The belief after something was done, by what was done and the command."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from rpms.logic.trends import Measurement
from rpms.worlds.base import ReportedDeed, keyed
from rpms.worlds.scienceworld import observations
from rpms.worlds.scienceworld.affordances import is_a, is_fixed
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.observations import (
    FLAGS,
    MATTER,
    Thing,
    state_of,
    substance_of,
)
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.recipes.heat import device_around
from rpms.worlds.scienceworld.spots import (
    Named,
    filled,
    find_spot,
    replaced,
    take,
    with_unlisted,
)
from rpms.worlds.scienceworld.tree import INVENTORY, Forest, Seen
from rpms.worlds.scienceworld.update_notes import (
    with_doors,
    with_nature,
    with_new_thing,
    with_notes_on,
)

_READINGS_KEPT = 200


def nothing_else(belief: ScienceBelief, _done: ReportedDeed, _command: Named) -> ScienceBelief:
    """Leave the belief as it is: nothing follows from the deed."""
    return belief


def _go(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    if belief.room is not None and done.object in belief.exits.get(belief.room, {}):
        belief = with_doors(belief, belief.room, {done.object: True})
    return belief.but(room=done.object)


def _door(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """Take in that a door was opened or closed. A door is named by where it leads; if the command
    does not say, it is not known which of several has changed.
    """
    room = belief.room
    if room is None:
        return belief
    doors = belief.exits.get(room, {})
    named = [name for name in (*doors, *ROOMS) if name in command.text and name != room]
    possible = [max(named, key=len)] if named else list(doors)
    is_open = None
    if len(possible) == 1:
        is_open = done.place == "open"
    return with_doors(belief, room, dict.fromkeys(possible, is_open))


def _move(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """Take in that a thing was picked up, put down, or put into another."""
    picked_up = done.place == INVENTORY
    belief = _having_handled(belief, done.object)
    belief = with_nature(belief, done.object, "solid")
    belief, thing = take(belief, command.one, done.object, carried_first=not picked_up)
    if picked_up:
        return belief if thing.restless else belief.but(inventory=(*belief.inventory, thing))
    slid = {flag for flag in thing.flags if "plane" in flag}
    thing = replace(thing, flags=thing.flags - slid)
    if done.place == belief.room:
        return with_unlisted(belief, thing)
    spot = find_spot(belief, command.two, done.place)
    if spot is None:  # into something that was never seen
        return with_unlisted(belief, Thing(done.place, (thing,)))
    return filled(_perhaps_spilled(belief, spot), spot, (thing,))


def _perhaps_spilled(belief: ScienceBelief, spot: Seen) -> ScienceBelief:
    """The belief after a thing was put on a carried holder: it may fall beside it; on the
    ground, it does.
    """
    may_fall = spot.carried and (spot.thing.contents is None or spot.thing.name == "ground")
    return belief.but(inventory_known=False, lost=True) if may_fall else belief


def _pour(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """Take in that what is in one thing was poured into another, or all that is carried."""
    if done.object == INVENTORY:
        poured: Forest = belief.inventory
        belief = belief.but(inventory=())
    else:
        source = find_spot(belief, command.one, done.object)
        poured = () if source is None else source.inside
        belief = _having_handled(belief, *_names_of(poured)).but(lost=belief.lost or not poured)
        if source is not None:
            belief = replaced(belief, source, replace(source.thing, contents=()))
    if done.place == INVENTORY:
        # it is not said which of several vessels was emptied, nor what is liquid
        return belief.but(inventory_known=False, lost=True)
    target = find_spot(belief, command.two, done.place)
    if target is not None:
        return filled(_perhaps_spilled(belief, target), target, poured)
    return with_unlisted(belief, *poured) if done.place == belief.room else belief


def _having_handled(belief: ScienceBelief, *names: str) -> ScienceBelief:
    """Note things that the agent has moved or changed."""
    return belief.but(handled=belief.handled.union(names))


def _names_of(things: Forest) -> list[str]:
    return [thing.name for thing in things]


def _dunk(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """The dunked container takes the liquids along."""
    target = find_spot(belief, command.one, done.object)
    source = find_spot(belief, command.two, done.place)
    if target is None or source is None:
        return belief
    liquids = tuple(thing for thing in source.inside if state_of(thing) == "liquid")
    return filled(_having_handled(belief, *_names_of(liquids)), target, liquids)


def _mix(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    if command.one.head == INVENTORY:  # the text does not say which things were used up
        return belief.but(inventory=(), inventory_known=False, lost=True)
    spot = find_spot(belief, command.one)
    if spot is None:
        return belief
    made = observations.plain_name(done.object.casefold())
    wanted = belief.goal.state
    if sorted(made.split()) == sorted(wanted.replace("-", " ").split()):
        # by its usual name: the simulator says `blue green paint` of `green-blue paint` once
        made = wanted
    return replaced(belief, spot, replace(spot.thing, contents=(Thing(made),)))


def _focus(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    if find_spot(belief, command.one, done.object) is None:
        belief = with_new_thing(belief, Thing(done.object), command)
    return belief.but(focused=(*belief.focused, done.object))


def _reset(belief: ScienceBelief, _done: ReportedDeed, _command: Named) -> ScienceBelief:
    return belief.but(focused=())


def _eat(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    return take(belief, command.one, done.object, carried_first=True).belief


def _dig(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    return with_unlisted(belief, Thing(done.object))


def _switch(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    return _with_flag(belief, done, command, frozenset({"on", "off"}))


def _lid(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    return _with_flag(belief, done, command, frozenset({"open", "closed"}))


def _with_flag(
    belief: ScienceBelief, done: ReportedDeed, command: Named, states: frozenset[str]
) -> ScienceBelief:
    """The belief with a thing in one of some states that exclude each other."""
    flag = FLAGS.get(done.place, done.place)
    fills = flag == "on" and is_fixed(done.object)
    uncovers = flag == "open" and is_a("hiding", done.object)
    if fills or uncovers:
        belief = _having_handled(belief, done.object)
    spot = find_spot(belief, command.one, done.object)
    if spot is None:
        return with_unlisted(belief, Thing(done.object, None, frozenset({flag})))
    flags = spot.thing.flags - states | {flag}
    return replaced(belief, spot, replace(spot.thing, flags=flags))


def _measure(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """Take in a temperature, with the device at the thing and the state that it was in."""
    try:
        degrees = float(done.object)
    except ValueError:
        return belief
    spot = find_spot(belief, command.two)
    substance = substance_of(command.two.head if spot is None else spot.name)
    measured = Thing(command.two.head) if spot is None else spot.thing
    state = ""
    if MATTER.match(measured.name):
        # a name that was understood tells the state: `liquid marshmallow`
        belief = with_notes_on(belief, (measured,))
        state = state_of(measured) or ""
    device = device_around(belief, spot.name) if spot is not None else ""
    reading = Measurement(belief.clock, degrees, device, state)
    readings = (*belief.measurements.get(substance, ()), reading)
    return belief.but(
        temperatures={**belief.temperatures, substance: degrees},
        measurements={**belief.measurements, substance: readings[-_READINGS_KEPT:]},
    )


def _read(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    name = "recipe" if done.object.startswith("recipe") else done.object
    return belief.but(readings={**belief.readings, name: done.place})


def _connect(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    return belief.but(
        connections=belief.connections | {(done.object, done.place)},
        since={**belief.since, "connection": belief.clock},
    )


def disconnect(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    """Take in that something came loose: nothing is connected to it any more."""
    loose = f" on {done.object}"
    kept = set()
    for one, other in belief.connections:
        if not one.endswith(loose) and not other.endswith(loose):
            kept.add((one, other))
    return belief.but(connections=frozenset(kept))


DEEDS: Mapping[str, Callable[[ScienceBelief, ReportedDeed, Named], ScienceBelief]] = keyed(
    *(_go, _door, _move, _pour, _dunk, _mix, _focus, _reset, _eat, _dig, _switch, _lid),
    *(_measure, _read, _connect, disconnect),
)
"""The function that takes in a deed, by its verb: each is named after it."""
