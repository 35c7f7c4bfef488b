"""What the steps of ScienceWorld's procedures ask of a belief: the one place that knows its tasks beyond the manual.

A predicate is a function of the scene and its arguments; a role is the list of things that a command may mean by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.affordances import is_fixed, is_food, takes_things
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.scene import Scene, Seen
from rpms.worlds.scienceworld.tallies import jugs_in, last_focus, offspring, speed_on, ticks_on
from rpms.worlds.scienceworld.tree import alike, read_phrase

Ask = Callable[..., bool | None]
_NO_GOAL: Final = ScienceGoal("")


def _goal(scene: Scene) -> ScienceGoal:
    goal = scene.belief.goal
    return goal if isinstance(goal, ScienceGoal) else _NO_GOAL


def _is(seen: Seen, word: str) -> bool:
    """Whether a thing is of a substance or a name, in whatever state."""
    return substance_of(seen.name).casefold() == substance_of(word).casefold()


# What is where


def _carried(scene: Scene, word: str) -> bool | None:
    """What an agent starts with is food at most; all else it was seen to pick up."""
    if any(seen.carried for seen in scene.find(word)):
        return True
    return None if is_food(word) and not scene.belief.inventory_known else False


def _within(scene: Scene, word: str, place: str) -> bool | None:
    target, found = scene.first(place), scene.find(word)
    if not found and not word.endswith("?"):
        return None
    return target is not None and any(target.thing in seen.holders for seen in found)


def _holds(scene: Scene, place: str, word: str) -> bool:
    """Whether a thing, not built in, directly holds another; a jar only while it is open."""
    holder = scene.first(place)
    return holder is not None and any(seen.holders[:1] == (holder.thing,) for seen in scene.find(word))


def unseen(scene: Scene, predicate: str, *args: str) -> bool | None:
    """What is known of something that was never seen: it is not here, and in no room that was searched."""
    if predicate == "with":
        return None if scene.veiled(args[0]) or scene.hiding(args[0]) else False
    return False if predicate == "here" else None


def _is_opened(exits: Mapping[str, Mapping[str, bool | None]], here: str, room: str) -> bool:
    """Whether the door from here, or else any door, to a room is known to be open."""
    ways = exits.get(here, {})
    return bool(ways[room]) if room in ways else any(others.get(room) for others in exits.values())


# Questions of the simulator

_OPTION_PLACES: Final = re.compile(r"(?P<name>[^()]*?) \((?P<places>in [^()]*)\)")


def _meant(scene: Scene, choice: str) -> bool:
    """Whether an option is the one that the last command meant: its things are where they are known to be."""
    return choice == str(_best_option(scene))


def _best_option(scene: Scene) -> int:
    menu, said = scene.belief.menu, scene.belief.last_action or ""
    taking = said.startswith("pick up")

    def worth(number: int) -> tuple[int, int]:
        option = menu[number].casefold()
        fit = sum(_agrees(scene, option, name, seen) for name, seen in scene.by_name.items() if name in said)
        return fit - 100 * (taking and "(in inventory" in option), -number

    return max(range(len(menu)), key=worth, default=0)


def _agrees(scene: Scene, option: str, name: str, seen: Seen) -> int:
    places = [holder.name.casefold() for holder in seen.holders] + [seen.place]
    return f"{seen.name.casefold()} (in {places[0]}" in option


# Finding things and putting them into boxes

_PORTABLE: Final = re.compile(
    r"\b(?:cup|pot|jug|jar|wire|light bulb|battery|switch|thermometer|stopwatch|lighter|axe|shovel|fork|chair)$"
)
_POT: Final = re.compile(r"(?:self watering )?flower pot \d+")
_GREEN: Final = ("tree", "plant")


def _is_beast(seen: Seen) -> bool:
    loose = not seen.holders and "dead" not in seen.name and not seen.thing.restless
    return loose and (life_span(seen.name) is not None or seen.name in ("caterpillar", "tadpole"))


def _is_plant(seen: Seen) -> bool:
    return seen.name.split(" ")[-1] in _GREEN and bool(seen.holders) and "dead" not in seen.name


def _is_lifeless(seen: Seen) -> bool:
    return bool(_PORTABLE.search(seen.name)) and not _POT.fullmatch(seen.name) and seen.name != "seed jar"


_KINDS: Final[Mapping[str, Callable[[Seen], bool]]] = {
    "animal": _is_beast,
    "living thing": _is_beast,
    "plant": _is_plant,
    "non-living thing": _is_lifeless,
}


def _of_kind(kind: str) -> Callable[[Scene], list[str]]:
    def named(scene: Scene) -> list[str]:
        counts = Counter(seen.name for seen in scene.things)
        return [
            name
            for name, seen in scene.by_name.items()
            if _KINDS[kind](seen) and (kind != "non-living thing" or counts[seen.name] == 1)
        ]

    return named


def _focused(scene: Scene, word: str) -> bool:
    """Whether a thing was focused on; where a task asks for one focus alone, any is that."""
    done = scene.belief.focused
    if _goal(scene).type == "F1" or _goal(scene).task in ("grow-plant", "grow-fruit"):
        return bool(done)
    names = {seen.name.casefold() for seen in scene.find(word)} | {read_phrase(word.removesuffix(" ?")).head}
    matter = {substance_of(name) for name in names}
    return any(name.casefold() in names or substance_of(name.casefold()) in matter for name in done)


def _loads(scene: Scene) -> list[str]:
    """What is to be put into the box: the thing focused on, in its flower pot or its vessel if it is in one."""
    goal = _goal(scene)
    chosen = read_phrase(last_focus(scene.belief)) if goal.type == "F1" else read_phrase(goal.target)
    for name, seen in scene.by_name.items():
        near = not chosen.places or seen.holder in (chosen.places[0], "") or not _POT.fullmatch(chosen.places[0])
        if near and (alike(seen.name, chosen.head) if goal.type == "F1" else _is(seen, goal.target)):
            potted = _POT.fullmatch(seen.holder) or (_flows(seen.thing) and seen.holders and not is_fixed(seen.holder))
            return [_name_of(scene, seen.holders[0])] if potted else [name]
    return []


def _name_of(scene: Scene, thing: Thing) -> str:
    return next((name for name, seen in scene.by_name.items() if seen.thing is thing), thing.name)


def _delivered(scene: Scene) -> bool:
    boxes = _boxes(scene)
    load = next(iter(_loads(scene)), "")
    return any(holder.name in boxes for seen in scene.find(load) for holder in seen.holders)


def _boxes(scene: Scene) -> list[str]:
    """The box that is the answer, once that is known, or the plane."""
    goal = _goal(scene)
    verdict = _VERDICTS.get(goal.task)
    if verdict is None:
        return [goal.box] if goal.box else []
    found = verdict(scene)
    branch = goal.branch(found)
    return [branch.box] if branch else [found] if found in goal.candidates else []


# Heat and cold


class _Device(NamedTuple):
    """Something that changes the temperature of what is in or on it."""

    name: str
    limit: float
    """The temperature, in °C, near which it has done what it can."""
    swift: bool = False
    """Whether it must be watched at every step."""


_STOVE: Final = _Device("stove", 245)
_OVEN: Final = _Device("oven", 500, swift=True)
_FURNACE: Final = _Device("blast furnace", 5_000, swift=True)
_GENTLE: Final = (_STOVE, _OVEN, _FURNACE)
_FIERCE: Final = (_STOVE, _FURNACE, _OVEN)
_COOLERS: Final = (_Device("freezer", -16), _Device("ultra low temperature freezer", -85))
_DEVICES: Final = {device.name: device for device in (*_GENTLE, *_COOLERS)}
_LIQUIDS: Final = ("water", "juice", "mercury", "milk", "oil", "vinegar")


def _flows(thing: Thing) -> bool:
    return "liquid" in thing.flags or thing.name.endswith((*_LIQUIDS, "paint"))


def _states(scene: Scene, word: str) -> tuple[str, ...]:
    """The states a substance was seen in; where no name told, the state it is in by nature."""
    seen = scene.belief.state_history.get(substance_of(word), ())
    return seen or ("liquid" if word.endswith(_LIQUIDS) else "solid",)


def _device(scene: Scene, word: str) -> str:
    """The device to use on a substance now: one that works, and that has not done yet what it can."""
    goal, now = _goal(scene), _states(scene, _substance(scene, word))[-1]
    if goal.type == "F2":
        choice = _COOLERS if now == "liquid" else _FIERCE
    elif now == "liquid" and goal.task != "boil":
        choice = _COOLERS
    else:
        choice = _FIERCE if goal.task == "boil" else _GENTLE
    degrees = scene.belief.temperature(_substance(scene, word))
    broken = {name.rpartition(" in ")[0] for name in scene.belief.broken}

    def spent(device: _Device) -> bool:
        return degrees is not None and (degrees > device.limit if device.limit > 0 else degrees < device.limit)

    fit = [device.name for device in choice if device.name not in broken and not spent(device)] or [choice[-1].name]
    holders = {holder.name for seen in scene.find(word) for holder in seen.holders}
    return next((name for name in fit if name in holders), fit[0])


def _substance(scene: Scene, word: str) -> str:
    found = scene.first(word)
    return substance_of(found.name if found else read_phrase(word.removesuffix(" ?")).head)


def _treats(scene: Scene, device: str, word: str) -> bool:
    return read_phrase(device.removesuffix(" ?")).head == _device(scene, word)


def _treated(scene: Scene, word: str) -> bool:
    """Whether a substance is in or on a device: then it changes while time passes."""
    return any(holder.name in _DEVICES for seen in scene.find(word) for holder in seen.holders)


def _just(scene: Scene, word: str, what: str, ticks: int) -> bool:
    name = what + _substance(scene, word)
    return scene.belief.age(name) <= ticks or (name in scene.belief.since and not _treated(scene, word))


def _became(state: str, before: str = "") -> Ask:
    """Whether a substance was seen in a state, after another one if that is named."""

    def ask(scene: Scene, word: str) -> bool:
        history = _states(scene, _substance(scene, word))
        start = history.index(before) + 1 if before in history else 0
        return (not before or before in history) and state in history[start:]

    return ask


def _melting_side(scene: Scene) -> str:
    """`above` or `below` the threshold, once readings tell where a substance melts; empty before."""
    goal = _goal(scene)
    degrees, limit, states = scene.belief.temperature(goal.target), goal.threshold, _states(scene, goal.target)
    if degrees is None or limit is None:
        return ""
    if states[-1] == "liquid":
        return "below" if degrees < limit or "solid" in states else ""
    return "above" if degrees > limit else "below" if "liquid" in states else ""


def _reading_side(scene: Scene) -> str:
    goal = _goal(scene)
    degrees = scene.belief.temperature(goal.target)
    return "" if degrees is None or goal.threshold is None else "above" if degrees > goal.threshold else "below"


# Vessels and mixtures

_POTS: Final = ("metal pot", "ceramic cup", "tin cup", "glass cup", "bowl", "jug")
_PAINT_POTS: Final = ("jug", "bowl", "glass cup", "metal pot", "ceramic cup")
SECONDARY: Final = {
    "orange": ("red", "yellow"),
    "green": ("blue", "yellow"),
    "violet": ("red", "blue"),
    "purple": ("red", "blue"),
}
_RECIPE: Final = re.compile(r"need to mix ([^.]+)\.")


def ingredients(recipe: str) -> list[str]:
    """What a recipe says to mix; nothing if it cannot be read."""
    found = _RECIPE.search(recipe)
    return [name.strip() for name in re.split(r", and | and |, ", found[1]) if name.strip()] if found else []


def _halves(scene: Scene) -> tuple[str, str]:
    """The secondary colour to mix first, and the primary one to add for a tertiary one, as paints."""
    parts = _goal(scene).target.removesuffix(" paint").split("-")
    half = next((part for part in parts if part in SECONDARY), "")
    last = next((part for part in parts if part not in SECONDARY), "") if half else ""
    return f"{half} paint", f"{last} paint" if last else ""


def _wanted_inside(scene: Scene) -> list[str]:
    """What the vessel is for."""
    goal = _goal(scene)
    if goal.task == "chemistry-mix":
        return [*ingredients(scene.belief.readings.get("recipe", "")), goal.target]
    if goal.place == "art studio":
        half, last = _halves(scene)
        made = any(_is(seen, half) for seen in scene.things)
        colours = (half, last) if made else [f"{colour} paint" for colour in SECONDARY[half.removesuffix(" paint")]]
        return [*colours, goal.target]
    return [goal.target]


def _vessels(scene: Scene) -> list[str]:
    """The vessel to use: what holds something of it already, else one that is carried, else an empty one."""
    goal, wanted = _goal(scene), _wanted_inside(scene)
    paint = goal.place == "art studio"

    def worth(name: str) -> tuple[int, bool, bool, int]:
        seen = scene.by_name[name]
        held = sum(any(_fits(inner.name, word) for word in wanted) for inner in seen.inside)
        kinds = _PAINT_POTS if paint else _POTS
        return held, seen.carried, not seen.inside, -kinds.index(seen.name)

    def serves(seen: Seen) -> bool:
        if paint:
            fits = all(any(_fits(inner.name, word) for word in wanted) for inner in seen.inside)
            return seen.name in _PAINT_POTS and fits and (bool(seen.inside) or seen.carried or seen.place == goal.place)
        return seen.name == "metal pot"

    pots = [name for name, seen in scene.by_name.items() if serves(seen)]
    if not pots and not paint and "kitchen" in scene.belief.looked and not scene.hiding("kitchen"):
        pots = [name for name, seen in scene.by_name.items() if seen.name in _POTS and not seen.inside]
    return [max(pots, key=worth)] if pots else ["jug ?" if paint else "metal pot ?"]


def _fits(shown: str, word: str) -> bool:
    """Whether a thing is an ingredient: `jam` may be found as `red jam`."""
    name = substance_of(shown).casefold()
    return name == substance_of(word).casefold() or name.endswith(f" {word.casefold()}")


def _ingredients(words: Callable[[Scene], Sequence[str]]) -> Callable[[Scene], list[str]]:
    """What is to be put together, each by the thing that is in the vessel already, or else the nearest."""

    def named(scene: Scene) -> list[str]:
        vessel = next((seen.thing for seen in map(scene.first, called(scene, "vessel")) if seen), None)
        found: list[str] = []
        for word in sorted(words(scene), key=lambda word: word == "water"):
            fit = [name for name, seen in scene.by_name.items() if _fits(seen.name, word)]
            inside = [name for name in fit if vessel in scene.by_name[name].holders]
            found.append(next(iter(inside or ([] if word == "water" else fit)), f"{word} ?"))
        return found

    return named


def _made(scene: Scene, word: str, vessel: str) -> bool:
    return any(_fits(inner.name, word.removesuffix(" ?")) for pot in scene.find(vessel) for inner in pot.inside)


# Animals

LIFE_SPANS: Final = {
    "giant tortoise": 150.0, "turtle": 80.0, "crocodile": 70.0, "elephant": 65.0, "parrot": 55.0, "brown bear": 30.0,
    "bear": 30.0, "beaver": 20.0, "wolf": 14.0, "toad": 11.0, "frog": 10.0, "rabbit": 9.0, "chipmunk": 8.0,
    "blue jay": 7.5, "hedgehog": 5.0, "dove": 5.0, "chameleon": 4.0, "mouse": 2.0, "ant": 1.0, "dragonfly": 0.5,
    "butterfly": 0.1, "moth": 0.1, "bee": 0.1,
}  # fmt: skip
"""Years in the wild, roughly: only the order matters."""


def life_span(name: str) -> float | None:
    """Years that the animal lives, from the name of any of its life stages; None if it is no known animal."""
    matches = [kind for kind in LIFE_SPANS if re.search(rf"\b{kind}\b(?! hive)", name)]
    return LIFE_SPANS[max(matches, key=len)] if matches else None


_STAGES: Final = (
    "egg", "baby", "hatchling", "tadpole", "caterpillar", "larva", "pupa", "juvenile", "adult", "dead",
)  # fmt: skip
_PLANT_STAGES: Final = ("seed", "seedling", "adult", "reproducing")
_YOUNG: Final = {"caterpillar": ("butterfly", "moth"), "tadpole": ("frog", "common toad", "toad")}
_ALSO_CALLED: Final = {"common toad": ("frog",), "moth": ("butterfly",)}
"""The simulator calls a toad a frog and a moth a butterfly."""


def _next_focus(scene: Scene) -> list[str]:
    """What is to be focused on next, where the order is by age or by life span; nothing while it is not seen."""
    goal = _goal(scene)
    around = {name: seen for name, seen in scene.by_name.items() if seen.place == "outside"}
    if goal.task.startswith("lifespan"):
        return _by_life_span(scene, around)
    return _plant_stage(scene, around) if goal.task.endswith("2") else _animal_stage(scene, around)


def _by_life_span(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    order, done = _goal(scene).criterion.split(", then "), len(scene.belief.focused)
    spans = {name: span for name, seen in around.items() if not seen.holders and (span := life_span(seen.name))}
    if not spans or done >= len(order):
        return []
    return [(max if order[done] == "longest" else min)(spans, key=lambda name: spans[name])]


def _animal_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """The youngest of the kind that is older than those focused on; the first must be an egg or a baby."""
    kind, done = _goal(scene).target, scene.belief.focused
    kinds = re.compile(rf"\b(?:{'|'.join((kind, *_ALSO_CALLED.get(kind, ())))})\b")
    latest = max((_age(name) for name in done), default=-1)
    found = [
        (_age(seen.name), name)
        for name, seen in around.items()
        if (kinds.search(seen.name) or kind in _YOUNG.get(seen.name, ()))
        and latest < _age(seen.name) < len(_STAGES) - 1
    ]
    return [name for age, name in sorted(found)[:1] if done or age < 2]


def _age(name: str) -> int:
    return next((age for age, stage in enumerate(_STAGES) if stage in name.split()), -1)


def _plant_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    kind, stage = _goal(scene).target, _PLANT_STAGES[min(len(scene.belief.focused), len(_PLANT_STAGES) - 1)]
    names = (f"{kind} seed",) if stage == "seed" else (f"{kind} tree", f"{kind} plant")
    return [
        f"{seen.name} in {stage} stage in {seen.holder}"
        for seen in around.values()
        if seen.name in names and seen.holder and (stage == "seed" or f"in the {stage} stage" in seen.thing.flags)
    ][:1]


# Plants

_GARDEN: Final = "greenhouse"
_JUGS: Final = 3
"""A plant drinks a jug of water for each life stage, and a pot holds several: three bring a seed to its flowers."""
_PARENTS: Final = {"grow-plant": 1, "grow-fruit": 3}
_OFFSPRING: Final = 3
_ENOUGH: Final = 2


def _pots(scene: Scene) -> dict[str, Seen]:
    return {name: seen for name, seen in scene.by_name.items() if seen.place == _GARDEN and _POT.fullmatch(seen.name)}


def _grows(thing: Thing) -> bool:
    return thing.name.split(" ")[-1] in (*_GREEN, "seed") and "dead" not in thing.name


def _is_sown(pot: Seen) -> bool:
    return any(map(_grows, pot.inside))


def _has_soil(pot: Seen) -> bool:
    return any(thing.name == "soil" for thing in pot.inside)


def _beds(scene: Scene) -> list[str]:
    """The pots for the seeds of the jar: those that are sown, then those with soil."""
    young = offspring(scene.belief.readings)
    pots = {name: pot for name, pot in _pots(scene).items() if pot.name not in young}
    order = sorted(pots, key=lambda name: (not _is_sown(pots[name]), not _has_soil(pots[name])))
    return order[: _PARENTS.get(_goal(scene).task, 2)]


def _nursery(scene: Scene) -> list[str]:
    """The pots for the offspring."""
    young, beds = offspring(scene.belief.readings), _beds(scene)
    pots = {name: pot for name, pot in _pots(scene).items() if name not in beds}
    order = sorted(pots, key=lambda name: (pots[name].name not in young, not _has_soil(pots[name])))
    return [] if _goal(scene).trait.startswith("seed") else order[:_OFFSPRING]


def _needs_pots(scene: Scene) -> list[str]:
    return [*_beds(scene), *(_nursery(scene) if _goal(scene).trait else ())]


def _loose_soil(scene: Scene, place: str) -> list[str]:
    return [
        name for name, seen in scene.by_name.items() if seen.name == "soil" and seen.place == place and not seen.holders
    ]


def _stocked(scene: Scene) -> bool:
    pots = _pots(scene)
    bare = sum(not _has_soil(pots[name]) and not _is_sown(pots[name]) for name in _needs_pots(scene))
    there = sum(s.name == "soil" and not s.holders and s.place in (_GARDEN, "inventory") for s in scene.things)
    return _GARDEN in scene.belief.looked and there >= bare


def _seed(scene: Scene, holder: str) -> str:
    kind = _goal(scene).target.removesuffix(" plant")
    return f"{kind} seed in {holder or f'{kind} plant'}"


def _young_seeds(scene: Scene) -> list[Thing]:
    """The seeds that hang on plants. They fall and grow: only a fresh look tells."""
    if scene.belief.age(_GARDEN) > 3 + len(offspring(scene.belief.readings)):
        return []
    return [
        seen.thing
        for seen in scene.things
        if seen.place == _GARDEN and seen.name.endswith(" seed") and seen.holder.endswith(_GREEN)
    ]


def _dry(scene: Scene) -> list[str]:
    """The pots that need water: fewer than three jugs so far, or seen dry and not watered since."""
    belief, young = scene.belief, offspring(scene.belief.readings)
    return [
        name
        for name, pot in _pots(scene).items()
        if _is_sown(pot)
        and (len(young) < _ENOUGH or pot.name in young)
        and (
            jugs_in(belief, pot.name) < _JUGS
            or (
                not any(thing.name == "water" for thing in pot.inside)
                and belief.age(f"water in {pot.name}") > belief.age(_GARDEN)
            )
        )
    ]


def _flowers(scene: Scene) -> int:
    return sum(any("in the reproducing stage" in thing.flags for thing in pot.inside) for pot in _pots(scene).values())


def _fruits(scene: Scene) -> list[str]:
    return [
        name
        for name, seen in scene.by_name.items()
        if alike(seen.name, _goal(scene).target) and seen.holder.endswith(_GREEN) and seen.place == _GARDEN
    ][:1]


def _heredity(scene: Scene) -> str:
    """Dominant or recessive, once the offspring tells; empty before."""
    goal = _goal(scene)
    if goal.trait.startswith("seed"):
        shown = Counter(goal.criterion in seed.raw.split() for seed in _young_seeds(scene))
    else:
        shown = Counter(form == "yes" for form in offspring(scene.belief.readings).values() if form != "not seen")
    if shown.total() < _ENOUGH or shown[True] == shown[False]:
        return ""
    return "dominant" if shown[True] > shown[False] else "recessive"


# Inclined planes

_BLOCK: Final = re.compile(r"\b(?:block|brick)$")
_FAR: Final = 60
"""Per cent of the plane after which a speed is known well enough."""
_LONG: Final = 30
"""Ticks after which a slow block's speed is known."""


def _timed(scene: Scene, plane: str) -> bool:
    slid = scene.belief.readings.get(plane, "")
    far = slid.isdecimal() and int(slid) >= _FAR
    return speed_on(scene.belief, plane) > 0 and (far or ticks_on(scene.belief, plane) >= _LONG)


def _plane(scene: Scene) -> str:
    """The plane asked for, once both were timed."""
    goal, speeds = _goal(scene), {plane: speed_on(scene.belief, plane) for plane in _goal(scene).candidates}
    if not all(_timed(scene, plane) for plane in speeds) or len(set(speeds.values())) < len(speeds):
        return ""
    return (max if goal.criterion in ("least", "steepest") else min)(speeds, key=lambda plane: speeds[plane])


def _lost_sight(scene: Scene, plane: str) -> bool:
    on_it = any(_BLOCK.search(thing.name) for seen in scene.find(plane) for thing in seen.inside)
    return on_it and scene.belief.readings.get(plane) == "100" and not _timed(scene, plane)


# Circuits

_SOURCES: Final = {
    "renewable": ("solar panel", "wind mill", "wind generator"),
    "nonrenewable": ("nuclear generator", "gas generator", "coal generator"),
    "": ("battery",),
}
"""By the kind that a task asks for; a battery will do where none is asked for. The renewable ones work outside."""


def _parts(scene: Scene) -> list[str]:
    """What the circuit is made of: a source, the thing itself, a bulb if it is tested, and wires."""
    goal = _goal(scene)
    names = [seen.name for seen in scene.things]
    source = next((name for name in _SOURCES[goal.source] if name in names), "")
    wires = sorted({name for name in names if name.endswith(" wire")})
    if goal.task.startswith("power"):
        return [goal.target, source, *wires[:2]]
    bulb = next((name for name in names if name.endswith(" light bulb")), "")
    return [next((seen.name for seen in scene.things if _is(seen, goal.target)), goal.target), source, bulb, *wires[:3]]


def _to_bring(scene: Scene) -> list[str]:
    """The parts that have to be brought to where the circuit is built."""
    parts = _parts(scene)
    return parts if _goal(scene).source == "renewable" else parts[:1]


def _joints(scene: Scene) -> list[tuple[str, str]]:
    """Which contact belongs to which."""
    parts = _parts(scene)
    if _goal(scene).task.startswith("power"):
        if len(parts) < 4 or not parts[1]:
            return []
        target, source, one, two = parts
        return [
            (f"anode in {source}", f"terminal 1 in {one}"),
            (f"cathode in {source}", f"terminal 1 in {two}"),
            (f"terminal 2 in {one}", f"cathode in {target}"),
            (f"terminal 2 in {two}", f"anode in {target}"),
        ]
    if len(parts) < 6 or not parts[2]:
        return []
    target, source, bulb, one, two, three = parts
    return [
        (f"anode in {source}", f"terminal 1 in {one}"),
        (f"cathode in {source}", f"terminal 1 in {two}"),
        (f"terminal 2 in {one}", f"cathode in {bulb}"),
        (f"terminal 2 in {three}", f"anode in {bulb}"),
        (f"terminal 1 in {target}", f"terminal 2 in {two}"),
        (f"terminal 2 in {target}", f"terminal 1 in {three}"),
    ]


def _joined(scene: Scene, contact: str) -> bool:
    name = contact.replace(" in ", " on ", 1).casefold()
    return any(name == end.casefold() for pair in scene.belief.connections for end in pair)


def _site(scene: Scene) -> str:
    return "outside" if _goal(scene).source == "renewable" else "workshop"


def _is_on(scene: Scene, name: str) -> bool:
    return any("on" in seen.thing.flags for seen in scene.find(name))


def _conducts(scene: Scene) -> str:
    if not _tested(scene):
        return ""
    parts = _parts(scene)
    return "conductive" if len(parts) > 2 and _is_on(scene, parts[2]) else "nonconductive"


def _tested(scene: Scene) -> bool:
    """Whether the bulb was looked at when the current had time to flow. Taking the thing away undoes nothing."""
    belief = scene.belief
    closed = belief.since.get("connection", -1)
    return closed >= 0 and belief.since.get(_site(scene), -1) >= closed + 3


# What the engine asks


def at_work(scene: Scene) -> bool:
    """Whether the world changes here by itself: what is heated or cooled, what grows, slides or conducts."""
    goal = _goal(scene)
    running = any("on" in seen.thing.flags for seen in scene.things if seen.place == scene.room)
    return running or goal.type in ("F4", "F5") or bool(goal.target and _treated(scene, goal.target))


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else 0


RECIPES: Final[Mapping[str, Ask]] = {
    "carried": _carried,
    "within": _within,
    "holds": _holds,
    "focused": _focused,
    "meant": _meant,
    "veiled": lambda scene, room: scene.veiled(room),
    "hides": lambda scene, name, room: name in scene.hiding(room),
    "known": lambda scene, room: room in scene.belief.looked,
    "opened": lambda scene, room: _is_opened(scene.belief.exits, scene.room, room),
    "located": lambda scene: scene.belief.room is not None,
    "fresh": lambda scene: scene.belief.age(scene.room) < (10 if scene.room == _GARDEN else 2),
    "foci": lambda scene, count: len(scene.belief.focused) >= _count(count),
    "delivered": _delivered,
    "concluded": lambda scene: any(name in _boxes(scene) for name in scene.belief.focused),
    "measured": lambda scene, word: scene.belief.temperature(_substance(scene, word)) is not None,
    "gauged": lambda scene, word: _just(scene, word, "heat of ", 3),
    "watched": lambda scene, word: _just(scene, word, "", 3),
    "heats": _treats,
    "cools": _treats,
    "swift": lambda _scene, name: _DEVICES.get(read_phrase(name.removesuffix(" ?")).head, _STOVE).swift,
    "firm": _became("solid"),
    "fluid": _became("liquid"),
    "melted": _became("liquid", "solid"),
    "frozen": _became("solid", "liquid"),
    "boiled": _became("gas"),
    "changed": lambda scene, word: len(set(_states(scene, _substance(scene, word)))) > 1,
    "settled": lambda scene, _word: bool(_melting_side(scene)),
    "made": _made,
    "soiled": lambda scene, pot: any(map(_has_soil, scene.find(pot))) or any(map(_is_sown, scene.find(pot))),
    "sown": lambda scene, pot: any(map(_is_sown, scene.find(pot))),
    "stocked": _stocked,
    "dug": lambda scene: bool(_loose_soil(scene, "outside")),
    "tended": lambda scene: not _dry(scene),
    "full": lambda scene, _jug: (scene.belief.last_action or "").startswith("move jug"),
    "grown": lambda _scene: False,
    "flowering": lambda scene: _flowers(scene) >= _ENOUGH,
    "fruiting": lambda scene: bool(_fruits(scene)),
    "borne": lambda scene: bool(_heredity(scene) if _goal(scene).trait.startswith("seed") else _young_seeds(scene)),
    "judged": lambda scene: bool(_heredity(scene)),
    "timed": _timed,
    "creeping": lambda scene, plane: (
        ticks_on(scene.belief, plane) > 2 and scene.belief.last_action == f"look at {plane}"
    ),
    "lost_sight": _lost_sight,
    "placed": lambda scene, part: any(seen.place == _site(scene) for seen in scene.find(part)),
    "joint": lambda scene, one, other: (one, other) in _joints(scene) or (other, one) in _joints(scene),
    "joined": _joined,
    "powered": lambda scene: not _parts(scene)[1].endswith("generator") or _is_on(scene, _parts(scene)[1]),
    "lit": _is_on,
    "paused": lambda scene: scene.belief.age("connection") > 3,
    "tested": _tested,
}
"""Predicate → who answers."""

_VERDICTS: Final[Mapping[str, Callable[[Scene], str]]] = {
    "use-thermometer": _reading_side,
    "measure-melting-point-known-substance": _melting_side,
    "measure-melting-point-unknown-substance": _melting_side,
    "mendelian-genetics-known-plant": _heredity,
    "mendelian-genetics-unknown-plant": _heredity,
    "inclined-plane-determine-angle": _plane,
    "inclined-plane-friction-named-surfaces": _plane,
    "inclined-plane-friction-unnamed-surfaces": _plane,
    "test-conductivity": _conducts,
    "test-conductivity-of-unknown-substances": _conducts,
}
"""Task → which of its answers is right; empty while that is not known."""

_WORDS: Final[Mapping[str, Callable[[Scene], list[str]]]] = {
    **{kind: _of_kind(kind) for kind in _KINDS},
    "vessel": _vessels,
    "ingredients": _ingredients(lambda scene: ingredients(scene.belief.readings.get("recipe", ""))),
    "primary colours": _ingredients(
        lambda scene: [f"{colour} paint" for colour in SECONDARY[_halves(scene)[0].removesuffix(" paint")]]
    ),
    "last colours": _ingredients(_halves),
    "flower pot": _beds,
    "nursery pot": _nursery,
    "sown seed": lambda scene: [
        name for name, seen in scene.by_name.items() if seen.name.endswith(" seed") and _POT.fullmatch(seen.holder)
    ],
    "garden door": lambda scene: list(scene.belief.exits.get(_GARDEN, {})),
    "fruit": _fruits,
    "planes": lambda scene: list(_goal(scene).candidates),
    "parts": _to_bring,
    "contacts": lambda scene: [end for joint in _joints(scene) for end in joint],
}
"""Words of goals and procedures that are no thing's name."""


def called(scene: Scene, word: str) -> list[str]:
    """What a goal or a procedure may mean by a word."""
    if word not in scene.meanings:
        scene.meanings[word] = _called(scene, word)
    return scene.meanings[word]


def _called(scene: Scene, word: str) -> list[str]:
    if word in _WORDS:
        return _WORDS[word](scene)
    names = scene.of_kind(word)
    vessel = next((seen.thing for seen in map(scene.first, called(scene, "vessel")) if seen), None)
    inside = [name for name in names if vessel in scene.by_name[name].holders]
    return (inside or ([] if word == "water" else names))[:1]  # of all the water in the house, what is in the vessel


def roles(scene: Scene) -> Mapping[str, Sequence[str]]:
    """What is known to be there, by the roles it may have in a command."""
    every = list(scene.by_name)
    found = {
        "object": every,
        "place": [name for name, seen in scene.by_name.items() if takes_things(seen.name) is not False],
        "tool": [
            name for name, seen in scene.by_name.items() if seen.name in ("thermometer", "lighter", "shovel", "axe")
        ],
        "lid": [name for room in scene.belief.looked for name in scene.hiding(room)],
        "choice": [str(number) for number in range(len(scene.belief.menu))],
        "vessel": called(scene, "vessel"),
        "holder": [name for name, seen in scene.by_name.items() if seen.inside and not is_fixed(seen.name)],
        "load": _loads(scene),
        "box": [next(iter(scene.names(box)), f"{box} ?") for box in _boxes(scene)],
        "tap": [name for name, seen in scene.by_name.items() if seen.name in ("sink", "bathtub")] or ["sink ?"],
        "heater": _devices(scene, _GENTLE),
        "cooler": _devices(scene, _COOLERS),
    }
    found |= _OWN_ROLES.get(_family(scene), _no_roles)(scene)
    unseen = [
        name for role in ("vessel", "box", "tap", "heater", "cooler") for name in found[role] if name.endswith("?")
    ]
    return found | {role: [*found[role], *unseen] for role in ("object", "place")}


def _family(scene: Scene) -> str:
    return _goal(scene).task.partition("-")[0]


def _no_roles(_scene: Scene) -> dict[str, list[str]]:
    return {}


def _garden_roles(scene: Scene) -> dict[str, list[str]]:
    def here(name: str) -> list[str]:
        return [known for known, seen in scene.by_name.items() if seen.name == name and seen.place == _GARDEN] or [name]

    return {
        "pot": list(_pots(scene)),
        "bed": _beds(scene),
        "nursery": _nursery(scene),
        "dry": _dry(scene),
        "soil": [*_loose_soil(scene, "inventory"), *_loose_soil(scene, _GARDEN)][:1],
        "dug": _loose_soil(scene, "outside")[:1] or ["soil"],
        "seed": [_seed(scene, "seed jar")],
        "young": [_seed(scene, "")],
        "jug": here("jug"),
        "basin": here("sink"),
    }


def _circuit_roles(scene: Scene) -> dict[str, list[str]]:
    contacts = [end for joint in _joints(scene) for end in joint]
    parts = _parts(scene)
    return {"one": contacts, "other": contacts, "part": _to_bring(scene), "site": [_site(scene)], "source": parts[1:2]}


def _plane_roles(scene: Scene) -> dict[str, list[str]]:
    blocks = [name for name, seen in scene.by_name.items() if _BLOCK.search(seen.name)]
    return {"plane": list(_goal(scene).candidates), "block": blocks[:1]}


_OWN_ROLES: Final[Mapping[str, Callable[[Scene], dict[str, list[str]]]]] = {
    "grow": _garden_roles,
    "mendelian": _garden_roles,
    "power": _circuit_roles,
    "test": _circuit_roles,
    "inclined": _plane_roles,
    "identify": lambda scene: {"next": _next_focus(scene)},
    "lifespan": lambda scene: {"next": _next_focus(scene)},
}
"""What only some tasks need names for, by the first word of the task."""


def _devices(scene: Scene, devices: Iterable[_Device]) -> list[str]:
    return [next(iter(scene.names(device.name)), f"{device.name} ?") for device in devices]
