"""Agreement of a belief with what a look around and a look at the inventory would show."""

from __future__ import annotations

from collections.abc import Iterator

from rpms.worlds.textworld_express import observations as said
from rpms.worlds.textworld_express.known import ExpressKnown, Place


def disagreements(belief: ExpressKnown, look: str, inventory: str) -> tuple[str, ...]:
    """Beliefs that two listings of the same moment deny."""
    room, listing = said.room(look), said.inventory(inventory)
    found = list(_of_inventory(belief, listing[0])) if listing is not None else []
    if room is None:
        return tuple(found)
    if room.name != belief.room or belief.here is None:
        return (*found, f"the room is {room.name}, not {belief.room}")
    return (*found, *_of_things(belief.here, room), *_of_ways(belief.here, room))


def _of_inventory(belief: ExpressKnown, carried: tuple[said.Food, ...]) -> Iterator[str]:
    names = {each.name for each in carried}
    yield from (f"{thing} is not carried" for thing in belief.carried if thing not in names)
    yield from (f"{thing} is carried" for thing in sorted(names) if thing not in belief.carried)
    for each in carried:
        if belief.states.get(each.name, frozenset()) != each.states - {"raw"}:
            yield f"{each.name} is {', '.join(sorted(each.states)) or 'as it was'}"


def _of_things(here: Place, room: said.LookAround) -> Iterator[str]:
    names = {sight.name for sight in room.sights}
    yield from (f"{thing} is not here" for thing in here.loose if thing not in names)
    for sight in room.sights:
        known = here.furniture.get(sight.name)
        if sight.open is None:
            if sight.name not in here.loose:
                yield f"{sight.name} is here"
        elif known is None or known.open is not sight.open:
            yield f"{sight.name} is {'open' if sight.open else 'closed'}"
        elif sight.open and {each.name for each in sight.content} != {*(known.content or ())}:
            yield f"in {sight.name}: {', '.join(each.name for each in sight.content) or 'nothing'}"


def _of_ways(here: Place, room: said.LookAround) -> Iterator[str]:
    for direction, there in room.exits.items():
        if there is not None and here.exits.get(direction) != there:
            yield f"{direction} is {there}, not {here.exits.get(direction)}"
        if room.doors.get(direction) is not here.doors.get(direction):
            yield f"the door {direction} is {'closed' if room.doors.get(direction) else 'open'}"
