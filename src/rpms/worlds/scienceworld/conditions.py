"""What the sub-goals of procedures ask of a goal and a belief."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.tree import alike, walk

Test = Callable[[ScienceGoal, ScienceBelief], bool]

HEATERS: Final = ("stove", "blast furnace", "oven", "hot plate", "fire pit")
COOLERS: Final = ("freezer", "fridge", "ultra low temperature freezer")
_VESSELS: Final = ("pot", "cup", "jar", "bowl", "jug")
_NOT_LIVING: Final = frozenset({"agent", "air", "ground", "drain"})
STAGES: Final = ("seed", "seedling", "adult", "reproducing")


def is_target(thing: Thing, target: str) -> bool:
    """Whether a thing is what a goal names, in whatever state of matter."""
    return alike(substance_of(thing.name), substance_of(target))


def seen(belief: ScienceBelief, target: str) -> bool:
    """Whether something of a name is known to be here or carried."""
    return any(is_target(thing, target) for thing, _ in belief.visible())


def inside(belief: ScienceBelief, target: str, holder: str) -> bool:
    """Whether a thing was last seen in a holder of some name, in any room or carried."""
    forests = (*belief.rooms.values(), belief.inventory)
    return any(
        is_target(thing, target) and any(alike(name, holder) for name in above)
        for forest in forests
        for _, thing, above in walk(forest)
    )


def in_vessel(belief: ScienceBelief, target: str) -> bool:
    """Whether a substance is in something that can be carried, not counting what it was found in unfocused."""
    return any(inside(belief, target, vessel) for vessel in _VESSELS)


def treated(places: tuple[str, ...], *, switched: bool) -> Callable[[ScienceBelief, str], bool]:
    """Whether a substance is in or on a device of some kind, switched on if that needs to be."""

    def ask(belief: ScienceBelief, target: str) -> bool:
        running = belief.devices
        return any(
            inside(belief, target, place) and (not switched or running.get(place, place == "fire pit"))
            for place in places
        )

    return ask


heated = treated(HEATERS, switched=True)
cooled = treated(COOLERS, switched=False)


def focused(target: str) -> Test:
    """Whether something of a name was focused on."""
    return lambda _goal, belief: any(alike_matter(name, target) for name in belief.focused)


def alike_matter(name: str, target: str) -> bool:
    """Whether two names are of one substance or thing."""
    return alike(substance_of(name), substance_of(target))


def focused_times(times: int) -> Test:
    """Whether so many things were focused on."""
    return lambda _goal, belief: len(belief.focused) >= times


def in_room(room: str) -> Test:
    """Whether the agent is in a room."""
    return lambda _goal, belief: belief.room == room


def carried(name: str) -> Test:
    """Whether something of a name is carried."""
    return lambda _goal, belief: bool(belief.carries(name))


def visible(name: str) -> Test:
    """Like `seen`, as a test."""
    return lambda _goal, belief: seen(belief, name)


def was(target: str, state: str) -> Test:
    """Whether a substance was ever seen in a state."""
    return lambda _goal, belief: state in belief.state_history.get(substance_of(target), ())


def became(target: str, states: frozenset[str], before: str = "") -> Test:
    """Whether a substance was seen in one of some states; after another one, if that is named."""

    def ask(_goal: ScienceGoal, belief: ScienceBelief) -> bool:
        history = belief.state_history.get(substance_of(target), ())
        start = history.index(before) + 1 if before in history else 0
        if before and before not in history:
            return False
        burning = "gas" in states and any(
            is_target(thing, target) and "on fire" in thing.flags for thing, _ in belief.visible()
        )
        return burning or not states.isdisjoint(history[start:])

    return ask


def melted(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether the melting point was passed under the thermometer."""
    molten = became(goal.target, frozenset({"liquid", "gas"}))
    return belief.temperature(goal.target) is not None and molten(goal, belief)


def changed(target: str) -> Test:
    """Whether a substance was seen in more than one state."""
    return lambda _goal, belief: len(set(belief.state_history.get(substance_of(target), ()))) > 1


def measured(target: str) -> Test:
    """Whether a temperature was read."""
    return lambda _goal, belief: belief.temperature(target) is not None


def boxed(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether the focused thing is in the box, or in one of the boxes, that the goal names."""
    boxes = [goal.box] if goal.box else [branch.box for branch in goal.branches]
    things = belief.focused[-1:] if goal.type == "F1" else (goal.target,)
    return any(inside(belief, thing, box) for thing in things for box in boxes)


def box_focused(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether one of the answer boxes was focused on."""
    return any(name == branch.box for name in belief.focused for branch in goal.branches)


_LIVING: Final = (
    "egg", "hatchling", "juvenile", "adult", "baby", "tadpole", "caterpillar", "pupa", "seed", "tree", "plant", "bee",
)  # fmt: skip


def living(thing: Thing, *, plant: bool | None) -> bool:
    """Whether a thing looks alive; a plant, an animal, or (None) either."""
    words = thing.name.split(" ")
    green = words[-1] in ("tree", "plant", "seed") and "pot" not in words
    if plant is not None and green is not plant:
        return False
    return green or (not _NOT_LIVING.intersection(words) and bool(set(words).intersection(_LIVING)))


def found(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether something of the kind that F1 asks for is in sight."""
    if belief.focused:
        return True
    kind = {"plant": True, "animal": False, "living thing": None}
    things = [thing for thing, _ in belief.visible()]
    if goal.target not in kind:
        return bool(belief.looked)
    return any(living(thing, plant=kind[goal.target]) for thing in things)


def taken(_goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether what was last focused on is carried, itself or in its pot."""
    return bool(belief.focused) and bool(belief.carries(belief.focused[-1]))


def flower_pots(belief: ScienceBelief) -> Iterator[Thing]:
    """Every flower pot that was seen."""
    for forest in (*belief.rooms.values(), belief.inventory):
        for _, thing, _ in walk(forest):
            if "flower pot" in thing.name:
                yield thing


def potted(words: tuple[str, ...], pots: int = 1) -> Test:
    """Whether so many flower pots hold something whose name ends in one of some words."""

    def ask(_goal: ScienceGoal, belief: ScienceBelief) -> bool:
        held = [any(inner.name.split(" ")[-1] in words for inner in pot.contents or ()) for pot in flower_pots(belief)]
        return sum(held) >= pots

    return ask


def grown(stages: tuple[str, ...], plants: int = 1) -> Test:
    """Whether so many plants have come to one of some stages."""
    flags = {f"in the {stage} stage" for stage in stages}

    def ask(_goal: ScienceGoal, belief: ScienceBelief) -> bool:
        grown = [
            inner for pot in flower_pots(belief) for inner in pot.contents or () if not flags.isdisjoint(inner.flags)
        ]
        return len(grown) >= plants

    return ask


def fruit(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether the fruit hangs on its plant."""
    return any(
        alike(thing.name, goal.target) and any(name.endswith(("tree", "plant")) for name in above)
        for thing, above in belief.visible()
    )


def offspring(_goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether a plant bears seeds."""
    return any(
        thing.name.endswith(" seed") and any(name.endswith(("tree", "plant")) for name in above)
        for thing, above in belief.visible()
    )


def mixture(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether all that the recipe names is in one vessel."""
    text = belief.readings.get("recipe", "").partition(" mix ")[2].strip(" .")
    names = [name.strip() for name in text.split(",") if name.strip()]
    if seen(belief, goal.target):
        return True
    vessels = [thing for thing, _ in belief.visible() if thing.contents]
    return bool(names) and any(
        all(any(is_target(inner, name) or name in inner.name for inner in vessel.contents or ()) for name in names)
        for vessel in vessels
    )


def paints(colours: int) -> Test:
    """Whether so many paints are in one vessel, or the mixture is there."""

    def ask(goal: ScienceGoal, belief: ScienceBelief) -> bool:
        if seen(belief, goal.target) or (goal.intermediate and seen(belief, goal.intermediate)):
            return True
        return any(
            sum(inner.name.endswith("paint") for inner in thing.contents or ()) >= colours
            for thing, _ in belief.visible()
        )

    return ask


def slid(plane: str) -> Test:
    """Whether a block was seen sliding on a plane."""
    return lambda _goal, belief: plane in belief.readings


def wired(joints: int) -> Test:
    """Whether so many terminals are joined."""
    return lambda _goal, belief: len(belief.connections) >= joints


def lit(goal: ScienceGoal, belief: ScienceBelief) -> bool:
    """Whether the device to be powered is on."""
    return any(is_target(thing, goal.target) and "on" in thing.flags for thing, _ in belief.visible())
