"""Turns each text into facts. Anything no text has said stays unknown."""

import re

from rpms.logic.belief import FactBelief

_HERE = re.compile(
    r"You are in the ([a-z ]+)\. You see: ([a-z, ]+)\. The lamp is (empty|filled|lit)\."
)
_ROOMS = re.compile(r"Rooms: ([a-z, ]+)\.")
_TAKEN = re.compile(r"You take ([a-z ]+) from ([a-z ]+)\.")
_PUT = re.compile(r"You put ([a-z ]+) in ([a-z ]+)\.")
_LAMP = re.compile(r"You (fill|light) ([a-z ]+) lamp\.")
_AFTER = {"fill": "filled", "light": "lit"}
_LAMPS = {
    "empty": ("not filled", "not lit"),
    "filled": ("filled", "not lit"),
    "lit": ("filled", "lit"),
}


def update(belief: FactBelief, observation: str) -> FactBelief:
    """Take over what a text says. A text that says nothing known leaves the belief as it is."""
    if match := _ROOMS.search(observation):
        belief = belief.learn("not holding(_)", room=match[1].split(", "))
    if match := _HERE.match(observation):
        return _look_around(belief, match[1], match[2], match[3])
    if match := _TAKEN.match(observation):
        return belief.learn(f"holding({match[1]})", f"not in({match[1]}, {match[2]})")
    if match := _PUT.match(observation):
        return belief.learn(f"not holding({match[1]})", f"in({match[1]}, {match[2]})")
    if match := _LAMP.match(observation):
        return _see_lamp(belief, match[2], _AFTER[match[1]])
    return belief


def _look_around(belief: FactBelief, room: str, things: str, lamp: str) -> FactBelief:
    """The room that the keeper is in, all that lies there, and its lamp."""
    seen = [thing for thing in things.split(", ") if thing != "nothing"]
    belief = belief.learn("not at(_)", f"at({room})", room=[room])
    lying = [f"in({thing}, {room})" for thing in seen]
    belief = belief.learn(f"not in(_, {room})", *lying, thing=seen)
    return _see_lamp(belief, room, lamp)


def _see_lamp(belief: FactBelief, room: str, lamp: str) -> FactBelief:
    return belief.learn(*(f"{fact}({room})" for fact in _LAMPS[lamp]))
