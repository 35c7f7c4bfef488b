"""Life spans and life stages of animals and plants, and growing plants in the greenhouse."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rpms.worlds.scienceworld.affordances import THINGS
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.scene import Names, Recipe, Scene, once
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import INVENTORY, Seen, alike, walk

GREENS = ("tree", "plant")
_YEARS: Mapping[str, float] = THINGS["life_spans"]


@lru_cache(maxsize=16_384)
def life_span(name: str) -> float | None:
    """Years that the animal lives, from the name of any of its life stages; None if it is no
    known animal.
    """
    kinds = [kind for kind in _YEARS if re.search(rf"\b{kind}\b(?! hive)", name)]
    return _YEARS[max(kinds, key=len)] if kinds else None


_STAGES = (
    "egg",
    "baby",
    "hatchling",
    "tadpole",
    "caterpillar",
    "larva",
    "pupa",
    "juvenile",
    "adult",
)
_PLANT_STAGES = ("seed", "seedling", "adult", "reproducing")
_YOUNG = {"caterpillar": ("butterfly", "moth"), "tadpole": ("frog", "common toad", "toad")}
_ALSO_CALLED = {"common toad": ("frog",), "moth": ("butterfly",)}
"""The simulator calls a toad a frog and a moth a butterfly."""


def _next_focus(scene: Scene) -> list[str]:
    """Next thing to focus on, where the order is by age or by life span; nothing while it is
    not seen.
    """
    around = {name: seen for name, seen in scene.by_name.items() if seen.place == "outside"}
    task = scene.aim.task
    if task.startswith("lifespan"):
        return _by_life_span(scene, around)
    if task.endswith("2"):
        return _plant_stage(scene, around)
    return _animal_stage(scene, around)


def _by_life_span(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """The animal that lives longest, or shortest, as the goal asks for next."""
    order = scene.aim.criterion.split(", then ")
    done = len(scene.focused)
    spans: dict[str, float] = {}
    for name, seen in around.items():
        span = None if seen.holders else life_span(seen.name)
        if span:
            spans[name] = span
    if not spans or done >= len(order):
        return []
    choose = max if order[done] == "longest" else min
    return [choose(spans, key=spans.__getitem__)]


def _animal_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """The youngest of the kind that is older than those focused on; the first must be an egg or
    a baby.
    """
    kinds = _names_of_kind(scene.aim.target)
    latest = max(map(_age, scene.focused), default=-1)
    ages: dict[str, int] = {}
    for name, seen in around.items():
        age = _age(seen.name)
        if age > latest and any(f" {kind} " in f" {seen.name} " for kind in kinds):
            ages[name] = age
    if not ages:
        return []
    youngest = min(ages, key=lambda name: (ages[name], name))
    return [youngest] if scene.focused or ages[youngest] < 2 else []


def _names_of_kind(kind: str) -> list[str]:
    """Every name that the simulator has for animals of a kind, at any age."""
    names = [kind, *_ALSO_CALLED.get(kind, ())]
    names += [young for young, old in _YOUNG.items() if kind in old]
    return names


def _age(name: str) -> int:
    """The life stage of a thing, as a number; -1 if it is dead or has none."""
    words = name.split()
    if "dead" in words:
        return -1
    for age, stage in enumerate(_STAGES):
        if stage in words:
            return age
    return -1


def _plant_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """A plant in the stage that comes after those focused on, as commands tell it from others."""
    kind = scene.aim.target
    number = min(len(scene.focused), len(_PLANT_STAGES) - 1)
    stage = _PLANT_STAGES[number]
    for seen in around.values():
        if stage == "seed":
            fits = seen.name == f"{kind} seed"
        else:
            of_kind = seen.name in (f"{kind} tree", f"{kind} plant")
            fits = of_kind and f"in the {stage} stage" in seen.thing.flags
        if fits and seen.holder:
            return [f"{seen.name} in {stage} stage in {seen.holder}"]
    return []


ANIMALS = Recipe(roles={"next": _next_focus}, tasks=("identify", "lifespan"))


_GARDEN = "greenhouse"
FLOWER_POT = re.compile(r"(?:self watering )?flower pot \d+")
_JUGS = 3
"""A plant drinks a jug of water for each life stage, and a pot holds several: three bring a
seed to its flowers."""
_PARENTS = {"grow-plant": 1, "grow-fruit": 3}
_OFFSPRING = 3
_ENOUGH = 2
_POURED = re.compile(r"You pour the contents of the jug into the (.{1,40}? pot \d{1,2})\.")
_SOWN = re.compile(
    r"move .{1,60}? seed in .{1,60}?(?:plant|tree)\b.{0,60}? to (.{1,40}?pot \d{1,2})\b.*"
)


def _notes(_before: object, after: Scene, command: str) -> Iterator[tuple[str, str]]:
    """The jugs poured into each pot and when, the pots with offspring, and the form of the
    trait that it shows.
    """
    poured = _POURED.match(after.observation)
    if poured is not None:
        pot = poured[1]
        jugs = int(after.readings.get(f"jugs in {pot}", "0"))
        yield f"jugs in {pot}", str(jugs + 1)
        yield f"water in {pot}", str(after.clock)
    if after.aim.trait:
        yield from _notes_of_offspring(after, command)


def _notes_of_offspring(after: Scene, command: str) -> Iterator[tuple[str, str]]:
    """The pots that a seed of a grown plant was put into, and whether what grows there shows the
    form of the trait that is asked about.
    """
    sown = _SOWN.fullmatch(command)
    if sown is not None and after.observation.startswith("You move "):
        yield f"offspring in {sown[1]}", "not seen"
    if "stage" not in after.observation:
        return
    for pot in walk(after.here):
        if f"offspring in {pot.name}" not in after.readings:
            continue
        shown = _shown(after.aim, pot)
        if shown:
            answer = "yes" if after.aim.criterion in shown[0].split() else "no"
            yield f"offspring in {pot.name}", answer


def _shown(goal: ScienceGoal, pot: Seen) -> list[str]:
    """The trait as the plants in a pot show it, in words."""
    shown: list[str] = []
    for plant in pot.inside:
        if plant.name.endswith("plant") and goal.trait.startswith("flower"):
            shown += _flowers_on(plant)
        else:
            shown += [flag for flag in plant.flags if flag.startswith("with ")]
    return shown


def _flowers_on(plant: Thing) -> Iterator[str]:
    for thing in plant.contents or ():
        if "flower" in thing.raw.split():
            yield thing.raw


def _offspring(scene: Scene) -> dict[str, str]:
    """The pots with offspring, each with `yes`, `no` or `not seen`: whether it shows the form
    asked about.
    """
    lead = "offspring in "
    found = {}
    for name, form in scene.readings.items():
        if name.startswith(lead):
            found[name.removeprefix(lead)] = form
    return found


@once
def _pots(scene: Scene) -> list[str]:
    return scene.such(lambda seen: seen.place == _GARDEN and FLOWER_POT.fullmatch(seen.name))


def _content(scene: Scene, pot: str) -> list[Thing]:
    found: list[Thing] = []
    for seen in scene.find(pot):
        found += seen.inside
    return found


def _holds(scene: Scene, pot: str, name: str) -> bool:
    """True if a thing of a name is in a pot."""
    return any(thing.name == name for thing in _content(scene, pot))


def _has_flowers(scene: Scene, pot: str) -> bool:
    return any("in the reproducing stage" in plant.flags for plant in _content(scene, pot))


def _is_soiled(scene: Scene, pot: str) -> bool:
    """True if a pot has soil, or something that grows in it."""
    return _holds(scene, pot, "soil") or _is_sown(scene, pot)


def _is_sown(scene: Scene, pot: str) -> bool:
    """True if a seed or a plant is in a pot; the simulator may call a seed by its plant alone:
    `pea`.
    """
    plant = _plant(scene)
    for thing in _content(scene, pot):
        if "dead" in thing.name:
            continue
        if thing.name == plant or thing.name.split(" ")[-1] in (*GREENS, "seed"):
            return True
    return False


@once
def _beds(scene: Scene) -> list[str]:
    """The pots for the seeds of the jar: those that are sown, then those with soil."""
    young = _offspring(scene)
    pots = [pot for pot in _pots(scene) if pot not in young]
    pots.sort(key=lambda pot: (not _is_sown(scene, pot), not _holds(scene, pot, "soil")))
    return pots[: _PARENTS.get(scene.aim.task, 2)]


@once
def _nursery(scene: Scene) -> list[str]:
    """The pots for seeds of grown plants: those with offspring, then those with soil."""
    if scene.aim.trait.startswith("seed"):
        return []
    young = _offspring(scene)
    beds = _beds(scene)
    pots = [pot for pot in _pots(scene) if pot not in beds]
    pots.sort(key=lambda pot: (pot not in young, not _holds(scene, pot, "soil")))
    return pots[:_OFFSPRING]


def _is_loose_soil(seen: Seen) -> bool:
    """True for soil that was dug up and is in nothing yet."""
    return seen.name == "soil" and not seen.holders


def _loose_soil(scene: Scene, place: str) -> list[str]:
    found: list[str] = []
    for name in scene.called_just("soil"):
        seen = scene.by_name[name]
        if _is_loose_soil(seen) and seen.place == place:
            found.append(name)
    return found


def _stocked(scene: Scene) -> bool:
    """True if there is soil in the greenhouse or in hand for each pot that needs some."""
    pots = list(_beds(scene))
    if scene.aim.trait:
        pots += _nursery(scene)
    bare = [pot for pot in pots if not _is_soiled(scene, pot)]
    at_hand = 0
    for seen in scene.things:
        if _is_loose_soil(seen) and seen.place in (_GARDEN, INVENTORY):
            at_hand += 1
    return _GARDEN in scene.looked and at_hand >= len(bare)


def _flowering(scene: Scene) -> list[str]:
    """The pots in which something flowers."""
    return [pot for pot in _pots(scene) if _has_flowers(scene, pot)]


def _plant(scene: Scene) -> str:
    return scene.aim.target.removesuffix(" plant")


def _hangs(seen: Seen) -> bool:
    return seen.place == _GARDEN and seen.holder.endswith(GREENS)


def _young_seeds(scene: Scene) -> list[Thing]:
    """The seeds that hang on plants. They fall and grow: only a fresh look tells."""
    if scene.age(_GARDEN) > 3 + len(_offspring(scene)):
        return []
    hanging = filter(_hangs, scene.things)
    return [seen.thing for seen in hanging if seen.name.endswith(" seed")]


def _dry(scene: Scene) -> list[str]:
    """The sown pots that need water; once there are enough offspring, only the pots of these."""
    young = _offspring(scene)
    dry = []
    for pot in _pots(scene):
        counts = len(young) < _ENOUGH or pot in young
        if counts and _is_sown(scene, pot) and _is_dry(scene, pot):
            dry.append(pot)
    return dry


def _is_dry(scene: Scene, pot: str) -> bool:
    """True if a pot got fewer than three jugs so far, or was seen dry and not watered since."""
    if int(scene.readings.get(f"jugs in {pot}", "0")) < _JUGS:
        return True
    watered = int(scene.readings[f"water in {pot}"])
    return watered < scene.since.get(_GARDEN, 0) and not _holds(scene, pot, "water")


def _fruits(scene: Scene) -> list[str]:
    return scene.such(lambda seen: alike(seen.name, scene.aim.target) and _hangs(seen))[:1]


def heredity(scene: Scene) -> str:
    """Dominant or recessive, once the offspring tells; empty before."""
    goal = scene.aim
    if goal.trait.startswith("seed"):
        shown = [goal.criterion in seed.raw.split() for seed in _young_seeds(scene)]
    else:
        shown = [form == "yes" for form in _offspring(scene).values() if form != "not seen"]
    with_it = shown.count(True)
    without = shown.count(False)
    if len(shown) < _ENOUGH or with_it == without:
        return ""
    return "dominant" if with_it > without else "recessive"


def _borne(scene: Scene) -> bool:
    """True if seeds hang on the plants; where their own form is asked for, enough to tell it."""
    if scene.aim.trait.startswith("seed"):
        return bool(heredity(scene))
    return bool(_young_seeds(scene))


def _sown_seeds(scene: Scene) -> list[str]:
    pots = _pots(scene)
    return scene.such(lambda seen: seen.name.endswith(" seed") and seen.holder in pots)


def _soil(scene: Scene) -> list[str]:
    """Soil for a pot: from the inventory, or else lying about in the greenhouse."""
    loose = [*_loose_soil(scene, INVENTORY), *_loose_soil(scene, _GARDEN)]
    return loose[:1]


def _named_there(name: str) -> Names:
    """The things of a name in the greenhouse; if none is known there, the name alone."""

    def ask(scene: Scene) -> list[str]:
        there = scene.such(lambda seen: seen.name == name and seen.place == _GARDEN)
        return there or [name]

    return ask


GARDEN = Recipe(
    predicates={
        "soiled": _is_soiled,
        "sown": _is_sown,
        "stocked": _stocked,
        "dug": lambda scene: bool(_loose_soil(scene, "outside")),
        "tended": lambda scene: not _dry(scene),
        "full": lambda scene, _jug: (scene.last_action or "").startswith("move jug"),
        "grown": lambda _scene: False,
        "flowering": lambda scene: len(_flowering(scene)) >= _ENOUGH,
        "fruiting": lambda scene: bool(_fruits(scene)),
        "borne": _borne,
        "judged": lambda scene: bool(heredity(scene)),
    },
    words={
        "flower pot": _beds,
        "nursery pot": _nursery,
        "sown seed": _sown_seeds,
        "garden door": lambda scene: list(scene.exits.get(_GARDEN, {})),
        "fruit": _fruits,
    },
    roles={
        "pot": _pots,
        "bed": _beds,
        "nursery": _nursery,
        "dry": _dry,
        "soil": _soil,
        "dug": lambda scene: _loose_soil(scene, "outside")[:1] or ["soil"],
        "seed": lambda scene: [f"{_plant(scene)} seed in seed jar"],
        "young": lambda scene: [f"{_plant(scene)} seed in {_plant(scene)} plant"],
        "jug": _named_there("jug"),
        "basin": _named_there("sink"),
    },
    tasks=("grow", "mendelian"),
    notes=_notes,
)
