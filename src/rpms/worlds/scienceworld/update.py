"""f_UPD of Eq. 1: the belief after an action and its answer, from the text alone."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from rpms.logic.trends import Measurement
from rpms.worlds.base import ReportedDeed, keyed
from rpms.worlds.scienceworld import observations
from rpms.worlds.scienceworld.affordances import is_a, is_fixed
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.commands import meant, menu_options
from rpms.worlds.scienceworld.observations import (
    FLAGS,
    MATTER,
    RoomSight,
    Thing,
    state_of,
    substance_of,
)
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.recipes.heat import device_around
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE
from rpms.worlds.scienceworld.spots import (
    Named,
    filled,
    find_spot,
    read_command,
    replaced,
    take,
    with_unlisted,
)
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import INVENTORY, Forest, Phrase, Seen, merge, read_phrase, walk

_HEARD_KEPT = 8_000
_STATES_KEPT = 50
_READINGS_KEPT = 200
_OTHER = {"liquid": "solid", "solid": "liquid", "gas": "liquid"}
"""State shown by name → the state that a substance without one was in before."""
_NO_LIQUIDS = "You can't pick up a liquid"
_LOOKS = re.compile(r"(?:look at|look on|examine) ")
_SLID = re.compile(r"approximately (\d{1,3})% down the plane")
_AT_AN_END = {"at the top of the plane": "0", "at the bottom of the plane": "100"}
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
        after = _disconnect(after, ReportedDeed("", loose[1]), command)
        observation = observation[loose.end() :]
    done = observations.deed(observation)
    if done is not None:
        take_over = _DEEDS.get(done.verb, _nothing_else)
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
    belief = _with_doors(belief, sight.room, sight.doors).but(
        rooms={**belief.rooms, sight.room: known},
        looked=belief.looked | {sight.room},
        since={**belief.since, sight.room: belief.clock},
    )
    if at_home:
        belief = belief.but(room=sight.room)
    return _with_notes_on(belief, sight.things)


def _with_notes_on(belief: ScienceBelief, things: Forest) -> ScienceBelief:
    """Note the states of matter, and how far blocks have slid, that a listing shows."""
    notes = _Notes(belief)
    for seen in walk(things):
        notes.add(seen)
    return belief.but(
        readings=notes.readings,
        measurements=notes.measurements,
        state_history=notes.history,
        since=notes.since,
    )


class _Notes:
    """The notes of a belief, copied once for all the things that a listing adds to them."""

    def __init__(self, belief: ScienceBelief) -> None:
        self._belief = belief
        self._wanted = substance_of(belief.goal.state)
        self.history = dict(belief.state_history)
        self.measurements = dict(belief.measurements)
        self.since = dict(belief.since)
        self.readings = dict(belief.readings)

    def add(self, seen: Seen) -> None:
        """Note one thing: when it was seen, the state it is in, and what can be read off it."""
        substance = substance_of(seen.name)
        states = self._states(substance, state_of(seen.thing))
        self.since[substance] = self._belief.clock
        self.since.pop(f"misnamed {substance}", None)
        if states:
            self.history[substance] = states[-_STATES_KEPT:]
        if substance in self.measurements:
            self._date_measurements(substance, states)
        self.readings |= _readings_of(seen)

    def _states(self, substance: str, state: str | None) -> tuple[str, ...]:
        """The states that a substance was seen in, the one shown now last. Where its name tells
        no state, it is in the one that it is in by nature, if that is known.
        """
        before = self.history.get(substance, ())
        nature = f"nature of {substance}"
        if state is not None and not before and substance in self.since:
            # its name said nothing until now: it was in the state that it is in by nature
            self.readings[nature] = _OTHER[state]
            before = (_OTHER[state],)
        if state is None and substance == self._wanted:
            state = self.readings.get(nature)
        if state is None or state in before[-1:]:
            return before
        return (*before, state)

    def _date_measurements(self, substance: str, states: tuple[str, ...]) -> None:
        """Note the state in which readings were taken. It is the substance's, if that was the same
        before and after; else the substance was passing from one to another.
        """
        known = self._belief.state_history.get(substance, states)
        unchanged = states[-1:] == known[-1:]
        state = states[-1] if states and unchanged else "passing"
        dated = []
        for reading in self.measurements[substance]:
            dated.append(reading if reading.state else reading._replace(state=state))
        self.measurements[substance] = tuple(dated)


def _with_nature(belief: ScienceBelief, name: str, state: str) -> ScienceBelief:
    """Note the state of the goal's substance if its name does not tell it: a thing that is moved by
    hand is solid, and a liquid cannot be.
    """
    substance = substance_of(name)
    if name != substance or substance != substance_of(belief.goal.state):
        return belief
    if state_of(Thing(name)) is not None:
        return belief
    history = dict(belief.state_history)
    history.setdefault(substance, (state,))
    readings = {**belief.readings, f"nature of {substance}": state}
    return belief.but(readings=readings, state_history=history)


def _readings_of(seen: Seen) -> Mapping[str, str]:
    """Read how far a block has slid on the plane that holds it, and the ticks of a watch."""
    readings = {}
    for flag in seen.thing.flags:
        slid = _share_slid(flag)
        if seen.holders and slid:
            readings[seen.holder] = slid
        elif flag.endswith(" ticks"):
            readings[seen.name] = flag.removesuffix(" ticks")
    return readings


def _share_slid(flag: str) -> str:
    """Per cent of a plane that a block has slid, from the words for it; empty for other words."""
    slid = _SLID.fullmatch(flag)
    return slid[1] if slid else _AT_AN_END.get(flag, "")


def _take_in_inventory(belief: ScienceBelief, listing: Forest) -> ScienceBelief:
    """Take in an inventory; what may fly off by itself is not counted on."""
    kept = tuple(thing for thing in listing if not thing.restless)
    inventory = merge(kept, belief.inventory)
    return _with_notes_on(belief.but(inventory=inventory, inventory_known=True, lost=False), kept)


def _take_in_inside(belief: ScienceBelief, place: RoomSight, command: Named) -> ScienceBelief:
    """Take in an answer to `look in`, which works on rooms, on the inventory and on things."""
    if place.room == INVENTORY:
        return _take_in_inventory(belief, place.things)
    if place.doors or place.room in belief.exits:
        return _take_in_room(belief, place, at_home=place.room == belief.room)
    spot = find_spot(belief, command.one, place.room)
    if spot is None:
        return _with_notes_on(belief, place.things)
    flags = spot.thing.flags
    if "closed" in flags:
        flags = flags - {"closed"} | {"open"}
    shown = replace(spot.thing, contents=merge(place.things, spot.inside), flags=flags)
    return _with_notes_on(replaced(belief, spot, shown), place.things)


def _take_in_description(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in an answer to `look at` or `examine`."""
    thing = observations.parse_thing(observation)
    if thing is None:
        return belief
    belief = _with_notes_on(belief, (thing,))
    spot = find_spot(belief, command.one, thing.name)
    spot = spot or find_spot(belief, read_phrase(thing.name))
    if spot is None:
        return _with_new_thing(belief, thing, command)
    (known,) = merge((thing,), (replace(spot.thing, name=thing.name),))
    return replaced(belief, spot, known)


def _with_new_thing(belief: ScienceBelief, thing: Thing, command: Named) -> ScienceBelief:
    """Note a thing that was not known to be where the command says, as `substance in metal pot`
    does.
    """
    if not command.one.places:
        return belief
    holder, *further = command.one.places
    spot = find_spot(belief, Phrase(holder, (), tuple(further)))
    return belief if spot is None else filled(belief, spot, (thing,))


def _take_in_refusal(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in a refusal: one walks into a closed door that nobody has seen, or a device is
    broken.
    """
    if observation.startswith("The door is not open.") and belief.room is not None:
        return _with_closed_door(belief, belief.room, command)
    if observation.startswith(_NO_LIQUIDS):
        return _with_nature(belief, command.one.head, "liquid")
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
    beyond = max(named, key=len, default=command.text.removeprefix("go to "))
    doors = {**belief.exits.get(room, {}), beyond: False}
    return belief.but(exits={**belief.exits, room: doors})


def _with_misnamed(belief: ScienceBelief, command: Named) -> ScienceBelief:
    """Note that the thing to be measured goes by another name now: its state has changed."""
    spot = find_spot(belief, command.two)
    if spot is None or not command.text.startswith("use "):
        return belief
    name = f"misnamed {substance_of(spot.name)}"
    return belief.but(since={**belief.since, name: belief.clock})


# Deeds: the belief after something was done, by what was done and the command


def _nothing_else(belief: ScienceBelief, _done: ReportedDeed, _command: Named) -> ScienceBelief:
    """Leave the belief as it is: nothing follows from the deed."""
    return belief


def _go(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    if belief.room is not None and done.object in belief.exits.get(belief.room, {}):
        belief = _with_doors(belief, belief.room, {done.object: True})
    return belief.but(room=done.object)


def _with_doors(
    belief: ScienceBelief, room: str, doors: Mapping[str, bool | None]
) -> ScienceBelief:
    """Note doors of a room as open or closed, from both sides."""
    exits = {**belief.exits, room: {**belief.exits.get(room, {}), **doors}}
    for other, is_open in doors.items():
        exits[other] = {**exits.get(other, {}), room: is_open}
    return belief.but(exits=exits)


def _door(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """Take in that a door was opened or closed. A door is named by where it leads; if the command
    does not say, it is not known which of several has changed.
    """
    room = belief.room
    if room is None:
        return belief
    doors = belief.exits.get(room, {})
    named = [name for name in (*doors, *ROOMS) if name in command.text and name != room]
    ways = [max(named, key=len)] if named else list(doors)
    is_open = done.place == "open" if len(ways) == 1 else None
    return _with_doors(belief, room, dict.fromkeys(ways, is_open))


def _move(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    picked_up = done.place == INVENTORY
    belief = belief.but(handled=belief.handled | {done.object})
    belief = _with_nature(belief, done.object, "solid")
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
    if done.object == INVENTORY:
        poured: Forest = belief.inventory
        belief = belief.but(inventory=())
    else:
        source = find_spot(belief, command.one, done.object)
        poured = () if source is None else source.inside
        belief = _with_moved(belief, poured).but(lost=belief.lost or not poured)
        if source is not None:
            belief = replaced(belief, source, replace(source.thing, contents=()))
    if done.place == INVENTORY:
        # it is not said which of several vessels was emptied, nor what is liquid
        return belief.but(inventory_known=False, lost=True)
    target = find_spot(belief, command.two, done.place)
    if target is not None:
        return filled(_perhaps_spilled(belief, target), target, poured)
    return with_unlisted(belief, *poured) if done.place == belief.room else belief


def _with_moved(belief: ScienceBelief, things: Forest) -> ScienceBelief:
    """Note things that the agent has moved."""
    return belief.but(handled=belief.handled | {thing.name for thing in things})


def _dunk(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
    """The dunked container takes the liquids along."""
    target = find_spot(belief, command.one, done.object)
    source = find_spot(belief, command.two, done.place)
    if target is None or source is None:
        return belief
    liquids = tuple(thing for thing in source.inside if state_of(thing) == "liquid")
    return filled(_with_moved(belief, liquids), target, liquids)


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
        belief = _with_new_thing(belief, Thing(done.object), command)
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
        belief = belief.but(handled=belief.handled | {done.object})
    spot = find_spot(belief, command.one, done.object)
    if spot is None:
        return with_unlisted(belief, Thing(done.object, None, frozenset({flag})))
    return replaced(belief, spot, replace(spot.thing, flags=spot.thing.flags - states | {flag}))


def _measure(belief: ScienceBelief, done: ReportedDeed, command: Named) -> ScienceBelief:
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
        belief = _with_notes_on(belief, (measured,))
        state = state_of(measured) or ""
    device = device_around(belief, spot.name) if spot is not None else ""
    reading = Measurement(belief.clock, degrees, device, state)
    before = belief.measurements.get(substance, ())
    return belief.but(
        temperatures={**belief.temperatures, substance: degrees},
        measurements={**belief.measurements, substance: (*before, reading)[-_READINGS_KEPT:]},
    )


def _read(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    name = "recipe" if done.object.startswith("recipe") else done.object
    return belief.but(readings={**belief.readings, name: done.place})


def _connect(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    return belief.but(
        connections=belief.connections | {(done.object, done.place)},
        since={**belief.since, "connection": belief.clock},
    )


def _disconnect(belief: ScienceBelief, done: ReportedDeed, _command: Named) -> ScienceBelief:
    loose = f" on {done.object}"
    kept = set()
    for one, other in belief.connections:
        if not one.endswith(loose) and not other.endswith(loose):
            kept.add((one, other))
    return belief.but(connections=frozenset(kept))


_DEEDS: Mapping[str, Callable[[ScienceBelief, ReportedDeed, Named], ScienceBelief]] = keyed(
    *(_go, _door, _move, _pour, _dunk, _mix, _focus, _reset, _eat, _dig, _switch, _lid),
    *(_measure, _read, _connect, _disconnect),
)
"""The function that takes in a deed, by its verb: each is named after it."""
