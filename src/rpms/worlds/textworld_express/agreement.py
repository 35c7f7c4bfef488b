"""Whether a belief agrees with what a look around and a look at the inventory would show."""

from __future__ import annotations

from rpms.worlds.textworld_express import observations as said
from rpms.worlds.textworld_express.known import Known


def disagreements(belief: Known, look: str, inventory: str) -> tuple[str, ...]:
    """What the belief holds for known that two listings of the same moment deny."""
    found: list[str] = []
    room, listing = said.room(look), said.inventory(inventory)
    if listing is not None:
        carried = {each.name for each in listing[0]}
        found += [f"{thing} is not carried" for thing in belief.carried if thing not in carried]
        found += [f"{thing} is carried" for thing in carried if thing not in belief.carried]
        found += [f"{each.name} is {each.states - {'raw'}}" for each in listing[0] if _states_differ(belief, each)]
    if room is None:
        return tuple(found)
    if room.name != belief.room or belief.here is None:
        return (*found, f"the room is {room.name}, not {belief.room}")
    here = belief.here
    for sight in room.sights:
        if sight.open is None:
            found += [f"{sight.name} is here"] if sight.name not in here.loose else []
            continue
        known = here.furniture.get(sight.name)
        if known is None or known.open is not sight.open:
            found.append(f"{sight.name} is {'open' if sight.open else 'closed'}")
        elif sight.open and {each.name for each in sight.content} != {*(known.content or ())}:
            found.append(f"in {sight.name}: {', '.join(each.name for each in sight.content) or 'nothing'}")
    found += [f"{thing} is not here" for thing in here.loose if all(thing != sight.name for sight in room.sights)]
    for direction, there in room.exits.items():
        if there is not None and here.exits.get(direction) != there:
            found.append(f"{direction} is {there}, not {here.exits.get(direction)}")
        if room.doors.get(direction) is not here.doors.get(direction):
            found.append(f"the door {direction} is {'closed' if room.doors.get(direction) else 'open'}")
    return tuple(found)


def _states_differ(belief: Known, food: said.Food) -> bool:
    return belief.states.get(food.name, frozenset()) != food.states - {"raw"}
