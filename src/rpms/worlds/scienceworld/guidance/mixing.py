"""Chemistry and paint: everything that a product needs into one vessel, and then mix."""

from __future__ import annotations

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import INVENTORY, Scene, Seen, Test, named
from rpms.worlds.scienceworld.guidance.substances import focus_once
from rpms.worlds.scienceworld.guidance.vessels import Vessel, fill
from rpms.worlds.scienceworld.planner.mix import ingredients
from rpms.worlds.scienceworld.planner.paint import SECONDARY, VESSELS, halves


def follow_recipe(scene: Scene) -> Needs | None:
    """Read the recipe, gather what it names in one vessel, mix, focus on the product."""
    goal, recipe = scene.goal, scene.belief.readings.get("recipe", "")
    product = focus_once(scene, named(goal.target), goal.target)
    if product is not None or not recipe:
        return product or _read(scene)
    names = sorted(ingredients(recipe), key=lambda name: name == "water")
    vessel = Vessel(scene, lambda seen: any(_called(name)(seen) for name in names))
    for name in names:
        rooms = (*(("art studio",) if "paint" in name else ()), scene.room, goal.place)
        need = fill(vessel, name, _called(name), rooms)
        if need is not None:
            return need
    words, pot = vessel.words, vessel.pot
    return (scene.be_in(pot.place) if pot and not pot.carried else None) or scene.act(
        "all is in it: mix", f"mix {words}", f"look at {words}"
    )


def _read(scene: Scene) -> Needs | None:
    def is_recipe(seen: Seen) -> bool:
        return seen.name.startswith("recipe")

    found = scene.at_hand(is_recipe)
    words = scene.call(found) if found else "recipe"
    return scene.near(is_recipe, "the recipe", (scene.goal.place,)) or scene.act(
        "the recipe is here: read it", f"read {words}", f"pick up {words}"
    )


def _called(name: str) -> Test:
    """Whether a thing is an ingredient: `jam` may be found as `red jam`."""
    return lambda seen: seen.name == name or seen.name.endswith(f" {name}")


def mix_paint(scene: Scene) -> Needs | None:
    """Mix the secondary colour, and for a tertiary one focus on it and add its primary colour."""
    goal = scene.goal
    half, primary = halves(goal.target.removesuffix(" paint"))
    done = _exactly(scene, f"{half} paint") or _exactly(scene, goal.target)
    if done is not None or not half:
        return done
    made = scene.at_hand(named(f"{half} paint")) is not None
    paints = {f"{colour} paint" for colour in ((half, primary) if made else SECONDARY[half])}
    pot = _pot(scene, paints)
    if pot is None:
        way = scene.be_in(goal.place, f"paint is in the {goal.place}")
        return way or scene.search("a vessel to mix in", (goal.place,))
    inside = {inner.name for inner in pot.thing.contents or ()}
    for paint in sorted(paints - inside):
        return _pour(scene, pot, paint)
    words = scene.call(pot)
    return scene.act(f"{' and '.join(sorted(paints))} are in the {pot.name}: mix", f"mix {words}", f"look at {words}")


def _exactly(scene: Scene, paint: str) -> Needs | None:
    """Focus on a paint that is there, by its very name, unless that was done."""
    found = scene.at_hand(named(paint))
    if found is None or paint in scene.belief.focused:
        return None
    return scene.act(f"{paint} is here: focus on it", f"focus on {found.name} in {found.holder or found.place}")


def _pot(scene: Scene, paints: set[str]) -> Seen | None:
    """What to mix in: where some of it is already, else something empty where the paints are."""

    def worth(seen: Seen) -> tuple[int, bool, int]:
        return len(seen.thing.contents or ()), seen.carried, -VESSELS.index(seen.name)

    home = scene.room == scene.goal.place
    fit = [
        seen
        for seen in scene.visible
        if seen.name in VESSELS
        and {inner.name for inner in seen.thing.contents or ()} <= paints
        and (home or seen.thing.contents)
    ]
    return max(fit, key=worth, default=None)


def _pour(scene: Scene, pot: Seen, paint: str) -> Needs:
    def is_source(seen: Seen) -> bool:
        return seen != pot and any(inner.name == paint for inner in seen.thing.contents or ())

    found, into = scene.find(is_source), scene.call(pot)
    if found is not None and found.place in (scene.room, INVENTORY):
        words = f"pour {found.name} containing {paint} into {into}"
        return scene.act(f"{paint} is here: pour it into the {pot.name}", words, "look around")
    if found is None and scene.room == scene.goal.place and not scene.searched(scene.room):
        return scene.search(paint, (scene.room,))
    rooms = (scene.goal.place, "workshop", "kitchen", "living room", "bedroom")
    carried = None if pot.carried else scene.act(f"carry the {pot.name} along", f"pick up {into}")
    return carried or scene.near(is_source, paint, rooms) or scene.act(paint, "look around")
