"""Finding things for a box, and focusing on living things by their age or their life span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from rpms.worlds.scienceworld.conditions import STAGES
from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, Seen, Test, named
from rpms.worlds.scienceworld.planner.animals import is_animal, life_span, next_stage
from rpms.worlds.scienceworld.planner.grow import POT
from rpms.worlds.scienceworld.planner.search import NOT_PORTABLE, PORTABLE
from rpms.worlds.scienceworld.tallies import last_focus
from rpms.worlds.scienceworld.tree import alike, read_phrase

GREENS: Final = ("tree", "plant")


def search_and_carry(scene: Scene) -> Needs | None:
    """Find one thing of the kind, focus on it, carry it to its box."""
    goal = scene.goal
    if not scene.belief.focused:
        fits, rooms = _KINDS[goal.target]
        counts = Counter(seen.name for seen in scene.things)
        several = goal.target == "non-living thing"

        def test(seen: Seen) -> bool:
            return fits(seen) and (not several or counts[seen.name] == 1)

        return scene.near(test, f"a {goal.target}", rooms or (goal.box_room,)) or _focus(scene, test)
    chosen = read_phrase(last_focus(scene.belief))
    pots = [place for place in chosen.places if POT.match(place)]
    burden = scene.find(lambda seen: alike(seen.name, chosen.head) and seen.holder in (pots or (seen.holder,)))
    if burden is None:
        return scene.search(f"the {chosen.head} focused on", (goal.box_room,))
    if goal.box in burden.above:
        return scene.act("it is in its box", "look around")
    load = burden.holder if POT.match(burden.holder) else burden.name
    lift = scene.find(named(load))
    return (
        (None if lift and lift.carried else scene.near(named(load), load) or scene.pick_up(named(load), load))
        or scene.be_in(goal.box_room, f"the {goal.box} is in the {goal.box_room}")
        or scene.act(
            f"move it to the {goal.box}", f"move {load} to {goal.box}", f"move {load} in inventory to {goal.box}"
        )
    )


def _focus(scene: Scene, test: Test) -> Needs:
    found = scene.at_hand(test)
    if found is None:
        return scene.act("it is not where it was", "look around")
    words = f"{found.name} in {found.holder}" if _is_plant(found) else scene.call(found)
    return scene.act(f"the {found.name} will do: focus on it", f"focus on {words}", "look around")


def _is_beast(seen: Seen) -> bool:
    return not seen.above and is_animal(seen.name) and "dead" not in seen.name and not seen.thing.restless


def _is_plant(seen: Seen) -> bool:
    return seen.name.split(" ")[-1] in GREENS and bool(seen.holder) and "dead" not in seen.name


def _is_lifeless(seen: Seen) -> bool:
    return bool(PORTABLE.search(seen.name)) and not NOT_PORTABLE.search(seen.name)


_KINDS: Final[Mapping[str, tuple[Test, tuple[str, ...]]]] = {
    "animal": (_is_beast, ("outside",)),
    "living thing": (_is_beast, ("outside",)),
    "plant": (_is_plant, ("greenhouse", "outside")),
    "non-living thing": (_is_lifeless, ()),
}


def by_life_span(scene: Scene) -> Needs | None:
    """Focus on the longest or the shortest lived of the animals, or on both in that order."""
    goal, done = scene.goal, len(scene.belief.focused)
    order = goal.criterion.split(", then ")
    way = scene.be_in(goal.place, f"the animals are in the {goal.place}")
    if way is not None or scene.room not in scene.belief.looked:
        return way or scene.act("see which animals are here", "look around")
    spans = {
        seen.name: span
        for seen in scene.visible
        if not seen.above and not seen.carried and (span := life_span(seen.name)) is not None
    }
    if not spans or done >= len(order):
        return scene.act("no animal is seen here", "look around", "wait1")
    pick = max if order[done] == "longest" else min
    name = pick(spans, key=lambda animal: spans[animal])
    return scene.act(f"of these the {name} lives {order[done]}: focus on it", f"focus on {name}", "look around")


def animal_stages(scene: Scene) -> Needs | None:
    """Focus on an animal in each life stage as it grows up."""
    way = scene.be_in("outside", "animals are outside")
    if way is not None:
        return way
    names = [seen.name for seen in scene.visible if not seen.above and not seen.carried]
    found = next_stage(names, scene.goal.target, scene.belief.focused)
    if found is None:
        return _await(scene, f"the next life stage of the {scene.goal.target} is not seen yet")
    stage, name = found
    words = (f"focus on {name}", f"focus on {stage} {scene.goal.target}")
    return scene.act(f"the {name} is the next life stage: focus on it", *words, "look around")


def plant_stages(scene: Scene) -> Needs | None:
    """Focus on plants in pots outside, from seed to reproducing."""
    way = scene.be_in("outside", "the plants are outside")
    if way is not None:
        return way
    plant, stage = scene.goal.target, STAGES[min(len(scene.belief.focused), len(STAGES) - 1)]
    names = (f"{plant} seed",) if stage == "seed" else (f"{plant} tree", f"{plant} plant")

    def fits(seen: Seen) -> bool:
        shown = stage == "seed" or f"in the {stage} stage" in seen.thing.flags
        return seen.name in names and bool(seen.holder) and shown

    found = scene.at_hand(fits)
    if found is None:
        return _await(scene, f"no {plant} in the {stage} stage is seen yet")
    words = f"{found.name} in {stage} stage in {found.holder}"
    return scene.act(f"the {stage} in {found.holder} is next: focus on it", f"focus on {words}", "look around")


def _await(scene: Scene, text: str) -> Needs:
    looked = scene.last == "look around"
    return scene.act(text, *(("wait1", "look around") if looked else ("look around", "wait1")))
