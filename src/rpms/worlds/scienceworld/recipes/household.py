"""Every task's facts (places of things, what was focused on), vessels and mixtures, and boxes
for things or answers.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rpms.worlds.base import keyed
from rpms.worlds.scienceworld.affordances import THINGS, is_a, is_fixed, takes_things
from rpms.worlds.scienceworld.observations import substance_of
from rpms.worlds.scienceworld.recipes import biology, heat, physics
from rpms.worlds.scienceworld.scene import Ask, Names, Recipe, Scene
from rpms.worlds.scienceworld.tree import Seen, alike, head_of, read_phrase


def _carried(scene: Scene, word: str) -> bool | None:
    """Truth of carrying a thing.

    The agent starts with food at most; it was seen to pick up all else.
    """
    if any(seen.carried for seen in scene.find(word)):
        return True
    return None if is_a("food", word) and not scene.inventory_known else False


def _within(scene: Scene, word: str, place: str) -> bool | None:
    target, found = scene.first(place), scene.find(word)
    if not found and not word.endswith("?"):
        return None
    return target is not None and any(target.thing in seen.holders for seen in found)


def _holds(scene: Scene, place: str, word: str) -> bool:
    """True if a thing, not built in, directly holds another; a jar only while it is open."""
    holder = scene.first(place)
    return holder is not None and any(
        seen.holders[:1] == (holder.thing,) for seen in scene.find(word)
    )


def _apart(scene: Scene, one: str, other: str) -> bool:
    """True if two names are not of one thing."""
    first = scene.first(one)
    return first is None or first is not scene.first(other)


def _opened(scene: Scene, room: str) -> bool:
    """True if the door from here, or else any door, to a room is known to be open."""
    ways = scene.exits.get(scene.room or "", {})
    return (
        bool(ways[room])
        if room in ways
        else any(others.get(room) for others in scene.exits.values())
    )


def _best_option(scene: Scene) -> int:
    """The option that the last command meant: its things are where they are known to be."""
    menu, said = scene.menu, scene.last_action or ""
    taking = said.startswith("pick up")

    def worth(number: int) -> tuple[int, int]:
        option = menu[number].casefold()
        meant = [seen for name, seen in scene.by_name.items() if name in said]
        fit = sum(
            f"{seen.name} (in {seen.holder or seen.place}".casefold() in option for seen in meant
        )
        return fit - 100 * (taking and "(in inventory" in option), -number

    return max(range(len(menu)), key=worth)


def _focused(scene: Scene, word: str) -> bool:
    """True if a thing was focused on; where a task asks for one focus alone, any is that."""
    done = scene.focused
    if scene.aim.type == "F1" or scene.aim.task in ("grow-plant", "grow-fruit"):
        return bool(done)
    names = {seen.name.casefold() for seen in scene.find(word)} | {head_of(word)}
    matter = {substance_of(name) for name in names}
    matter |= {
        name.partition(" ")[2] for name in matter
    }  # the `orange apricot` is focused on as `apricot`
    return any(name.casefold() in names or substance_of(name.casefold()) in matter for name in done)


_TOOLS: Final = frozenset(THINGS["kinds"]["tool"])
EVERYDAY: Final = Recipe(
    predicates={
        **keyed(_carried, _within, _holds, _apart, _opened, _focused),
        "handled": lambda scene, word: any(seen.name in scene.handled for seen in scene.find(word)),
        "veiled": Scene.veiled,
        "hides": lambda scene, name, room: name in scene.hiding(room),
        "located": lambda scene: scene.room is not None,
        "known": lambda scene, room: room in scene.looked,
        # looked at just now: plants take their time, animals do not
        "fresh": lambda scene: (
            scene.age(scene.room or "") < (10 if scene.room == "greenhouse" else 2)
        ),
        "foci": lambda scene, count: count.isdecimal() and len(scene.focused) >= int(count),
    },
    roles={
        "object": lambda scene: list(scene.by_name),
        "place": lambda scene: scene.such(lambda seen: takes_things(seen.name) is not False),
        "tool": lambda scene: scene.such(lambda seen: seen.name in _TOOLS),
        "holder": lambda scene: scene.such(lambda seen: seen.inside and not is_fixed(seen.name)),
        "lid": lambda scene: [
            name for room in scene.rooms if room in scene.looked for name in scene.hiding(room)
        ],
        "choice": lambda scene: [str(_best_option(scene))] if scene.menu else [],
    },
)


_POTS: Final = ("metal pot", "ceramic cup", "tin cup", "glass cup", "bowl", "jug")
_PAINT_POTS: Final = ("jug", "bowl", "glass cup", "metal pot", "ceramic cup")
SECONDARY: Final[Mapping[str, list[str]]] = THINGS["colours"]
_RECIPE: Final = re.compile(r"need to mix ([^.]+)\.")


def ingredients(recipe: str) -> list[str]:
    """Ingredients of a recipe; nothing if it cannot be read."""
    found = _RECIPE.search(recipe)
    return (
        [name.strip() for name in re.split(r", and | and |, ", found[1]) if name.strip()]
        if found
        else []
    )


def _halves(scene: Scene) -> list[str]:
    """The secondary colour to mix first, and the primary one to add for a tertiary one, as
    paints.
    """
    parts = scene.aim.target.removesuffix(" paint").split("-")
    return [f"{part} paint" for part in sorted(parts, key=lambda part: part not in SECONDARY)]


def _wanted_inside(scene: Scene) -> list[str]:
    """Substances that the vessel is to hold."""
    goal = scene.aim
    if goal.task == "chemistry-mix":
        return [*ingredients(scene.readings.get("recipe", "")), goal.target]
    if goal.place == "art studio":
        halves = _halves(scene)
        return [*(halves if scene.of_kind(halves[0]) else _primaries(scene)), goal.target]
    return [goal.target]


def _vessels(scene: Scene) -> list[str]:
    """The vessel to use: what holds something of it already, else one that is carried, else an
    empty one.
    """
    goal, wanted = scene.aim, _wanted_inside(scene)
    paint = goal.place == "art studio"
    kinds = _PAINT_POTS if paint else _POTS

    def of_use(seen: Seen) -> int:
        return sum(any(_fits(inner.name, word) for word in wanted) for inner in seen.inside)

    def worth(name: str) -> tuple[int, bool, bool, int]:
        seen = scene.by_name[name]
        return of_use(seen), seen.carried, not seen.inside, -kinds.index(seen.name)

    def serves(seen: Seen) -> bool:
        near = bool(seen.inside) or seen.carried or seen.place == goal.place
        return seen.name in kinds and of_use(seen) == len(seen.inside) and near

    pots = scene.such(serves if paint else lambda seen: seen.name == kinds[0])
    if not pots and not paint and "kitchen" in scene.looked and not scene.hiding("kitchen"):
        pots = scene.such(lambda seen: seen.name in kinds and not seen.inside)
    return [max(pots, key=worth)] if pots else [f"{kinds[0]} ?"]


def _fits(shown: str, word: str) -> bool:
    """True if a thing is an ingredient: `jam` may be found as `red jam`."""
    name = substance_of(shown).casefold()
    return name == substance_of(word).casefold() or name.endswith(f" {word.casefold()}")


def to_use(scene: Scene, word: str, names: list[str]) -> list[str]:
    """Of things, what is in the vessel already, or else the nearest; of all the water in the
    house, nothing else.
    """
    vessel = next(
        (seen.thing for seen in map(scene.first, scene.mean("vessel", _vessels)) if seen), None
    )
    inside = [name for name in names if vessel in scene.by_name[name].holders]
    return (inside or ([] if word == "water" else names))[:1]


def _ingredients(words: Names) -> Names:
    """Things to put together, water last."""

    def thing(scene: Scene, word: str) -> str:
        return next(
            iter(to_use(scene, word, scene.such(lambda seen: _fits(seen.name, word)))), f"{word} ?"
        )

    return lambda scene: [
        thing(scene, word) for word in sorted(words(scene), key=lambda word: word == "water")
    ]


def _primaries(scene: Scene) -> list[str]:
    return [
        f"{colour} paint" for colour in SECONDARY.get(_halves(scene)[0].removesuffix(" paint"), ())
    ]


MIXING: Final = Recipe(
    predicates={
        "made": lambda scene, word, vessel: any(
            _fits(inner.name, word.removesuffix(" ?"))
            for pot in scene.find(vessel)
            for inner in pot.inside
        )
    },
    words={
        "vessel": _vessels,
        "ingredients": _ingredients(lambda scene: ingredients(scene.readings.get("recipe", ""))),
        "primary colours": _ingredients(_primaries),
        "last colours": _ingredients(_halves),
    },
    roles={
        "vessel": lambda scene: scene.mean("vessel", _vessels),
        "tap": lambda scene: (
            scene.such(
                lambda it: (
                    it.name in ("sink", "bathtub")
                    and f"{it.name} in {it.place}" not in scene.broken
                )
            )
            or ["sink ?"]
        ),
    },
)


_PORTABLE: Final = re.compile(
    r"\b(?:cup|pot|jug|jar|wire|light"
    r" bulb|battery|switch|thermometer|stopwatch|lighter|axe|shovel|fork|chair)$"
)


def _is_beast(seen: Seen) -> bool:
    loose = not seen.holders and "dead" not in seen.name and not seen.thing.restless
    return loose and (
        biology.life_span(seen.name) is not None or seen.name in ("caterpillar", "tadpole")
    )


def _is_lifeless(seen: Seen) -> bool:
    return (
        bool(_PORTABLE.search(seen.name))
        and not biology.FLOWER_POT.fullmatch(seen.name)
        and seen.name != "seed jar"
    )


def _focus(_before: object, after: Scene, command: str) -> Iterator[tuple[str, str]]:
    """The words of a focus tell one of several plants; the answer calls each of them `plant`."""
    if after.observation.startswith("You focus on ") and command.startswith("focus on "):
        yield "focus", command.removeprefix("focus on ")


def _loads(scene: Scene) -> list[str]:
    """Thing for the box: the one focused on, in its flower pot or its vessel if it is in one."""
    goal = scene.aim
    chosen = read_phrase(scene.readings.get("focus", "") if goal.type == "F1" else goal.target)
    mine, place = scene.of_kind(goal.target), "".join(chosen.places[:1])
    for name, seen in scene.by_name.items():
        if not (alike(seen.name, chosen.head) if goal.type == "F1" else name in mine):
            continue
        if seen.holder in (place, "") or not biology.FLOWER_POT.fullmatch(place):
            poured = heat.flows(seen.thing) and bool(seen.holders) and not is_fixed(seen.holder)
            if poured or biology.FLOWER_POT.fullmatch(seen.holder):
                return [
                    next(
                        (pot for pot, it in scene.by_name.items() if it.thing is seen.holders[0]),
                        seen.holder,
                    )
                ]
            return [name]
    return []


def _boxes(scene: Scene) -> list[str]:
    """The box that is the answer, once that is known, or the plane."""
    goal = scene.aim
    if (verdict := _VERDICTS.get(goal.task.partition("-")[0])) is None:
        return [goal.box] if goal.box else []
    found = verdict(scene)
    return (
        [found]
        if found in goal.candidates
        else [box for when, box in goal.branches if when == found]
    )


_VERDICTS: Final[Mapping[str, Callable[[Scene], str]]] = {
    "use": heat.reading_side,
    "measure": heat.melting_side,
    "mendelian": biology.heredity,
    "inclined": physics.chosen_plane,
    "test": physics.conducts,
}
"""First word of a task → which of its answers is right; empty while that is not known."""

BOXES: Final = Recipe(
    predicates={
        "delivered": lambda scene: any(
            holder.name in _boxes(scene)
            for load in _loads(scene)
            for seen in scene.find(load)
            for holder in seen.holders
        ),
        "concluded": lambda scene: any(name in _boxes(scene) for name in scene.focused),
    },
    words={
        **dict.fromkeys(("animal", "living thing"), lambda scene: scene.such(_is_beast)),
        "plant": lambda scene: scene.such(
            lambda seen: (
                seen.name.split(" ")[-1] in biology.GREENS
                and seen.holders
                and "dead" not in seen.name
            )
        ),
        "non-living thing": lambda scene: scene.such(
            lambda seen: _is_lifeless(seen) and seen.name in scene.by_name
        ),
    },
    roles={"load": _loads, "box": lambda scene: [scene.name_of(box) for box in _boxes(scene)]},
    notes=_focus,
)

EVERY_RECIPE: Final = (
    *(EVERYDAY, BOXES, heat.HEAT, MIXING),
    *(biology.ANIMALS, biology.GARDEN, physics.PLANES, physics.CIRCUITS),
)
RECIPES: Final[dict[str, Ask]] = {
    name: ask for recipe in EVERY_RECIPE for name, ask in recipe.predicates.items()
}
"""Predicate → who answers."""
WORDS: Final[Mapping[str, Names]] = {
    word: names for recipe in EVERY_RECIPE for word, names in recipe.words.items()
}
