"""What is needed next, and the commands that bring it about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Needs:
    """What the way to the goal needs now. Made from the belief alone, in whatever state it is."""

    text: str
    """In words: `the thermometer was seen in the kitchen`."""
    do: tuple[str, ...] = ()
    """Commands that serve it from here, the best first."""
    rooms: tuple[str, ...] = ()
    """Where to look for it, the likeliest first, while it is not found."""
