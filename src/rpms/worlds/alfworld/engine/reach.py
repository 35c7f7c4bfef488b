"""Facts that could ever become true in a game, as the real engine estimates them; a goal needs them."""

from __future__ import annotations

from typing import NamedTuple

from rpms.worlds.alfworld.engine.layout import GameLayout, bits
from rpms.worlds.alfworld.engine.state import State


class Reach(NamedTuple):
    """Masks of what may become true, under the names that `State` has for what is."""

    location: int
    held: int
    opened: int
    contents: tuple[int, ...]
    around: tuple[int, ...]
    hot: int
    cool: int
    clean: int
    sliced: int
    toggled: int
    lit: int


def reach_of(layout: GameLayout, start: State) -> Reach:
    """Everything that some course of the game may bring about, and perhaps more."""
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
    return Reach(
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
