"""Temperatures to which ScienceWorld's devices bring a metal pot, and which of them work where.

    python benchmarks/scienceworld_devices.py

The pot is measured on arrival and after each of twelve waits, in the first train variation of
`freeze`, with the simulator's own simplifications (doors open, teleport). Then each device is
switched on in all train and dev variations of the tasks of heat and cold, and in every seventh
where there are more than fifty. Test variations are not opened.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import closing

from rpms.worlds.scienceworld.tasks import kind_named
from rpms.worlds.scienceworld.world import ScienceWorldGame

WAITS = 12
FETCH = (
    "teleport to kitchen",
    "pick up thermometer",
    "pick up lighter",
    "open cupboard",
    "pick up metal pot",
)
PLACES = {
    "stove": ("activate stove", "move metal pot to stove"),
    "oven": ("open oven", "activate oven", "move metal pot to oven"),
    "blast furnace": (
        "teleport to foundry",
        "open blast furnace",
        "activate blast furnace",
        "move metal pot to blast furnace",
    ),
    "fire pit, with the wood beside it lit": (
        "teleport to outside",
        "move wood to fire pit",
        "use lighter on wood",
        "move metal pot to fire pit",
    ),
    "fridge": ("open fridge", "move metal pot to fridge"),
    "freezer": ("open freezer", "move metal pot to freezer"),
    "ultra low temperature freezer": (
        "teleport to workshop",
        "open ultra low temperature freezer",
        "move metal pot to ultra low temperature freezer",
    ),
    "outside": ("teleport to outside", "put down metal pot"),
}
SWITCHED = {"stove": "kitchen", "oven": "kitchen", "blast furnace": "foundry"}
TASKS = (
    "boil",
    "melt",
    "freeze",
    "change-the-state-of-matter-of",
    "measure-melting-point-known-substance",
    "measure-melting-point-unknown-substance",
)
_DEGREES = re.compile(r"temperature of (-?\d+)")


def temperatures(way: Sequence[str]) -> list[int]:
    """The pot's temperatures in a place, on arrival and after each wait."""
    measured: list[int] = []
    with closing(ScienceWorldGame("freeze", 0, "easy")) as game:
        game.reset()
        for command in (*FETCH, *way):
            game.step(command)
        for _ in range(WAITS + 1):
            said = _DEGREES.search(game.step("use thermometer on metal pot").observation)
            if said is None:
                raise SystemExit(f"the pot cannot be measured after {way[-1]!r}")
            measured.append(int(said[1]))
            game.step("wait")
    return measured


def working(task: str, variation: int) -> tuple[str, ...]:
    """The devices that can be switched on in a variation."""
    found: list[str] = []
    with closing(ScienceWorldGame(task, variation, "easy")) as game:
        game.reset()
        for device, room in SWITCHED.items():
            game.step(f"teleport to {room}")
            game.step(f"open {device}")
            if "is now activated" in game.step(f"activate {device}").observation:
                found.append(device)
    return tuple(found)


def variations() -> list[tuple[str, int]]:
    """Train and dev variations of the tasks of heat and cold."""
    chosen: list[tuple[str, int]] = []
    for task in TASKS:
        kind = kind_named(task)
        numbers = [*kind.variations("train"), *kind.variations("dev")]
        each = 7 if len(numbers) > 50 else 1
        chosen += [(task, number) for number in numbers[::each]]
    return chosen


def main() -> None:
    """Measure and print."""
    for place, way in PLACES.items():
        print(f"{place:<40} {' '.join(f'{degrees:>5}' for degrees in temperatures(way))}")
    counts = Counter(working(task, number) for task, number in variations())
    for devices, count in counts.most_common():
        print(f"{count:>4} variations where these can be switched on: {', '.join(devices)}")


if __name__ == "__main__":
    main()
