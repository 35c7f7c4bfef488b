"""What the steps of ScienceWorld's procedures ask of a belief: the one place that knows its tasks beyond the manual.

A predicate is a function of the scene and its arguments; a role is the list of things that a command may mean by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.affordances import is_fixed, takes_things
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


def _carried(scene: Scene, word: str) -> bool:
    return any(seen.carried for seen in scene.find(word))


def _within(scene: Scene, word: str, place: str) -> bool | None:
    target = scene.first(place)
    found = scene.find(word)
    if target is None:
        return False if found else None
    return any(target.thing in seen.holders for seen in found)


def _holds(scene: Scene, place: str, word: str) -> bool:
    """Whether a thing, not built in, directly holds another; a jar only while it is open."""
    holder = scene.first(place)
    return holder is not None and any(seen.holders[:1] == (holder.thing,) for seen in scene.find(word))


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
    return [max(pots, key=worth)] if pots else []


def _fits(shown: str, word: str) -> bool:
    """Whether a thing is an ingredient: `jam` may be found as `red jam`."""
    name = substance_of(shown).casefold()
    return name == substance_of(word).casefold() or name.endswith(f" {word.casefold()}")


def _ingredients(words: Callable[[Scene], Sequence[str]]) -> Callable[[Scene], list[str]]:
    """What is to be put together, each by the thing that is in the vessel already, or else the nearest."""

    def named(scene: Scene) -> list[str]:
        vessel = next((scene.by_name[name].thing for name in _vessels(scene)), None)
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


# What the engine asks


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
    "fresh": lambda scene: scene.belief.age(scene.room) < 2,
    "foci": lambda scene, count: len(scene.belief.focused) >= _count(count),
    "delivered": _delivered,
    "concluded": lambda scene: any(name in _boxes(scene) for name in scene.belief.focused),
    "measured": lambda scene, word: scene.belief.temperature(_substance(scene, word)) is not None,
    "gauged": lambda scene, word: _just(scene, word, "heat of ", 3),
    "watched": lambda scene, word: _just(scene, word, "", 3),
    "heats": _treats,
    "cools": _treats,
    "swift": lambda _scene, name: _DEVICES[read_phrase(name.removesuffix(" ?")).head].swift,
    "firm": _became("solid"),
    "fluid": _became("liquid"),
    "melted": _became("liquid", "solid"),
    "frozen": _became("solid", "liquid"),
    "boiled": _became("gas"),
    "changed": lambda scene, word: len(set(_states(scene, _substance(scene, word)))) > 1,
    "settled": lambda scene, _word: bool(_melting_side(scene)),
    "made": _made,
}
"""Predicate → who answers."""

_VERDICTS: Final[Mapping[str, Callable[[Scene], str]]] = {
    "use-thermometer": _reading_side,
    "measure-melting-point-known-substance": _melting_side,
    "measure-melting-point-unknown-substance": _melting_side,
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
}
"""Words of goals and procedures that are no thing's name."""


def called(scene: Scene, word: str) -> list[str]:
    """What a goal or a procedure may mean by a word."""
    if word in _WORDS:
        return _WORDS[word](scene)
    names = scene.names(word)
    if word == "water" and names:  # of all the water in the house, what is in the vessel
        vessel = next((scene.by_name[name].thing for name in _vessels(scene)), None)
        return [name for name in names if vessel in scene.by_name[name].holders]
    return names[:1]


def roles(scene: Scene) -> Mapping[str, Sequence[str]]:
    """What is known to be there, by the roles it may have in a command."""
    every = list(scene.by_name)
    found = {
        "object": every,
        "place": [name for name, seen in scene.by_name.items() if takes_things(seen.name) is not False],
        "tool": [name for name, seen in scene.by_name.items() if seen.name in ("thermometer", "lighter", "shovel", "axe")],
        "choice": [str(number) for number in range(len(scene.belief.menu))],
        "vessel": _vessels(scene) or ["metal pot ?"],
        "holder": [name for name, seen in scene.by_name.items() if seen.inside and not is_fixed(seen.name)],
        "load": _loads(scene),
        "box": [next(iter(scene.names(box)), f"{box} ?") for box in _boxes(scene)],
        "tap": [name for name, seen in scene.by_name.items() if seen.name in ("sink", "bathtub")] or ["sink ?"],
        "heater": _devices(scene, _GENTLE),
        "cooler": _devices(scene, _COOLERS),
    }
    return found


def _devices(scene: Scene, devices: Iterable[_Device]) -> list[str]:
    return [next(iter(scene.names(device.name)), f"{device.name} ?") for device in devices]
