"""f_UPD of Eq. 1: the belief after an action and its answer, from the text alone."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rpms.worlds.base import ToldDeed, keyed
from rpms.worlds.scienceworld import observations as heard
from rpms.worlds.scienceworld.affordances import SYNONYMS, is_a, is_fixed
from rpms.worlds.scienceworld.belief import ROOMS, ScienceBelief
from rpms.worlds.scienceworld.commands import meant, menu_options
from rpms.worlds.scienceworld.observations import FLAGS, RoomSight, Thing, state_of, substance_of
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import (
    INVENTORY,
    Forest,
    Phrase,
    Seen,
    find,
    merge,
    put,
    read_phrase,
    walk,
)

_HEARD_KEPT: Final = 8_000
_STATES_KEPT: Final = 50
_LOOKS: Final = re.compile(r"(?:look at|look on|examine) ")
_SLID: Final = re.compile(r"approximately (\d{1,3})% down the plane")
_AT_AN_END: Final = {"at the top of the plane": "0", "at the bottom of the plane": "100"}
_TICKS: Final = {"wait": 11, "wait1": 2, "inventory": 0, "look around": 0, "task": 0}
"""Ticks of the simulator's clock; every other command that it understands takes one."""
_NOT_UNDERSTOOD: Final = (
    "No known action",
    "Unknown action",
    "Ambiguous request",
    "It's not clear how",
)
_PLACES: Final = re.compile(r" \(in ([^,()]{1,80})[^()]{0,200}\)")
"""Prepositions of a thing's place in the simulator's options, the nearest first."""


def update(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    """Take in an answer; note the time that the command took, and what follows from it and its
    answer.
    """
    after = _heard(belief, action, observation)
    known = isinstance(after.goal, ScienceGoal) and not after.observation.startswith(
        _NOT_UNDERSTOOD
    )
    if not known or action is None:
        return after
    command = _PLACES.sub(r" in \1", meant(belief, action))
    after = after.but(clock=belief.clock + _TICKS.get(command, 1))
    notes = [recipe.notes(belief, after, command) for recipe in EVERY_RECIPE if recipe.notes]
    return after.but(
        readings={**after.readings, **{name: text for noted in notes for name, text in noted}}
    )


def _heard(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    command = _named(meant(belief, action))
    after = belief.but(
        last_action=action,
        observation=observation[:_HEARD_KEPT],
        menu=menu_options(observation),
        steps=belief.steps + (action is not None),
    )
    if heard.refused(observation):
        return _refused(after.but(failed=True), observation, command)
    while (loose := heard.LOOSE.match(observation)) is not None:
        after, observation = (
            _disconnect(after, ToldDeed("", loose[1]), command),
            observation[loose.end() :],
        )
    if (done := heard.deed(observation)) is not None:
        take_over, after = _DEEDS.get(done.verb), after.but(failed=False)
        return after if take_over is None else take_over(after, done, command)
    if (room := heard.room_sight(observation)) is not None:
        return _seen(after.but(failed=False), room, at_home=room.agent_there)
    if (carried := heard.carried(observation)) is not None:
        return _held(after, carried)
    if (place := heard.inside(observation)) is not None:
        return _looked_inside(after, place, command)
    return _described(after, observation, command) if _LOOKS.match(command.text) else after


# The things that a command names, and where they are

_VERB: Final = re.compile(
    r"(?:pick up|put down|look (?:at|in|on)|focus on|turn (?:on|off)|go(?: to)?|\S{1,20})"
    r" (?P<rest>.{1,400})"
)
_JOINTS: Final = {
    verb: [f" {word} " for word in words] for verb, words in SYNONYMS["joints"].items()
}


class Named(NamedTuple):
    """Things that a command names, in order."""

    text: str
    one: Phrase
    two: Phrase


def _named(text: str) -> Named:
    """Take a command apart: the one or two things it names, whatever its verb."""
    match = _VERB.fullmatch(text)
    rest = match["rest"] if match else ""
    for joint in () if text.startswith("put down ") else _JOINTS.get(text.partition(" ")[0], ()):
        one, found, two = (
            rest.rpartition(joint) if joint in (" on ", " in ") else rest.partition(joint)
        )
        if found:
            return Named(text, read_phrase(one), read_phrase(two))
    return Named(text, read_phrase(rest), Phrase(""))


def _with(belief: ScienceBelief, spot: Seen, thing: Thing | None) -> ScienceBelief:
    """The belief with another thing, or none, in a spot."""
    if spot.carried:
        return belief.but(inventory=put(belief.inventory, spot.path, thing))
    return _in_room(belief, *put(belief.here, spot.path, thing))


def _filled(belief: ScienceBelief, spot: Seen, added: Forest) -> ScienceBelief:
    """The belief with more in a vessel; it may hold anything if neither the old content nor the
    new is known.
    """
    return _with(belief, spot, replace(spot.thing, contents=(*spot.inside, *added) or None))


def _in_room(belief: ScienceBelief, *things: Thing) -> ScienceBelief:
    return belief.but(rooms={**belief.rooms, belief.room or "": things})


def _unseen(belief: ScienceBelief, *things: Thing) -> ScienceBelief:
    """Note things in this room that no listing has shown, but an answer was about."""
    return _in_room(belief, *belief.here, *things)


def _find_spot(
    belief: ScienceBelief, phrase: Phrase, name: str = "", *, carried_first: bool = True
) -> Seen | None:
    """The thing that a command means, by its words and by the simulator's name for it.

    Where words alone would fit both a thing carried and one in the room, the simulator asks which;
    so the first found is as good as any.
    """
    for words in (phrase, Phrase(name.casefold(), (), phrase.places)) if name else (phrase,):
        for carried in (carried_first, not carried_first) if words.head else ():
            forest, place = (
                (belief.inventory, INVENTORY) if carried else (belief.here, belief.room or "")
            )
            if found := find(forest, words, place, name):
                return next(
                    (seen for seen in found if seen.name.casefold() == name.casefold()), found[0]
                )
    return None


def _take(
    belief: ScienceBelief, command: Named, name: str, *, carried_first: bool
) -> tuple[ScienceBelief, Thing]:
    """Take a thing from where it is, if that is known."""
    spot = _find_spot(belief, command.one, name, carried_first=carried_first)
    return (belief, Thing(name)) if spot is None else (_with(belief, spot, None), spot.thing)


def _doubted(belief: ScienceBelief, spot: Seen) -> ScienceBelief:
    """The belief after a thing was put on a carried holder: it may fall beside it; on the
    ground, it does.
    """
    doubtful = spot.carried and (spot.thing.contents is None or spot.thing.name == "ground")
    return belief.but(inventory_known=False, lost=True) if doubtful else belief


# Observations


def _seen(belief: ScienceBelief, sight: RoomSight, *, at_home: bool) -> ScienceBelief:
    """Take in a room's listing; `at_home` where it is the room the agent is in."""
    rooms = {**belief.rooms, sight.room: merge(sight.things, belief.rooms.get(sight.room, ()))}
    belief = _with_doors(belief, sight.room, sight.doors).but(
        rooms=rooms, looked=belief.looked | {sight.room}
    )
    room = sight.room if at_home else belief.room
    return _noted(
        belief.but(room=room, since={**belief.since, sight.room: belief.clock}), sight.things
    )


def _noted(belief: ScienceBelief, things: Forest) -> ScienceBelief:
    """Note the states of matter, and how far blocks have slid, that a listing shows."""
    readings, history, since = dict(belief.readings), dict(belief.state_history), dict(belief.since)
    for seen in walk(things):
        thing, state, substance = seen.thing, state_of(seen.thing), substance_of(seen.name)
        since[substance] = belief.clock
        before = history.get(substance, ())
        if state is not None and state not in before[-1:]:
            history[substance] = (*before, state)[-_STATES_KEPT:]
        for flag in thing.flags:
            slid = _SLID.fullmatch(flag)
            if seen.holders and (slid or flag in _AT_AN_END):
                readings[seen.holder] = slid[1] if slid else _AT_AN_END[flag]
            elif flag.endswith(" ticks"):
                readings[thing.name] = flag.removesuffix(" ticks")
    return belief.but(readings=readings, state_history=history, since=since)


def _held(belief: ScienceBelief, listing: Forest) -> ScienceBelief:
    """Take in an inventory; what may fly off by itself is not counted on."""
    kept = tuple(thing for thing in listing if not thing.restless)
    return _noted(
        belief.but(inventory=merge(kept, belief.inventory), inventory_known=True, lost=False), kept
    )


def _looked_inside(belief: ScienceBelief, place: RoomSight, command: Named) -> ScienceBelief:
    """Take in an answer to `look in`, which works on rooms, on the inventory and on things."""
    if place.room == "inventory":
        return _held(belief, place.things)
    if place.doors or place.room in belief.exits:
        return _seen(belief, place, at_home=place.room == belief.room)
    if (spot := _find_spot(belief, command.one, place.room)) is None:
        return _noted(belief, place.things)
    flags = spot.thing.flags
    opened = (flags - {"closed"}) | {"open"} if "closed" in flags else flags
    shown = replace(spot.thing, contents=merge(place.things, spot.inside), flags=opened)
    return _noted(_with(belief, spot, shown), place.things)


def _described(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in an answer to `look at` or `examine`."""
    if (thing := heard.parse_thing(observation)) is None:
        return belief
    belief = _noted(belief, (thing,))
    spot = _find_spot(belief, command.one, thing.name) or _find_spot(
        belief, read_phrase(thing.name)
    )
    if spot is None:
        return _placed(belief, thing, command)
    (known,) = merge((thing,), (replace(spot.thing, name=thing.name),))
    return _with(belief, spot, known)


def _placed(belief: ScienceBelief, thing: Thing, command: Named) -> ScienceBelief:
    """Note a thing that was not known to be where the command says, as `substance in metal pot`
    does.
    """
    if not command.one.places:
        return belief
    spot = _find_spot(belief, Phrase(command.one.places[0], (), command.one.places[1:]))
    return belief if spot is None else _filled(belief, spot, (thing,))


def _refused(belief: ScienceBelief, observation: str, command: Named) -> ScienceBelief:
    """Take in a refusal: one walks into a closed door that nobody has seen, or a device is
    broken.
    """
    if observation.startswith("The door is not open.") and belief.room is not None:
        doors = {**belief.exits.get(belief.room, {}), command.text.removeprefix("go to "): False}
        return belief.but(exits={**belief.exits, belief.room: doors})
    if (done := heard.deed(observation)) is None or done.verb != "broken":
        return belief
    belief = belief.but(broken=belief.broken | {f"{done.object} in {belief.room}"})
    return (
        belief
        if _find_spot(belief, command.one, done.object)
        else _unseen(belief, Thing(done.object))
    )


# Actions


def _go(belief: ScienceBelief, done: ToldDeed, _command: Named) -> ScienceBelief:
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


def _move(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    belief = belief.but(handled=belief.handled | {done.object})
    belief, thing = _take(belief, command, done.object, carried_first=done.place != "inventory")
    if done.place == "inventory":
        return belief if thing.restless else belief.but(inventory=(*belief.inventory, thing))
    thing = replace(thing, flags=frozenset(flag for flag in thing.flags if "plane" not in flag))
    spot = None if done.place == belief.room else _find_spot(belief, command.two, done.place)
    if spot is not None:
        return _filled(_doubted(belief, spot), spot, (thing,))
    # into the room, or into something that was never seen
    return _unseen(belief, thing if done.place == belief.room else Thing(done.place, (thing,)))


def _pour(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    if done.object == "inventory":
        poured: Forest = belief.inventory
        belief = belief.but(inventory=())
    else:
        source = _find_spot(belief, command.one, done.object)
        poured = () if source is None else source.inside
        belief = belief.but(
            handled=belief.handled | {thing.name for thing in poured},
            lost=belief.lost or not poured,
        )
        belief = (
            belief if source is None else _with(belief, source, replace(source.thing, contents=()))
        )
    if (
        done.place == "inventory"
    ):  # it is not said which of several vessels was emptied, nor what is liquid
        return belief.but(inventory_known=False, lost=True)
    if (target := _find_spot(belief, command.two, done.place)) is None:
        return _unseen(belief, *poured) if done.place == belief.room else belief
    return _filled(_doubted(belief, target), target, poured)


def _dunk(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    """The dunked container takes the liquids along."""
    target, source = (
        _find_spot(belief, command.one, done.object),
        _find_spot(belief, command.two, done.place),
    )
    if target is None or source is None:
        return belief
    liquids = tuple(thing for thing in source.inside if state_of(thing) == "liquid")
    return _filled(
        belief.but(handled=belief.handled | {thing.name for thing in liquids}), target, liquids
    )


def _mix(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    made, wanted = heard.plain_name(done.object.casefold()), belief.goal.state
    if sorted(made.split()) == sorted(wanted.replace("-", " ").split()):
        # by its usual name: the simulator says `blue green paint` of `green-blue paint` once
        made = wanted
    if command.one.head == "inventory":  # the text does not say which things were used up
        return belief.but(inventory=(), inventory_known=False, lost=True)
    spot = _find_spot(belief, command.one)
    return (
        belief
        if spot is None
        else _with(belief, spot, replace(spot.thing, contents=(Thing(made),)))
    )


def _focus(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    known = _find_spot(belief, command.one, done.object) is not None
    belief = belief if known else _placed(belief, Thing(done.object), command)
    return belief.but(focused=(*belief.focused, done.object))


def _door(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    """A door is named by where it leads; where the command does not say, one of several doors
    has changed.
    """
    room, doors = belief.room, belief.exits.get(belief.room or "", {})
    if room is None:
        return belief
    named = [name for name in (*doors, *ROOMS) if name in command.text and name != room]
    ways = [max(named, key=len)] if named else list(doors)
    return _with_doors(
        belief, room, dict.fromkeys(ways, done.place == "open" if len(ways) == 1 else None)
    )


def _switch(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    states = {"on", "off"} if done.verb == "switch" else {"open", "closed"}
    flag = FLAGS.get(done.place, done.place)
    if (flag == "on" and is_fixed(done.object)) or (flag == "open" and is_a("hiding", done.object)):
        belief = belief.but(handled=belief.handled | {done.object})
    if (spot := _find_spot(belief, command.one, done.object)) is None:
        return _unseen(belief, Thing(done.object, None, frozenset({flag})))
    return _with(belief, spot, replace(spot.thing, flags=(spot.thing.flags - states) | {flag}))


def _measure(belief: ScienceBelief, done: ToldDeed, command: Named) -> ScienceBelief:
    spot = _find_spot(belief, command.two)
    substance = substance_of(command.two.head if spot is None else spot.name)
    try:
        temperatures = {**belief.temperatures, substance: float(done.object)}
    except ValueError:
        return belief
    belief = belief.but(
        temperatures=temperatures, since={**belief.since, f"heat of {substance}": belief.clock}
    )
    called = heard.parse_thing(
        command.two.head
    )  # a name that was understood tells the state: `liquid marshmallow`
    return (
        belief
        if called is None or substance_of(called.name) == called.name
        else _noted(belief, (called,))
    )


def _disconnect(belief: ScienceBelief, done: ToldDeed, _command: Named) -> ScienceBelief:
    kept = {
        pair
        for pair in belief.connections
        if not any(end.endswith(f" on {done.object}") for end in pair)
    }
    return belief.but(connections=frozenset(kept))


_DEEDS: Final[Mapping[str, Callable[[ScienceBelief, ToldDeed, Named], ScienceBelief]]] = {
    **keyed(_go, _move, _pour, _dunk, _mix, _focus, _door, _measure, _disconnect),
    "eat": lambda belief, done, command: _take(belief, command, done.object, carried_first=True)[0],
    "reset": lambda belief, _done, _command: belief.but(focused=()),
    "lid": _switch,
    "switch": _switch,
    "connect": lambda belief, done, _command: belief.but(
        connections=belief.connections | {(done.object, done.place)},
        since={**belief.since, "connection": belief.clock},
    ),
    "read": lambda belief, done, _command: belief.but(
        readings={
            **belief.readings,
            "recipe" if done.object.startswith("recipe") else done.object: done.place,
        }
    ),
    "dig": lambda belief, done, _command: _unseen(belief, Thing(done.object)),
}
