"""Agreement of a belief with the simulator's own free listings."""

from __future__ import annotations

from rpms.worlds.scienceworld import observations as heard
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.tree import alike


def disagreements(belief: ScienceKnown, look: str, inventory: str) -> tuple[str, ...]:
    """Beliefs about room and inventory that two listings of the same moment deny."""
    found = []
    sight, carried = heard.room_sight(look), heard.carried(inventory)
    if sight is not None and belief.room is not None and sight.room != belief.room:
        found.append(f"the room is {sight.room}, not {belief.room}")
    left = [thing for thing in carried or () if not thing.restless]
    for thing in belief.inventory:
        match = next((other for other in left if _same(thing, other)), None)
        if match is None:
            found.append(f"{thing.name} is not carried")
        else:
            left.remove(match)
    if belief.inventory_known:
        found.extend(f"{thing.name} is carried" for thing in left)
    return tuple(found)


def _same(one: Thing, other: Thing) -> bool:
    """True if two names are of one thing, whatever state or age it has come to since."""
    return alike(substance_of(one.name), substance_of(other.name))
