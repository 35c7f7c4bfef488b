"""Substances in vessels, on heaters and in freezers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, Seen, Test, named
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.planner.heat import VESSEL

THERMOMETER: Final = named("thermometer")
_SPARE: Final = ("ceramic cup", "tin cup", "glass cup", "bowl", "jug")
_TAPS: Final = (("sink", "kitchen"), ("sink", "bathroom"), ("bathtub", "bathroom"), ("sink", "greenhouse"))
_NEAR_GREENHOUSE: Final = frozenset({"greenhouse", "outside", "hallway", "workshop"})


class Device(NamedTuple):
    """Something that changes the temperature of what is in or on it."""

    name: str
    room: str
    limit: float
    """The temperature, in °C, near which it has done what it can."""
    switched: bool = True
    fast: bool = False
    """Whether it must be watched at every step."""


_STOVE: Final = Device("stove", "kitchen", 245)
_OVEN: Final = Device("oven", "kitchen", 500, fast=True)
_FURNACE: Final = Device("blast furnace", "foundry", 5_000, fast=True)
GENTLE: Final = (_STOVE, _OVEN, _FURNACE)
FIERCE: Final = (_STOVE, _FURNACE, _OVEN)
COOLERS: Final = (
    Device("freezer", "kitchen", -16, switched=False),
    Device("ultra low temperature freezer", "workshop", -85, switched=False),
)


def is_matter(target: str) -> Test:
    """Whether a thing is of a substance, in whatever state."""
    wanted = substance_of(target).casefold()
    return lambda seen: substance_of(seen.name).casefold() == wanted


@dataclass(frozen=True)
class Vessel:
    """The vessel to use for something: what holds it already, else one that is carried, else an empty one."""

    scene: Scene
    content: Test

    @property
    def pot(self) -> Seen | None:
        known = list(self.scene.things)
        pots = [seen for seen in known if seen.name == VESSEL]
        if not pots and self.scene.searched("kitchen"):
            pots = [seen for seen in known if seen.name in _SPARE and not seen.thing.contents]
        return max(pots, key=lambda seen: (self.holds(seen), seen.carried, not seen.thing.contents), default=None)

    @property
    def name(self) -> str:
        """How to call it in words."""
        return self.pot.name if self.pot else VESSEL

    @property
    def words(self) -> str:
        """How a command names it."""
        return self.scene.call(self.pot) if self.pot else VESSEL

    @property
    def filled(self) -> bool:
        return self.pot is not None and self.holds(self.pot)

    def holds(self, pot: Seen, content: Test | None = None) -> bool:
        """Whether something that fits is in a pot."""
        test = content or self.content
        return any(test(Seen(inner, (pot.name,), pot.place)) for inner in pot.thing.contents or ())

    def fetch(self) -> Needs | None:
        """Carry it."""
        pot = self.pot
        if pot is None:
            return self.scene.search(VESSEL, ("kitchen",))
        return self.scene.have(lambda seen: seen == pot, pot.name)


def fill(vessel: Vessel, what: str, test: Test, rooms: tuple[str, ...] = ()) -> Needs | None:
    """Get something into a vessel: at a tap, by moving it, or by pouring out what holds it."""
    if vessel.pot is not None and vessel.holds(vessel.pot, test):
        return None
    if what == "water":
        return _draw_water(vessel)
    return vessel.fetch() or vessel.scene.near(test, what, rooms) or _transfer(vessel, what, test)


def _transfer(vessel: Vessel, what: str, test: Test) -> Needs:
    scene, into = vessel.scene, vessel.words
    found = scene.at_hand(test)
    if found is None:
        return scene.act(f"{what} is not where it was", "look around")
    holder = scene.at_hand(lambda seen: bool(found.holder) and seen.name == found.holder)
    if holder is not None and holder.name.endswith("jar") and "open" not in holder.thing.flags:
        return scene.act(f"{what} is in a jar: open it first", f"open {scene.call(holder)}")
    ways = [f"move {scene.call(found)} to {into}"]
    if holder is not None:
        ways.append(f"pour {holder.name} containing {found.name} into {into}")
    text = f"{what} is here: move or pour it into the {vessel.name}"
    return scene.act(text, *ways, f"look at {into}")


def _draw_water(vessel: Vessel) -> Needs | None:
    """Fill a vessel at the nearest tap that works."""
    scene, pot = vessel.scene, vessel.pot
    taps = [(tap, room) for tap, room in _TAPS if f"{tap} in {room}" not in scene.belief.broken]
    if scene.room in _NEAR_GREENHOUSE:
        taps.sort(key=lambda tap: tap[1] != "greenhouse")
    if pot is not None and (pot.holder, pot.place) in taps:
        return scene.be_in(pot.place) or _run(vessel, pot.holder)
    if not taps:
        return scene.act("no tap works", "look around")
    tap, room = taps[0]
    return (
        vessel.fetch()
        or scene.be_in(room, f"water comes from the {tap} in the {room}")
        or scene.act(f"put the {vessel.name} into the {tap}, then activate it", f"move {vessel.words} to {tap}")
    )


def _run(vessel: Vessel, tap: str) -> Needs:
    scene = vessel.scene
    if running(scene, tap):
        return scene.act(f"the {tap} is on: is there water in the {vessel.name}?", f"look at {vessel.words}")
    return scene.act(f"the {vessel.name} is in the {tap}: activate it", f"activate {tap}")


def running(scene: Scene, name: str) -> bool:
    """Whether a device here is known to be on."""
    seen = scene.at_hand(named(name))
    return seen is not None and "on" in seen.thing.flags


def usable(vessel: Vessel, devices: tuple[Device, ...], target: str) -> Device:
    """The device that the vessel is at, or the first; not one that is broken or has done what it can."""
    pot, belief = vessel.pot, vessel.scene.belief
    degrees = belief.temperature(target)

    def helps(device: Device) -> bool:
        spent = degrees is not None and (degrees > device.limit if device.limit > 0 else degrees < device.limit)
        return not spent and f"{device.name} in {device.room}" not in belief.broken

    fit = [device for device in devices if helps(device)] or [devices[-1]]
    return next((device for device in fit if pot is not None and pot.holder == device.name), fit[0])


def treat(vessel: Vessel, device: Device) -> Needs | None:
    """Have the vessel in or on a device that runs, and be there."""
    scene, pot, name = vessel.scene, vessel.pot, vessel.name
    if pot is None or (device.name, device.room) != (pot.holder, pot.place):
        return (
            vessel.fetch()
            or scene.be_in(device.room, f"bring the {name} to the {device.name} in the {device.room}")
            or _open(scene, device)
            or scene.act(f"put the {name} in or on the {device.name}", f"move {vessel.words} to {device.name}")
        )
    way = scene.be_in(device.room, f"the {name} is at the {device.name} in the {device.room}")
    if way is not None or not device.switched or running(scene, device.name):
        return way
    return scene.act(f"switch the {device.name} on", f"activate {device.name}")


def _open(scene: Scene, device: Device) -> Needs | None:
    seen = scene.at_hand(named(device.name))
    if device is _STOVE or (seen is not None and "open" in seen.thing.flags):
        return None
    return scene.act(f"the {device.name} is closed: open it first", f"open {device.name}")


def watch(vessel: Vessel, target: str, *, fast: bool = False, closely: bool = False) -> Needs:
    """Look, measure, wait, by turns; where things go fast, without waiting, and measuring little unless `closely`."""
    scene = vessel.scene
    read = measure(scene, target)
    if fast and not closely and scene.belief.steps % 5:
        read = ""
    turns = [command for command in (f"look at {vessel.words}", read, "" if fast else "wait") if command]
    place = (turns.index(scene.last) + 1) % len(turns) if scene.last in turns else 0
    return scene.act(f"watch the {target} until it changes", *turns[place:], *turns[:place], "wait1")


def measure(scene: Scene, target: str) -> str:
    """The command that reads the thermometer on a substance at hand; empty without one or the other."""
    found = scene.at_hand(is_matter(target))
    if found is None or scene.held("thermometer") is None:
        return ""
    where = found.holder or ("inventory" if found.carried else "")
    return f"use thermometer in inventory on {found.name}{f' in {where}' if where else ''}"
