"""Facts that could ever become true in a game, were nothing undone: a goal outside of them can never be met.

The real engine makes the same estimate, and cannot load a game whose goal fails it.
"""

from __future__ import annotations

from rpms.worlds.alfworld.engine.layout import GameLayout, bits
from rpms.worlds.alfworld.engine.state import State


def reach_of(layout: GameLayout, start: State) -> State:
    """Everything that some course of the game may bring about, and perhaps more; location and hand as masks too."""
    placed = [receptacle for receptacle, place in enumerate(layout.place) if place >= 0]
    location = 1 << start.location
    held = 1 << start.held if start.held >= 0 else 0
    opened = start.opened
    for receptacle in placed:
        location |= 1 << layout.place[receptacle]
        held |= start.contents[receptacle] & layout.pickupable
        opened |= layout.openable & 1 << receptacle
    contents, around = list(start.contents), list(start.around)
    usable = 0
    for receptacle in placed:
        contents[receptacle] |= held & layout.accepts[receptacle]
        around[layout.place[receptacle]] |= held & layout.accepts[receptacle]
        usable |= contents[receptacle] & layout.toggleable
    treated = {
        verb: held & layout.treatable[verb] if any(layout.appliances[verb] >> one & 1 for one in placed) else 0
        for verb in layout.appliances
    }
    sliced = start.sliced
    if held & layout.knives:
        for place in bits(location):
            sliced |= around[place] & layout.sliceable
    return start._replace(
        location=location,
        held=held,
        opened=opened,
        contents=tuple(contents),
        around=tuple(around),
        hot=start.hot | treated["heat"],
        cool=start.cool | treated["cool"],
        clean=start.clean | treated["clean"],
        sliced=sliced,
        toggled=start.toggled | usable,
        lit=start.lit | usable,
    )
