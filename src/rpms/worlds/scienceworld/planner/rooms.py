"""The house: which room leads where, and where things of a kind are usually found."""

from __future__ import annotations

from collections import deque
from typing import Final

ROOMS: Final = {
    "hallway": ("kitchen", "bedroom", "living room", "art studio", "workshop", "greenhouse"),
    "kitchen": ("hallway", "outside", "bathroom"),
    "outside": ("kitchen", "greenhouse", "foundry"),
    "greenhouse": ("outside", "hallway"),
    "foundry": ("outside",),
    "bathroom": ("kitchen",),
    "bedroom": ("hallway",),
    "living room": ("hallway",),
    "art studio": ("hallway",),
    "workshop": ("hallway",),
}
"""The house is the same in every variation; only what is in it varies."""

SEARCH_ORDER: Final = (
    "kitchen",
    "workshop",
    "living room",
    "art studio",
    "bedroom",
    "bathroom",
    "outside",
    "greenhouse",
    "foundry",
    "hallway",
)


def route(start: str, end: str) -> tuple[str, ...]:
    """The rooms to enter, in order, on a shortest way; empty if already there or if there is none."""
    ways: dict[str, tuple[str, ...]] = {start: ()}
    queue = deque([start])
    while queue:
        room = queue.popleft()
        if room == end:
            return ways[room]
        for neighbour in ROOMS.get(room, ()):
            if neighbour not in ways:
                ways[neighbour] = (*ways[room], neighbour)
                queue.append(neighbour)
    return ()
