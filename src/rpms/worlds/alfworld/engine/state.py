"""Changing state of a game, as a value."""

from __future__ import annotations

from typing import NamedTuple


class State(NamedTuple):
    """One moment of a game: immutable, hashable; things are indices of the `Layout`, sets are bit masks."""

    location: int
    held: int
    """The object in hand, -1 for none."""
    opened: int
    contents: tuple[int, ...]
    """The objects in each receptacle; an object may be in several."""
    around: tuple[int, ...]
    """The objects said to be at each location: what `slice` reaches, which is not always what lies there."""
    removed: tuple[int, ...]
    """The objects taken out of each receptacle and not put back: what `look` may list "next to it"."""
    hot: int
    cool: int
    clean: int
    sliced: int
    toggled: int
    lit: int
    checked: frozenset[str]
    """Ids of what was looked at; kept only where the goal asks for it."""
