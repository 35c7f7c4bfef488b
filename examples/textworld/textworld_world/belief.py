"""Text into facts.

What no text has said stays unknown; what a text shows to be missing is told as false.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom

from .games import REVERSE

_NAME = r"[\w'-]+(?: [\w'-]+)*?"
_WAY = "(north|south|east|west)"
_ROOM = re.compile(r"-= (.+) =-\n(.*)", re.DOTALL)
_EXIT = re.compile(rf"(?:exit to the|try going) {_WAY}")
_DOOR = re.compile(rf"there is an? (open|closed) ({_NAME}) leading {_WAY}")
_FLOOR = re.compile(r"there is (an? [^.]+) on the floor\.")
_ON = re.compile(rf"on the ({_NAME}) you (?:can )?(?:see|make out) (an? [^.!?]+)")
_ON_AGAIN = re.compile(rf"you see (an? [^.!?]+?) on the ({_NAME})(?=[.,!?])")
_INSIDE = re.compile(rf"the ({_NAME}) contains (an? [^.!?]+)")
_SHOWN = r"see|seeing|make out|it's|just|notice|find|reveal|follow it to|onto|other than|here's|there[,!]"
_NEAR = r"(?:,? (?:which looks \w+,? )?(?:is )?(?:here|in the room|nearby|close by|in the corner|right there by you))?"
_FURNITURE = re.compile(
    rf"(?:\b(?:{_SHOWN}) an? |\ban? (?=locked|closed|open))(?:(locked|closed|open|opened) )?({_NAME}){_NEAR}(?=[.,!?])"
)
_BARE = re.compile(
    r"isn't a thing on|thing is empty|got anything on|nothing on|appears to be empty|everything off"
    r"|(?:^|\. )the [\w' -]+ is \w+\."
)
_IDLE = re.compile(r"^gleam | in a room$")
_EMPTY = re.compile(r"is empty|empty!")
_TAKE = re.compile(rf"you (?:take|pick up) the ({_NAME}) from the ({_NAME})\.")
_PUT = re.compile(rf"you put the ({_NAME}) (into|on) the ({_NAME})\.")
_DROP = re.compile(rf"you drop the ({_NAME}) on the ground\.")
_OPEN = re.compile(rf"you (open|close|lock|unlock) the ({_NAME})(?:, revealing ([^.]+))?\.")
_EAT = re.compile(rf"you eat the ({_NAME})\.")
_CARRIED = re.compile(r"you are carrying:? ([^.]+)\.")
_NEEDS_KEY = re.compile(rf"you have to unlock the ({_NAME}) with the ({_NAME}) first\.")
_WELDED = re.compile(rf"the ({_NAME}) is welded shut\.")
_NO_KEY = re.compile(rf"you need to take the ({_NAME}) first\.")
_NO_WAY = re.compile(rf"you have to open the ({_NAME}) first\.")


def update(belief: FactBelief, action: str | None, observation: str) -> FactBelief:  # noqa: PLR0911  one per text
    """Take over what a text says. A text that says nothing known leaves the belief as it is."""
    text = " ".join(observation.casefold().split())
    if match := _ROOM.search(observation.casefold()):
        return _entered(belief, action, match[1], " ".join(match[2].split()))
    here = belief.location or "nowhere"
    if match := _TAKE.search(text):
        thing = match[1]
        gone = (
            f"not floor({thing})",
            f"not in({thing}, _)",
            f"not with(_, {thing})",
            f"not here({thing})",
        )
        return belief.learn(f"holding({thing})", *gone, thing=[thing])
    if match := _PUT.search(text):
        thing, how, place = match.groups()
        kind = f"surface({place})" if how == "on" else f"not surface({place})"
        return _present(
            belief.learn(f"in({thing}, {place})", f"not floor({thing})", kind), here, [thing]
        )
    if match := _DROP.search(text):
        return _present(belief.learn(f"floor({match[1]})"), here, [match[1]])
    if match := _EAT.search(text):
        return belief.learn(f"not holding({match[1]})", f"eaten({match[1]})")
    if match := _OPEN.search(text):
        return _handled(belief, match[1], match[2], _things(match[3] or ""))
    if match := _NEEDS_KEY.search(text):
        lock, key = match.groups()
        fits = (f"not fits(_, {lock})", f"fits({key}, {lock})")
        return belief.learn(f"locked({lock})", f"closed({lock})", *fits, key=[key], thing=[key])
    if match := _CARRIED.search(text):
        carried = _things(match[1])
        told = [fact for thing in carried for fact in (f"holding({thing})", f"not floor({thing})")]
        return _keyed(belief.learn("not holding(_)", *told, thing=carried))
    return _refused(belief, action, text)


def _entered(belief: FactBelief, action: str | None, room: str, text: str) -> FactBelief:
    """A room and all that is in it."""
    before, way = belief.location, (action or "").casefold().removeprefix("go ")
    belief = belief.learn(
        "not at(_)", f"at({room})", f"seen({room})", "not here(_)", f"here({room})"
    )
    belief = belief.learn(room=[room], other=[room], direction=REVERSE)
    if before and before != room and way in REVERSE:
        back = REVERSE[way]
        belief = belief.learn(f"not leads({before}, {way}, _)", f"leads({before}, {way}, {room})")
        belief = belief.learn(f"not leads({room}, {back}, _)", f"leads({room}, {back}, {before})")
        belief = belief.learn(f"seen({_beyond(before, way)})")
    doors = {way: (door, state) for state, door, way in _DOOR.findall(text)}
    exits = {*_EXIT.findall(text), *doors}
    belief = belief.learn(
        f"not with({room}, _)",
        *(f"not leads({room}, {way}, _)" for way in REVERSE if way not in exits),
    )
    for way in exits:
        belief = belief.learn(f"not blocked({room}, {way})", f"not door(_, {room}, {way})")
        if not any(atom.args[:2] == (room, way) for atom in _true(belief, "leads")):
            other = _beyond(room, way)
            belief = belief.learn(
                f"leads({room}, {way}, {other})", f"not seen({other})", room=[other], other=[other]
            )
    for way, (door, state) in doors.items():
        shut = (f"closed({door})", f"blocked({room}, {way})")
        told = shut if state == "closed" else (f"not closed({door})", f"not locked({door})")
        belief = belief.learn(
            f"door({door}, {room}, {way})", f"not in(_, {door})", *told, place=[door], door=[door]
        )
        belief = _present(belief, room, [door])
    return _keyed(_furnished(belief, room, text))


def _furnished(belief: FactBelief, room: str, text: str) -> FactBelief:
    """Furniture, its contents, and what lies on the floor."""
    floor = _things(match[1]) if (match := _FLOOR.search(text)) else []
    belief = _present(
        belief.learn(*(f"floor({thing})" for thing in floor), thing=floor), room, floor
    )
    contents = {place: (True, _things(things)) for place, things in _ON.findall(text)}
    contents |= {place: (True, _things(things)) for things, place in _ON_AGAIN.findall(text)}
    contents |= {place: (False, _things(things)) for place, things in _INSIDE.findall(text)}
    for pattern in (_DOOR, _FLOOR, _ON, _ON_AGAIN, _INSIDE):
        text = pattern.sub(".", text)
    found = [match for match in _FURNITURE.finditer(text) if not _IDLE.search(match[2])]
    names = [match[2].rpartition(" looking ")[2] for match in found]
    ends = [*(match.start() for match in found[1:]), len(text)]
    for number, (match, place) in enumerate(zip(found, names, strict=True)):
        if place in names[number + 1 :]:
            continue
        more = text[match.end() : ends[number]]
        on, things = contents.get(place, (bool(_BARE.search(more)), []))
        belief = belief.learn(f"surface({place})" if on else f"not surface({place})", place=[place])
        belief = _present(belief, room, [place])
        if place in contents or on or (match[1] or "").startswith("open") or _EMPTY.search(more):
            belief = belief.learn(f"not closed({place})", f"not locked({place})")
            belief = _present(_holds(belief, place, things), room, things)
        else:
            state = {"locked": [f"locked({place})"], "closed": [f"not locked({place})"]}
            belief = belief.learn(f"closed({place})", *state.get(match[1], ()))
    return belief


def _handled(belief: FactBelief, verb: str, place: str, things: list[str]) -> FactBelief:
    """A door or container was opened, closed, locked or unlocked."""
    shut = "not " if verb == "open" else ""
    belief = belief.learn(
        f"{shut}closed({place})", f"{'' if verb == 'lock' else 'not '}locked({place})"
    )
    doors = [atom.args for atom in _true(belief, "door") if atom.args[0] == place]
    belief = belief.learn(*(f"{shut}blocked({room}, {way})" for _, room, way in doors))
    if doors or verb != "open":
        return belief
    return _keyed(_present(_holds(belief, place, things), belief.location or "nowhere", things))


def _holds(belief: FactBelief, place: str, things: list[str]) -> FactBelief:
    """A place has these things in or on it, and no others."""
    told = [fact for thing in things for fact in (f"in({thing}, {place})", f"not floor({thing})")]
    return belief.learn(f"not in(_, {place})", *told, thing=things)


def _present(belief: FactBelief, room: str, things: Iterable[str]) -> FactBelief:
    """Things are in a room, and here; so they are not carried."""
    facts = ("with({room}, {thing})", "here({thing})", "not holding({thing})")
    return belief.learn(
        *(fact.format(room=room, thing=thing) for thing in things for fact in facts)
    )


def _keyed(belief: FactBelief) -> FactBelief:
    """A key and a lock with one name before the last word belong together: `type 1 key`, `type
    1 locker`.
    """
    keys = [thing for thing in belief.names.get("thing", ()) if thing.endswith(("key", "keycard"))]
    for key in keys:
        make = key.rpartition(" ")[0]
        locks = [
            lock
            for lock in belief.names.get("place", ())
            if make and make == lock.rpartition(" ")[0]
        ]
        belief = belief.learn(
            *(fact for lock in locks for fact in (f"not fits(_, {lock})", f"fits({key}, {lock})"))
        )
    return belief.learn(key=keys)


def _refused(belief: FactBelief, action: str | None, text: str) -> FactBelief:
    """A command that was not taken says what is not so."""
    if match := _WELDED.search(text):
        return belief.learn(
            f"locked({match[1]})", f"closed({match[1]})", f"not fits(_, {match[1]})"
        )
    if match := _NO_WAY.search(text):
        return belief.learn(f"closed({match[1]})")
    if match := _NO_KEY.search(text):
        return belief.learn(f"not holding({match[1]})")
    words = re.fullmatch(rf"(?:un)?lock ({_NAME}) with ({_NAME})", (action or "").casefold())
    if words and text == "that doesn't seem to fit the lock.":
        return belief.learn(f"not fits({words[2]}, {words[1]})")
    return belief


def _true(belief: FactBelief, predicate: str) -> list[Atom]:
    return [atom for atom, holds in belief.known.items() if holds and atom.predicate == predicate]


def _things(text: str) -> list[str]:
    """The names in `a key, a spork and an apple`."""
    pieces = re.split(r", | and ", text)
    return [name.rstrip(".!") for piece in pieces if (name := re.sub(r"^an? ", "", piece)) != piece]


def _beyond(room: str, way: str) -> str:
    """A name for the room behind an exit that was not taken yet."""
    return f"{way} of {room}"
