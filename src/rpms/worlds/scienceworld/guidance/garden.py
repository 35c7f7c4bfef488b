"""Growing plants in the greenhouse: soil, seeds, water, time and bees; and crossing them."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, named
from rpms.worlds.scienceworld.observations import Thing, room_sight
from rpms.worlds.scienceworld.planner.grow import FIRST_JUGS, FRUIT_PLANTS, POT
from rpms.worlds.scienceworld.tallies import jugs_in, offspring
from rpms.worlds.scienceworld.tree import alike, walk

_HOME: Final = "greenhouse"
_SHOVEL: Final = named("shovel")
_OFFSPRING: Final = 3
_ENOUGH: Final = 2


def grow_plant(scene: Scene) -> Needs | None:
    """One plant from seed to its flowers, with the focus on the seed."""
    return _sow(scene, 1) or _focus_on_seed(scene) or _tend(scene, pots(scene))


def grow_fruit(scene: Scene) -> Needs | None:
    """Several plants to their flowers, bees among them, and the focus on a fruit."""
    fruit = scene.at_hand(lambda seen: alike(seen.name, scene.goal.target) and seen.holder.endswith(("tree", "plant")))
    if fruit is not None and not scene.belief.focused:
        return scene.act("there is a fruit: focus on it", f"focus on {fruit.name} in {fruit.holder}", "look around")
    return _sow(scene, FRUIT_PLANTS) or _pollinate(scene, _tend(scene, pots(scene)))


def cross(scene: Scene) -> Needs | None:
    """Cross two plants that differ, and read the trait off what comes of it."""
    verdict = _verdict(scene)
    branch = scene.goal.branch(verdict) if verdict else None
    if branch is not None:
        return scene.near(named(branch.box), branch.box, (_HOME,)) or scene.act(
            f"the trait is {verdict}: focus on the {branch.box}", f"focus on {branch.box}"
        )
    young = offspring(scene.belief.readings)
    tended = [pot for pot in pots(scene) if len(young) < _ENOUGH or pot.name in young]
    return (
        (None if young else _sow(scene, 2)) or _sow_offspring(scene, young) or _pollinate(scene, _tend(scene, tended))
    )


def pots(scene: Scene) -> list[Thing]:
    """The flower pots of the greenhouse as last seen."""
    return [thing for _, thing, _ in walk(scene.belief.rooms.get(_HOME, ())) if POT.match(thing.name)]


def _grows(thing: Thing) -> bool:
    return thing.name.split(" ")[-1] in ("tree", "plant", "seed") and "dead" not in thing.name


def _sown(pot: Thing) -> bool:
    return any(map(_grows, pot.contents or ()))


def _dry(pot: Thing) -> bool:
    return not any(thing.name == "water" for thing in pot.contents or ())


def _flowering(pot: Thing) -> bool:
    return any("in the reproducing stage" in thing.flags for thing in pot.contents or ())


def _kind(scene: Scene) -> str:
    return scene.goal.target.removesuffix(" plant")


# Soil and seeds


def _sow(scene: Scene, plants: int) -> Needs | None:
    """Have so many pots with something that grows, seeds from the jar."""
    sown = sum(map(_sown, pots(scene)))
    if sown >= plants:
        return None
    return (
        scene.have(named("seed jar"), "seed jar", (scene.goal.place or _HOME,))
        or (None if _HOME in scene.belief.looked else _at_home(scene))
        or _soil(scene, plants - sown)
        or _at_home(scene)
        or _plant(scene, f"{_kind(scene)} seed in seed jar")
    )


def _at_home(scene: Scene) -> Needs | None:
    way = scene.be_in(_HOME, "the flower pots are in the greenhouse")
    if way is None and _HOME not in scene.belief.looked:
        return scene.act("see what is here", "look around")
    return way


def _ready(scene: Scene) -> list[Thing]:
    return [pot for pot in pots(scene) if not _sown(pot) and any(t.name == "soil" for t in pot.contents or ())]


def _plant(scene: Scene, seed: str) -> Needs:
    free = _ready(scene)
    words = [f"move {seed} to {pot.name}" for pot in free[:2]]
    return scene.act("a seed into a pot with soil", *words, "look around")


def _soil(scene: Scene, count: int) -> Needs | None:
    """Have soil in so many free pots: what lies here, or else dug up outside."""
    bare = [pot for pot in pots(scene) if not _sown(pot) and pot not in _ready(scene)]
    missing = min(count - len(_ready(scene)), len(bare))
    held = [seen for seen in scene.visible if seen.carried and seen.name == "soil"]
    if missing <= 0:
        return None
    loose = scene.at_hand(lambda seen: seen.name == "soil" and not seen.above and not seen.carried)
    if scene.room == _HOME and (loose or held):
        words = "soil in inventory" if held else "soil"
        return scene.act("soil into a flower pot", f"move {words} to {bare[0].name}", "look around")
    if len(held) >= missing:
        return scene.be_in(_HOME, "the soil goes into the flower pots of the greenhouse")
    if scene.room == "outside" and loose:
        return scene.pick_up(lambda seen: seen.name == "soil" and not seen.carried and not seen.above, "soil")
    return (
        scene.have(_SHOVEL, "shovel", (_HOME, "outside"))
        or scene.be_in("outside", "soil is dug up outside")
        or scene.act("dig up some soil", "use shovel in inventory on ground")
    )


def _focus_on_seed(scene: Scene) -> Needs | None:
    if scene.belief.focused:
        return None
    pot = next((pot for pot in pots(scene) if _sown(pot)), None)
    words = f"focus on {_kind(scene)} seed in {pot.name}" if pot else "look around"
    return scene.be_in(_HOME) or scene.act("focus on the seed", words)


# Water, time and bees


def _tend(scene: Scene, tended: list[Thing]) -> Needs | None:
    """Water what is dry; otherwise let time pass and look by turns."""
    return _at_home(scene) or _water(scene, tended) or _await(scene)


def _water(scene: Scene, tended: list[Thing]) -> Needs | None:
    fresh = scene.last in ("look around", "move jug to sink")
    thirsty = [pot for pot in tended if _sown(pot) and (jugs_in(scene.belief, pot.name) < FIRST_JUGS)]
    thirsty += [pot for pot in tended if _sown(pot) and _dry(pot) and fresh and pot not in thirsty]
    if not thirsty:
        return None
    sink = scene.at_hand(named("sink"))
    text = f"{thirsty[0].name} needs water"
    if sink is not None and "on" not in sink.thing.flags:
        return scene.act(text, "activate sink")
    if scene.last == "move jug to sink":
        return scene.act(text, *(f"pour jug into {pot.name}" for pot in thirsty[:2]))
    return scene.near(named("jug"), "jug", (_HOME,)) or scene.act(text, "move jug to sink")


def _await(scene: Scene) -> Needs:
    waited = scene.last == "wait"
    return scene.act("the plants need time", *(("look around", "wait") if waited else ("wait", "look around")))


def _pollinate(scene: Scene, otherwise: Needs | None) -> Needs | None:
    """Once two plants flower: doors shut, hive open."""
    hive = scene.at_hand(named("bee hive"))
    if scene.room != _HOME or hive is None or sum(map(_flowering, pots(scene))) < 2 or "open" in hive.thing.flags:
        return otherwise
    doors = [room for room, is_open in scene.belief.exits.get(_HOME, {}).items() if is_open is not False]
    text = "the plants flower: shut the doors, then let the bees out"
    return scene.act(text, *(f"close door to {room}" for room in doors), "open bee hive")


# Heredity


def _on_plants(scene: Scene) -> list[Thing]:
    """The seeds that hang on plants. They fall and grow: only a fresh look tells."""
    sight = room_sight(scene.belief.observation) if scene.last == "look around" else None
    return [
        thing
        for _, thing, above in walk(sight.things if sight else ())
        if thing.name.endswith(" seed") and above and above[0].endswith("plant")
    ]


def _sow_offspring(scene: Scene, young: dict[str, str]) -> Needs | None:
    """Sow the seeds of the cross, unless they show the trait themselves."""
    if scene.goal.trait.startswith("seed") or len(young) >= _OFFSPRING:
        return None
    if not _on_plants(scene):
        return None
    kind = _kind(scene)
    return (
        _soil(scene, _OFFSPRING - len(young))
        or _at_home(scene)
        or (_plant(scene, f"{kind} seed in {kind} plant") if _ready(scene) else None)
    )


def _verdict(scene: Scene) -> str:
    """Dominant or recessive, once the offspring tells; empty before."""
    goal = scene.goal
    if goal.trait.startswith("seed"):
        shown = Counter(goal.criterion in seed.raw.split() for seed in _on_plants(scene))
    else:
        shown = Counter(form == "yes" for form in offspring(scene.belief.readings).values() if form != "not seen")
    if shown.total() < _ENOUGH or shown[True] == shown[False]:
        return ""
    return "dominant" if shown[True] > shown[False] else "recessive"
