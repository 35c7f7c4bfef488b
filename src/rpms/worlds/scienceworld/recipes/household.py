"""Every task's facts (places of things, what was focused on), vessels and mixtures, and boxes
for things or answers.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from rpms.logic.facts import unseen_of
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
    may_be_unknown = is_a("food", word) and not scene.inventory_known
    return None if may_be_unknown else False


def _within(scene: Scene, word: str, place: str) -> bool | None:
    """True if a thing is somewhere in another one. A thing that was never seen is in nothing."""
    found = scene.find(word)
    if not found and not word.endswith("?"):
        return None
    target = scene.first(place)
    return target is not None and any(target.thing in seen.holders for seen in found)


def _holds(scene: Scene, place: str, word: str) -> bool:
    """True if a thing, not built in, directly holds another; a jar only while it is open."""
    holder = scene.first(place)
    if holder is None:
        return False
    return any(seen.holders[:1] == (holder.thing,) for seen in scene.find(word))


def _apart(scene: Scene, one: str, other: str) -> bool:
    """True if two names are not of one thing."""
    first = scene.first(one)
    return first is None or first is not scene.first(other)


def _opened(scene: Scene, room: str) -> bool:
    """True if the door from here, or else any door, to a room is known to be open."""
    ways = scene.exits.get(scene.room or "", {})
    if room in ways:
        return bool(ways[room])
    return any(others.get(room) for others in scene.exits.values())


def _best_option(scene: Scene) -> int:
    """The option that the last command meant: its things are where the belief has them."""
    said = scene.last_action or ""
    taking = said.startswith("pick up")
    things_meant: list[str] = []
    for name, seen in scene.by_name.items():
        if name in said:
            where = seen.holder or seen.place
            things_meant.append(f"{seen.name} (in {where}".casefold())

    def rank(option: str) -> tuple[bool, int]:
        shown = option.casefold()
        fitting = [thing for thing in things_meant if thing in shown]
        carried_already = taking and "(in inventory" in shown
        return not carried_already, len(fitting)

    ranks = [rank(option) for option in scene.menu]
    return ranks.index(max(ranks))  # the first of equal ones


def _focused(scene: Scene, word: str) -> bool:
    """True if a thing was focused on; where a task asks for one focus alone, any is that."""
    if scene.aim.type == "F1" or scene.aim.task in ("grow-plant", "grow-fruit"):
        return bool(scene.focused)
    fitting = {head_of(word)}
    fitting.update(seen.name.casefold() for seen in scene.find(word))
    for name in list(fitting):
        substance = substance_of(name)
        # the `orange apricot` is focused on as `apricot`
        fitting |= {substance, substance.partition(" ")[2]}
    for name in scene.focused:
        said = name.casefold()
        if said in fitting or substance_of(said) in fitting:
            return True
    return False


def _closed_lids(scene: Scene) -> list[str]:
    """The closed lids of all rooms whose listing was seen."""
    lids: list[str] = []
    for room in scene.rooms:
        if room in scene.looked:
            lids += scene.hiding(room)
    return lids


def _was_handled(scene: Scene, word: str) -> bool:
    return any(seen.name in scene.handled for seen in scene.find(word))


def _is_fresh(scene: Scene) -> bool:
    """True if this room was looked at just now: plants take their time, animals do not."""
    most = 10 if scene.room == "greenhouse" else 2
    return scene.age(scene.room or "") < most


def _has_foci(scene: Scene, count: str) -> bool:
    """True if so many things were focused on."""
    return count.isdecimal() and len(scene.focused) >= int(count)


def _option(scene: Scene) -> list[str]:
    """The number of the option to choose, while the simulator waits for one."""
    return [str(_best_option(scene))] if scene.menu else []


_TOOLS = frozenset(THINGS["kinds"]["tool"])
EVERYDAY = Recipe(
    predicates={
        **keyed(_carried, _within, _holds, _apart, _opened, _focused),
        "handled": _was_handled,
        "veiled": Scene.veiled,
        "hides": lambda scene, name, room: name in scene.hiding(room),
        "located": lambda scene: scene.room is not None,
        "known": lambda scene, room: room in scene.looked,
        "fresh": _is_fresh,
        "foci": _has_foci,
    },
    roles={
        "object": lambda scene: list(scene.by_name),
        "place": lambda scene: scene.such(lambda seen: takes_things(seen.name) is not False),
        "tool": lambda scene: scene.such(lambda seen: seen.name in _TOOLS),
        "holder": lambda scene: scene.such(lambda seen: seen.inside and not is_fixed(seen.name)),
        "lid": _closed_lids,
        "choice": _option,
    },
)


_POTS: tuple[str, ...] = ("metal pot", "ceramic cup", "tin cup", "glass cup", "bowl", "jug")
_STUDIO = "art studio"
"""The room in which paints are, and are mixed."""
_PAINT_POTS: tuple[str, ...] = ("jug", "bowl", "glass cup", "metal pot", "ceramic cup")
SECONDARY: Mapping[str, list[str]] = THINGS["colours"]
_RECIPE = re.compile(r"need to mix ([^.]+)\.")


def ingredients(recipe: str) -> list[str]:
    """Ingredients of a recipe; nothing if it cannot be read."""
    found = _RECIPE.search(recipe)
    if found is None:
        return []
    names = re.split(r",? and |, ", found[1])
    return [name.strip() for name in names if name.strip()]


def _halves(scene: Scene) -> list[str]:
    """The secondary colour to mix first, and the primary one to add for a tertiary one, as
    paints.
    """
    colours = scene.aim.target.removesuffix(" paint").split("-")
    colours.sort(key=lambda colour: colour not in SECONDARY)
    return _paints(colours)


def _paints(colours: Iterable[str]) -> list[str]:
    return [f"{colour} paint" for colour in colours]


def _wanted_inside(scene: Scene) -> list[str]:
    """Substances that the vessel is to hold."""
    goal = scene.aim
    if goal.task == "chemistry-mix":
        return [*ingredients(scene.readings.get("recipe", "")), goal.target]
    if goal.place == _STUDIO:
        halves = _halves(scene)
        colours = halves if scene.of_kind(halves[0]) else _primaries(scene)
        return [*colours, goal.target]
    return [goal.target]


def _vessels(scene: Scene) -> list[str]:
    """The vessel to use: one that holds some of the things already, else one that is carried, else
    an empty one.
    """
    wanted = _wanted_inside(scene)
    if scene.aim.place == _STUDIO:
        kinds = _PAINT_POTS
        pots = scene.such(lambda seen: _serves_for_paint(scene, seen, wanted))
    else:
        kinds = _POTS
        pots = _kitchen_pots(scene)

    def worth(name: str) -> tuple[int, bool, bool, int]:
        seen = scene.by_name[name]
        return _of_use(seen, wanted), seen.carried, not seen.inside, -kinds.index(seen.name)

    return [max(pots, key=worth)] if pots else [unseen_of(kinds[0])]


def _kitchen_pots(scene: Scene) -> list[str]:
    """Metal pots, which no heat harms; where the whole kitchen has none, whatever is empty."""
    pots = scene.such(lambda seen: seen.name == _POTS[0])
    if pots or "kitchen" not in scene.looked or scene.hiding("kitchen"):
        return pots
    return scene.such(lambda seen: seen.name in _POTS and not seen.inside)


def _serves_for_paint(scene: Scene, seen: Seen, wanted: list[str]) -> bool:
    """True if a vessel is at hand or in use, and holds nothing but what is wanted."""
    if seen.name not in _PAINT_POTS or _of_use(seen, wanted) < len(seen.inside):
        return False
    return bool(seen.inside) or seen.carried or seen.place == scene.aim.place


def _of_use(seen: Seen, wanted: list[str]) -> int:
    """The number of things in a vessel that it is to hold."""
    return sum(_fits_any(inner.name, wanted) for inner in seen.inside)


def _fits_any(shown: str, words: Iterable[str]) -> bool:
    return any(_fits(shown, word) for word in words)


def _fits(shown: str, word: str) -> bool:
    """True if a thing is an ingredient: `jam` may be found as `red jam`."""
    name = substance_of(shown).casefold()
    return name == substance_of(word).casefold() or name.endswith(f" {word.casefold()}")


def to_use(scene: Scene, word: str, names: list[str]) -> list[str]:
    """The thing to use: one that is in the vessel already, or else the nearest. Water that is not
    in the vessel is not named: it is everywhere in the house.
    """
    (vessel,) = scene.mean("vessel", _vessels)
    pot = scene.first(vessel)
    if pot is not None:
        for name in names:
            if pot.thing in scene.by_name[name].holders:
                return [name]
    return [] if word == "water" else names[:1]


def _ingredients(words: Names) -> Names:
    """Things to put together, water last."""

    def ask(scene: Scene) -> list[str]:
        ordered = sorted(words(scene), key=lambda word: word == "water")
        return [_ingredient(scene, word) for word in ordered]

    return ask


def _ingredient(scene: Scene, word: str) -> str:
    """The thing to use for a word, or one never seen."""
    fitting = scene.such(lambda seen: _fits(seen.name, word))
    usable = to_use(scene, word, fitting)
    return usable[0] if usable else unseen_of(word)


def _primaries(scene: Scene) -> list[str]:
    """The paints that the secondary colour is mixed from."""
    secondary = _halves(scene)[0].removesuffix(" paint")
    return _paints(SECONDARY.get(secondary, ()))


def _made(scene: Scene, word: str, vessel: str) -> bool:
    """True if a vessel holds a substance."""
    wanted = [word.removesuffix(" ?")]
    return any(_of_use(pot, wanted) for pot in scene.find(vessel))


def _taps(scene: Scene) -> list[str]:
    """Sinks and bathtubs that are not known to be broken, or one never seen."""

    def works(seen: Seen) -> bool:
        is_tap = seen.name in ("sink", "bathtub")
        return is_tap and f"{seen.name} in {seen.place}" not in scene.broken

    return scene.such(works) or [unseen_of("sink")]


MIXING = Recipe(
    predicates=keyed(_made),
    words={
        "vessel": _vessels,
        "ingredients": _ingredients(lambda scene: ingredients(scene.readings.get("recipe", ""))),
        "primary colours": _ingredients(_primaries),
        "last colours": _ingredients(_halves),
    },
    roles={
        "vessel": lambda scene: scene.mean("vessel", _vessels),
        "tap": _taps,
    },
)


_PORTABLE = re.compile(
    r"\b(?:cup|pot|jug|jar|wire|light"
    r" bulb|battery|switch|thermometer|stopwatch|lighter|axe|shovel|fork|chair)$"
)


def _is_beast(seen: Seen) -> bool:
    """True for a living animal that stays: bees come and go."""
    if seen.holders or "dead" in seen.name or seen.thing.restless:
        return False
    return biology.life_span(seen.name) is not None or seen.name in ("caterpillar", "tadpole")


def _beasts(scene: Scene) -> list[str]:
    return scene.such(_is_beast)


def _is_green(seen: Seen) -> bool:
    """True for a living plant in a pot or on the ground."""
    planted = bool(seen.holders) and "dead" not in seen.name
    return planted and seen.name.split(" ")[-1] in biology.GREENS


def _is_lifeless(seen: Seen) -> bool:
    """True for a thing that can be carried and that nothing lives in."""
    if biology.FLOWER_POT.fullmatch(seen.name) or seen.name == "seed jar":
        return False
    return _PORTABLE.search(seen.name) is not None


def _lifeless(scene: Scene) -> list[str]:
    """Lifeless things whose name is theirs alone, so that a command can mean no other."""
    return scene.such(lambda seen: _is_lifeless(seen) and seen.name in scene.by_name)


def _focus(_before: object, after: Scene, command: str) -> Iterator[tuple[str, str]]:
    """Note the words of a focus: they tell one of several plants, while the answer calls each of
    them `plant`.
    """
    if after.observation.startswith("You focus on ") and command.startswith("focus on "):
        yield "focus", command.removeprefix("focus on ")


def _loads(scene: Scene) -> list[str]:
    """Thing for the box: the one focused on, in its flower pot or its vessel if it is in one."""
    found = _chosen(scene)
    if found is None:
        return []
    seen = scene.by_name[found]
    if not _moves_with_holder(seen):
        return [found]
    for name, other in scene.by_name.items():
        if other.thing is seen.holders[0]:
            return [name]
    return [seen.holder]


def _chosen(scene: Scene) -> str | None:
    """The name of the thing for the box; if it is one of several plants, the one in the pot that
    was named.
    """
    if scene.aim.type == "F1":
        phrase = read_phrase(scene.readings.get("focus", ""))
        names = scene.such(lambda seen: alike(seen.name, phrase.head))
    else:
        phrase = read_phrase(scene.aim.target)
        mine = scene.of_kind(scene.aim.target)
        names = [name for name in scene.by_name if name in mine]
    place = phrase.places[0] if phrase.places else ""
    for name in names:
        holder = scene.by_name[name].holder
        if holder in (place, "") or not biology.FLOWER_POT.fullmatch(place):
            return name
    return None


def _moves_with_holder(seen: Seen) -> bool:
    """True if a thing can be moved in its vessel alone: a plant in its pot, or a liquid."""
    if biology.FLOWER_POT.fullmatch(seen.holder):
        return True
    return bool(seen.holders) and heat.flows(seen.thing) and not is_fixed(seen.holder)


def _boxes(scene: Scene) -> list[str]:
    """The box that is the answer, once that is known, or the plane."""
    goal = scene.aim
    verdict = _VERDICTS.get(goal.task.partition("-")[0])
    if verdict is None:
        return [goal.box] if goal.box else []
    answer = verdict(scene)
    if answer in goal.candidates:
        return [answer]
    return [box for when, box in goal.branches if when == answer]


def _delivered(scene: Scene) -> bool:
    """True if the thing for the box is in it."""
    boxes = set(_boxes(scene))
    for load in _loads(scene):
        for seen in scene.find(load):
            if not boxes.isdisjoint(holder.name for holder in seen.holders):
                return True
    return False


def _concluded(scene: Scene) -> bool:
    """True if a box that may be the answer was focused on."""
    return not set(_boxes(scene)).isdisjoint(scene.focused)


_VERDICTS: Mapping[str, Callable[[Scene], str]] = {
    "use": heat.reading_side,
    "measure": heat.melting_side,
    "mendelian": biology.heredity,
    "inclined": physics.chosen_plane,
    "test": physics.conducts,
}
"""First word of a task → which of its answers is right; empty while that is not known."""

BOXES = Recipe(
    predicates=keyed(_delivered, _concluded),
    words={
        "animal": _beasts,
        "living thing": _beasts,
        "plant": lambda scene: scene.such(_is_green),
        "non-living thing": _lifeless,
    },
    roles={"load": _loads, "box": lambda scene: [scene.name_of(box) for box in _boxes(scene)]},
    notes=_focus,
)

EVERY_RECIPE = (
    *(EVERYDAY, BOXES, heat.HEAT, MIXING),
    *(biology.ANIMALS, biology.GARDEN, physics.PLANES, physics.CIRCUITS),
)
RECIPES: dict[str, Ask] = {}
"""Predicate → who answers."""
WORDS: dict[str, Names] = {}
for _recipe in EVERY_RECIPE:
    RECIPES.update(_recipe.predicates)
    WORDS.update(_recipe.words)
