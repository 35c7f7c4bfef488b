"""Facts for every task: places of things, what was focused on, what a question means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rpms.worlds.scienceworld.affordances import is_fixed, is_food, takes_things
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of, head_of, named
from rpms.worlds.scienceworld.scene import Scene


def _carried(scene: Scene, word: str) -> bool | None:
    """Truth of carrying a thing. The agent starts with food at most; it was seen to pick up all else."""
    if any(seen.carried for seen in scene.find(word)):
        return True
    return None if is_food(word) and not scene.belief.inventory_known else False


def _within(scene: Scene, word: str, place: str) -> bool | None:
    target, found = scene.first(place), scene.find(word)
    if not found and not word.endswith("?"):
        return None
    return target is not None and any(target.thing in seen.holders for seen in found)


def _holds(scene: Scene, place: str, word: str) -> bool:
    """True if a thing, not built in, directly holds another; a jar only while it is open."""
    holder = scene.first(place)
    return holder is not None and any(seen.holders[:1] == (holder.thing,) for seen in scene.find(word))


def unseen(scene: Scene, predicate: str, *args: str) -> bool | None:
    """Truth about something never seen: it is not here, and in no room that was searched."""
    if predicate == "with":
        return None if scene.veiled(args[0]) or scene.hiding(args[0]) else False
    return False if predicate == "here" else None


def _is_opened(exits: Mapping[str, Mapping[str, bool | None]], here: str, room: str) -> bool:
    """True if the door from here, or else any door, to a room is known to be open."""
    ways = exits.get(here, {})
    return bool(ways[room]) if room in ways else any(others.get(room) for others in exits.values())


def _best_option(scene: Scene) -> int:
    """The option that the last command meant: its things are where they are known to be."""
    menu, said = scene.belief.menu, scene.belief.last_action or ""
    taking = said.startswith("pick up")

    def worth(number: int) -> tuple[int, int]:
        option = menu[number].casefold()
        meant = [seen for name, seen in scene.by_name.items() if name in said]
        fit = sum(f"{seen.name} (in {seen.holder or seen.place}".casefold() in option for seen in meant)
        return fit - 100 * (taking and "(in inventory" in option), -number

    return max(range(len(menu)), key=worth)


def _focused(scene: Scene, word: str) -> bool:
    """True if a thing was focused on; where a task asks for one focus alone, any is that."""
    done = scene.belief.focused
    if goal_of(scene).type == "F1" or goal_of(scene).task in ("grow-plant", "grow-fruit"):
        return bool(done)
    names = {seen.name.casefold() for seen in scene.find(word)} | {head_of(word)}
    matter = {substance_of(name) for name in names}
    matter |= {name.partition(" ")[2] for name in matter}  # the `orange apricot` is focused on as `apricot`
    return any(name.casefold() in names or substance_of(name.casefold()) in matter for name in done)


def _is_fresh(scene: Scene) -> bool:
    """True if a room was looked at just now; plants take their time, animals do not."""
    return scene.belief.age(scene.room) < (10 if scene.room == "greenhouse" else 2)


EVERYDAY: Final = Recipe(
    predicates={
        "carried": _carried,
        "within": _within,
        "holds": _holds,
        "handled": lambda scene, word: any(seen.name in scene.belief.handled for seen in scene.find(word)),
        "opened": lambda scene, room: _is_opened(scene.belief.exits, scene.room, room),
        "veiled": lambda scene, room: scene.veiled(room),
        "hides": lambda scene, name, room: name in scene.hiding(room),
        "located": lambda scene: scene.belief.room is not None,
        "known": lambda scene, room: room in scene.belief.looked,
        "fresh": _is_fresh,
        "focused": _focused,
        "foci": lambda scene, count: count.isdecimal() and len(scene.belief.focused) >= int(count),
    },
    roles={
        "object": lambda scene: list(scene.by_name),
        "place": lambda scene: scene.such(lambda seen: takes_things(seen.name) is not False),
        "tool": named("thermometer", "lighter", "shovel", "axe"),
        "holder": lambda scene: scene.such(lambda seen: seen.inside and not is_fixed(seen.name)),
        "lid": lambda scene: [name for room in scene.belief.looked for name in scene.hiding(room)],
        "choice": lambda scene: [str(_best_option(scene))] if scene.belief.menu else [],
    },
)
