"""Sub-goals: where an agent stands on the way to its goal, as far as its belief tells."""

from __future__ import annotations

from collections.abc import Iterator

from rpms.core.facts import kind_of
from rpms.core.goal import Goal, Progress
from rpms.worlds.alfworld import goals
from rpms.worlds.alfworld.belief import AlfworldBelief


def targets(goal: Goal, belief: AlfworldBelief) -> Iterator[tuple[str, str]]:
    """Objects of the goal's kind that were seen and still lie somewhere, each with its place."""
    for place, inside in belief.contents.items():
        for thing in inside:
            if kind_of(thing) == goal.object and thing != belief.hand:
                yield thing, place


def progress(goal: Goal, belief: AlfworldBelief) -> Progress:
    """The current sub-goal, and how many of all are done."""
    held = belief.hand if belief.hand is not None and kind_of(belief.hand) == goal.object else None
    match goal.type:
        case goals.LOOK:
            return _look(goal, belief, held)
        case goals.TWO:
            return _two(goal, belief, held)
        case goals.PLACE | goals.HEAT | goals.COOL | goals.CLEAN:
            return _one(goal, belief, held)
        case _:
            return Progress("explore", "", 0, 1)


def _one(goal: Goal, belief: AlfworldBelief, held: str | None) -> Progress:
    verb = goals.VERBS.get(goal.type)
    total = 4 if verb else 3

    def ready(thing: str) -> bool:
        return verb is None or belief.is_(thing, goal.state)

    spotted = list(targets(goal, belief))
    if any(ready(thing) and kind_of(place) == goal.destination for thing, place in spotted):
        return Progress("done", "", total, total)
    if held is None:
        if spotted:
            return Progress("take_object", spotted[0][0], 1, total)
        return Progress("find_object", goal.object, 0, total)
    if ready(held):
        return Progress("place_object", f"{held} in {goal.destination}", total - 1, total)
    return Progress(f"{verb}_object", held, 2, total)


def _two(goal: Goal, belief: AlfworldBelief, held: str | None) -> Progress:
    place, placed = belief.gathered()
    count = min(len(placed), 2)
    if count == 2:
        return Progress("done", "", 6, 6)
    done = 3 * count
    if held is not None:
        where = place or goal.destination
        return Progress("place_object", f"{held} in {where} ({count} of 2 placed)", done + 2, 6)
    spotted = [thing for thing, where in targets(goal, belief) if where != place]
    if spotted:
        return Progress("take_object", f"{spotted[0]} ({count} of 2 placed)", done + 1, 6)
    return Progress("find_object", f"{goal.object} ({count} of 2 placed)", done, 6)


def _look(goal: Goal, belief: AlfworldBelief, held: str | None) -> Progress:
    lamps = [thing for inside in belief.contents.values() for thing in inside if kind_of(thing) == goal.destination]
    if held is None:
        spotted = next(targets(goal, belief), None)
        if spotted is None:
            return Progress("find_object", goal.object, 0, 4)
        return Progress("take_object", spotted[0], 1, 4)
    if not lamps:
        return Progress("find_light", goal.destination, 2, 4)
    if any(belief.is_(lamp, "on") and belief.near(lamp) for lamp in lamps):
        return Progress("done", "", 4, 4)
    return Progress("use_light", lamps[0], 3, 4)
