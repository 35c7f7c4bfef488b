"""How each text becomes facts. What no text has said stays unknown."""

from __future__ import annotations

import re

from rpms.core.belief import FactBelief

_HERE = re.compile(r"You are in the ([a-z ]+)\. You see: ([a-z, ]+)\. The lamp is (empty|filled|lit)\.")
_ROOMS = re.compile(r"Rooms: ([a-z, ]+)\.")
_TAKEN = re.compile(r"You take ([a-z ]+) from ([a-z ]+)\.")
_PUT = re.compile(r"You put ([a-z ]+) in ([a-z ]+)\.")
_LAMP = re.compile(r"You (fill|light) ([a-z ]+) lamp\.")


def update(belief: FactBelief, observation: str) -> FactBelief:
    """Take over what a text says. A text that says nothing known leaves the belief as it is."""
    if match := _ROOMS.search(observation):
        belief = belief.learn("not holding(_)", room=match[1].split(", "))
    if match := _HERE.match(observation):
        room, things, lamp = match[1], match[2].split(", "), match[3]
        seen = [thing for thing in things if thing != "nothing"]
        belief = belief.learn("not at(_)", f"at({room})", room=[room])
        belief = belief.learn(f"not in(_, {room})", *(f"in({thing}, {room})" for thing in seen), thing=seen)
        belief = belief.learn(_fact("filled", room, lamp != "empty"), _fact("lit", room, lamp == "lit"))
    elif match := _TAKEN.match(observation):
        belief = belief.learn(f"holding({match[1]})", f"not in({match[1]}, {match[2]})")
    elif match := _PUT.match(observation):
        belief = belief.learn(f"not holding({match[1]})", f"in({match[1]}, {match[2]})")
    elif match := _LAMP.match(observation):
        belief = belief.learn(_fact("filled" if match[1] == "fill" else "lit", match[2], holds=True))
    return belief


def _fact(predicate: str, name: str, holds: bool) -> str:
    return f"{predicate}({name})" if holds else f"not {predicate}({name})"
