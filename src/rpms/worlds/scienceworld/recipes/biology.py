"""Life spans and life stages of animals and plants, and growing plants in the greenhouse."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rpms.worlds.scienceworld.affordances import THINGS
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.scene import Names, Recipe, Scene, once
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import Seen, alike, walk

GREENS: Final = ("tree", "plant")
_YEARS: Final[Mapping[str, float]] = THINGS["life_spans"]


def life_span(name: str) -> float | None:
    """Years that the animal lives, from the name of any of its life stages; None if it is no
    known animal.
    """
    matches = [kind for kind in _YEARS if re.search(rf"\b{kind}\b(?! hive)", name)]
    return _YEARS[max(matches, key=len)] if matches else None


_STAGES: Final = (
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
_PLANT_STAGES: Final = ("seed", "seedling", "adult", "reproducing")
_YOUNG: Final = {"caterpillar": ("butterfly", "moth"), "tadpole": ("frog", "common toad", "toad")}
_ALSO_CALLED: Final = {"common toad": ("frog",), "moth": ("butterfly",)}
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
    return [choose(spans, key=lambda name: spans[name])]


def _animal_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """The youngest of the kind that is older than those focused on; the first must be an egg or
    a baby.
    """
    kinds = _names_of_kind(scene.aim.target)
    latest = max((_age(name) for name in scene.focused), default=-1)
    found: list[tuple[int, str]] = []
    for name, seen in around.items():
        age = _age(seen.name)
        if age > latest and any(f" {kind} " in f" {seen.name} " for kind in kinds):
            found.append((age, name))
    if not found:
        return []
    age, youngest = min(found)
    return [youngest] if scene.focused or age < 2 else []


def _names_of_kind(kind: str) -> list[str]:
    """Every name that the simulator has for animals of a kind, at any age."""
    names = [kind, *_ALSO_CALLED.get(kind, ())]
    names += [young for young, old in _YOUNG.items() if kind in old]
    return names


def _age(name: str) -> int:
    """Its life stage; -1 of what is dead, or has none."""
    words = name.split()
    if "dead" in words:
        return -1
    return next((age for age, stage in enumerate(_STAGES) if stage in words), -1)


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


ANIMALS: Final = Recipe(roles={"next": _next_focus}, tasks=("identify", "lifespan"))


_GARDEN: Final = "greenhouse"
FLOWER_POT: Final = re.compile(r"(?:self watering )?flower pot \d+")
_JUGS: Final = 3
"""A plant drinks a jug of water for each life stage, and a pot holds several: three bring a
seed to its flowers."""
_PARENTS: Final = {"grow-plant": 1, "grow-fruit": 3}
_OFFSPRING: Final = 3
_ENOUGH: Final = 2
_POURED: Final = re.compile(r"You pour the contents of the jug into the (.{1,40}? pot \d{1,2})\.")
_SOWN: Final = re.compile(
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
            shown += [inner.raw for inner in plant.contents or () if "flower" in inner.raw.split()]
        else:
            shown += [flag for flag in plant.flags if flag.startswith("with ")]
    return shown


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


def _inside(test: Callable[[Thing], object]) -> Callable[[Scene, str], bool]:
    """Test of anything in a pot."""

    def ask(scene: Scene, pot: str) -> bool:
        return any(test(thing) for thing in _content(scene, pot))

    return ask


def _content(scene: Scene, pot: str) -> list[Thing]:
    found: list[Thing] = []
    for seen in scene.find(pot):
        found += seen.inside
    return found


_has_soil = _inside(lambda thing: thing.name == "soil")
_has_water = _inside(lambda thing: thing.name == "water")
_has_flowers = _inside(lambda thing: "in the reproducing stage" in thing.flags)


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
    order = sorted(pots, key=lambda pot: (not _is_sown(scene, pot), not _has_soil(scene, pot)))
    return order[: _PARENTS.get(scene.aim.task, 2)]


@once
def _nursery(scene: Scene) -> list[str]:
    young, beds = _offspring(scene), _beds(scene)
    pots = [pot for pot in _pots(scene) if pot not in beds]
    order = sorted(pots, key=lambda pot: (pot not in young, not _has_soil(scene, pot)))
    return [] if scene.aim.trait.startswith("seed") else order[:_OFFSPRING]


def _loose_soil(scene: Scene, place: str) -> list[str]:
    found = ((name, scene.by_name[name]) for name in scene.of_kind("soil"))
    return [
        name
        for name, seen in found
        if seen.name == "soil" and not seen.holders and seen.place == place
    ]


def _stocked(scene: Scene) -> bool:
    needed = [*_beds(scene), *(_nursery(scene) if scene.aim.trait else ())]
    bare = sum(not _has_soil(scene, name) and not _is_sown(scene, name) for name in needed)
    there = sum(
        s.name == "soil" and not s.holders and s.place in (_GARDEN, "inventory")
        for s in scene.things
    )
    return _GARDEN in scene.looked and there >= bare


def _plant(scene: Scene) -> str:
    return scene.aim.target.removesuffix(" plant")


def _hangs(seen: Seen) -> bool:
    return seen.place == _GARDEN and seen.holder.endswith(GREENS)


def _young_seeds(scene: Scene) -> list[Thing]:
    """The seeds that hang on plants. They fall and grow: only a fresh look tells."""
    if scene.age(_GARDEN) > 3 + len(_offspring(scene)):
        return []
    return [seen.thing for seen in scene.things if seen.name.endswith(" seed") and _hangs(seen)]


def _dry(scene: Scene) -> list[str]:
    """The pots that need water: fewer than three jugs so far, or seen dry and not watered since."""
    noted, young = scene.readings, _offspring(scene)

    def is_dry(pot: str) -> bool:
        if int(noted.get(f"jugs in {pot}", "0")) < _JUGS:
            return True
        watered = int(noted[f"water in {pot}"]) >= scene.since.get(_GARDEN, 0)
        return not watered and not _has_water(scene, pot)

    sown = [pot for pot in _pots(scene) if _is_sown(scene, pot)]
    return [pot for pot in sown if (len(young) < _ENOUGH or pot in young) and is_dry(pot)]


def _fruits(scene: Scene) -> list[str]:
    return scene.such(lambda seen: alike(seen.name, scene.aim.target) and _hangs(seen))[:1]


def heredity(scene: Scene) -> str:
    """Dominant or recessive, once the offspring tells; empty before."""
    goal = scene.aim
    if goal.trait.startswith("seed"):
        shown = [goal.criterion in seed.raw.split() for seed in _young_seeds(scene)]
    else:
        shown = [form == "yes" for form in _offspring(scene).values() if form != "not seen"]
    if len(shown) < _ENOUGH or 2 * sum(shown) == len(shown):
        return ""
    return "dominant" if 2 * sum(shown) > len(shown) else "recessive"


def _there(word: str) -> Names:
    return lambda scene: (
        scene.such(lambda seen: seen.name == word and seen.place == _GARDEN) or [word]
    )


GARDEN: Final = Recipe(
    predicates={
        "soiled": lambda scene, pot: _has_soil(scene, pot) or _is_sown(scene, pot),
        "sown": _is_sown,
        "stocked": _stocked,
        "dug": lambda scene: bool(_loose_soil(scene, "outside")),
        "tended": lambda scene: not _dry(scene),
        "full": lambda scene, _jug: (scene.last_action or "").startswith("move jug"),
        "grown": lambda _scene: False,
        "flowering": lambda scene: sum(_has_flowers(scene, pot) for pot in _pots(scene)) >= _ENOUGH,
        "fruiting": lambda scene: bool(_fruits(scene)),
        "borne": lambda scene: bool(
            heredity(scene) if scene.aim.trait.startswith("seed") else _young_seeds(scene)
        ),
        "judged": lambda scene: bool(heredity(scene)),
    },
    words={
        "flower pot": _beds,
        "nursery pot": _nursery,
        "sown seed": lambda scene: scene.such(
            lambda seen: seen.name.endswith(" seed") and seen.holder in _pots(scene)
        ),
        "garden door": lambda scene: list(scene.exits.get(_GARDEN, {})),
        "fruit": _fruits,
    },
    roles={
        "pot": _pots,
        "bed": _beds,
        "nursery": _nursery,
        "dry": _dry,
        "soil": lambda scene: [*_loose_soil(scene, "inventory"), *_loose_soil(scene, _GARDEN)][:1],
        "dug": lambda scene: _loose_soil(scene, "outside")[:1] or ["soil"],
        "seed": lambda scene: [f"{_plant(scene)} seed in seed jar"],
        "young": lambda scene: [f"{_plant(scene)} seed in {_plant(scene)} plant"],
        "jug": _there("jug"),
        "basin": _there("sink"),
    },
    tasks=("grow", "mendelian"),
    notes=_notes,
)
